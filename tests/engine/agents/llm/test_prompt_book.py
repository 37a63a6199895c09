"""A person's own prompt files: taken where they fit, refused with what they may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.agents.prompts.render import SHIPPED, PromptBook
from engine.errors import ConfigError


def test_an_own_file_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "system.md").write_text("Be the {{role}}.\n")
    (tmp_path / "README.md").write_text("Notes with {{anything}}.\n")
    book = PromptBook(tmp_path)
    assert book.render("system", role="critic", world="Crafter") == "Be the critic."
    assert book.render("fast_first") == SHIPPED.render("fast_first")
    assert SHIPPED.render("system", role="critic", world="Crafter") != "Be the critic."


def test_an_own_file_does_not_hide_a_value_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "system.md").write_text("Be brief.\n")
    with pytest.raises(ValueError, match=r"lacks values for \['world'\]"):
        PromptBook(tmp_path).render("system", role="critic")


def test_a_world_may_get_an_example_of_a_persons_own(tmp_path: Path) -> None:
    (tmp_path / "example_moon.md").write_text("Hop.\n")
    book = PromptBook(tmp_path)
    assert book.has("example_moon")
    assert book.render("example_moon") == "Hop."
    assert not SHIPPED.has("example_moon")


def test_a_placeholder_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    (tmp_path / "system.md").write_text("Be the {{rolle}} of {{world}}.\n")
    with pytest.raises(ConfigError) as caught:
        PromptBook(tmp_path)
    said = caught.value.message
    assert said.startswith("the prompt 'system' may have these placeholders: {{role}}, {{world}};")
    assert said.endswith("system.md' has {{rolle}}")


def test_a_file_that_is_no_prompt_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sistem.md").write_text("Hello.\n")
    with pytest.raises(ConfigError, match=r"sistem\.md' takes the place of no prompt"):
        PromptBook(tmp_path)
    (tmp_path / "sistem.md").rename(tmp_path / "system.md")
    (tmp_path / "system.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read"):
        PromptBook(tmp_path)
