"""Filling in prompt files: every placeholder gets a value, every value has a placeholder."""

from __future__ import annotations

import re
from importlib import resources

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_FOLDER = "engine.agents.prompts"


def render(name: str, /, **values: str) -> str:
    """The prompt `name`.md with its `{{placeholders}}` replaced; values are put in as they are.

    Raises:
        FileNotFoundError: there is no such prompt.
        ValueError: a placeholder has no value, or a value no placeholder.
    """
    text = resources.files(_FOLDER).joinpath(f"{name}.md").read_text(encoding="utf-8")
    places = set(_PLACE.findall(text))
    if missing := places - values.keys():
        raise ValueError(f"the prompt {name!r} lacks values for {sorted(missing)!r}")
    if extra := values.keys() - places:
        raise ValueError(f"the prompt {name!r} has no place for {sorted(extra)!r}")
    return _PLACE.sub(lambda place: values[place[1]], text).strip()


def has_prompt(name: str) -> bool:
    """Whether there is a prompt of that name; worlds may bring an example of their own."""
    return resources.files(_FOLDER).joinpath(f"{name}.md").is_file()
