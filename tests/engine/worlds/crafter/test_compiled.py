from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from engine.worlds.crafter import codes, compiled, moves, shelter

CALLEE = """
from engine.worlds.crafter.compiled import compiled

@compiled
def add(number: int) -> int:
    return number + {amount}
"""
CALLER = """
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.callee import add

@compiled
def add_twice(number: int) -> int:
    return add(add(number))
"""


def test_a_module_is_made_of_all_it_imports_from_this_world():
    files = compiled.sources(Path(shelter.__file__))
    names = {file.stem for file in files}
    assert {"shelter", "moves", "navigation", "rooms", "rows", "codes", "compiled"} <= names
    assert not names & {"batch", "env", "twin"}
    assert Path(moves.__file__) in files
    assert compiled.sources(Path(codes.__file__)) == {Path(codes.__file__)}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A world of two modules, laid out as this one is."""
    folder = tmp_path / "engine" / "worlds" / "crafter"
    folder.mkdir(parents=True)
    (folder / "caller.py").write_text(CALLER)
    monkeypatch.setattr(compiled, "_ROOT", tmp_path)
    return folder


def load(folder: Path, name: str, patch: pytest.MonkeyPatch) -> ModuleType:
    """A module as a new process would find it."""
    compiled._text.cache_clear()
    compiled._imports.cache_clear()
    full = f"engine.worlds.crafter.{name}"
    spec = importlib.util.spec_from_file_location(full, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    patch.setitem(sys.modules, full, module)
    spec.loader.exec_module(module)
    return module


def test_machine_code_is_made_anew_when_what_it_calls_has_changed(
    world: Path, monkeypatch: pytest.MonkeyPatch
):
    for amount, kept in ((1, 0), (1, 1), (20, 0)):
        (world / "callee.py").write_text(CALLEE.format(amount=amount))
        load(world, "callee", monkeypatch)
        add_twice = load(world, "caller", monkeypatch).add_twice
        assert add_twice(0) == 2 * amount
        assert sum(add_twice.stats.cache_hits.values()) == kept
