from __future__ import annotations

import subprocess
import sys

import pytest

from engine.errors import UnknownName
from engine.worlds.registry import get_world, world_names


def test_every_named_world_comes_with_that_name():
    for name in world_names():
        assert get_world(name).name == name


def test_unknown_world_names_the_closest_one():
    with pytest.raises(UnknownName) as caught:
        get_world("crafterr")
    assert "'crafterr'" in caught.value.message
    assert "did you mean 'crafter'?" in caught.value.hint


def test_a_world_is_described_without_importing_the_game_or_torch():
    code = (
        "import sys; from engine.worlds.registry import get_world; w = get_world('crafter'); "
        "w.recipes(), w.tasks(), w.stub(), w.facts(); "
        "print([m for m in ('crafter', 'numba', 'torch', 'textual') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
