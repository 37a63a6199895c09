"""Filling in prompt files: every placeholder gets a value, every value has a placeholder.

A person's own files take the place of those shipped here. Such a file may leave placeholders out,
but name none that its prompt does not have.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from engine.errors import ConfigError

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_FOLDER = "engine.agents.prompts"
_EXAMPLE = "example_"
"""Prompts of this beginning are programs to show, one for each world, without placeholders."""


class PromptBook:
    """The prompts of a run: those shipped, or a person's own files of the same names.

    Args:
        folder: of the person's own files, `NAME.md`; None for none.

    Raises:
        ConfigError: a file of the folder cannot be a prompt; says which placeholders it may have.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._own = {} if folder is None else _own_prompts(folder)

    def render(self, name: str, /, **values: str) -> str:
        """The prompt `name`.md with its `{{placeholders}}` replaced; values are put in as they are.

        Raises:
            FileNotFoundError: there is no such prompt.
            ValueError: a placeholder has no value, or a value no placeholder in the shipped file.
        """
        own = self._own.get(name)
        shipped = own if own is not None and name.startswith(_EXAMPLE) else _shipped(name)
        places = _places(shipped)
        if missing := places - values.keys():
            raise ValueError(f"the prompt {name!r} lacks values for {sorted(missing)!r}")
        if extra := values.keys() - places:
            raise ValueError(f"the prompt {name!r} has no place for {sorted(extra)!r}")
        text = shipped if own is None else own
        return _PLACE.sub(lambda place: values[place[1]], text).strip()

    def has(self, name: str) -> bool:
        """Whether there is a prompt of that name; worlds may bring an example of their own."""
        return name in self._own or _is_shipped(name)


SHIPPED = PromptBook()
"""The prompts as they come with the studio."""


def render(name: str, /, **values: str) -> str:
    """The shipped prompt `name`.md; see `PromptBook.render`."""
    return SHIPPED.render(name, **values)


def _own_prompts(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.glob("*.md")):
        name = path.stem
        if name == "README":
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"the prompt {str(path)!r} cannot be read: {error}", "Write it as UTF-8 text."
            ) from error
        if not (_is_shipped(name) or name.startswith(_EXAMPLE)):
            raise ConfigError(
                f"{str(path)!r} takes the place of no prompt",
                f"Prompts are {', '.join(_names())}. Rename the file or move it elsewhere.",
            )
        known = _places(_shipped(name)) if _is_shipped(name) else set()
        if unknown := _places(text) - known:
            listed = ", ".join(f"{{{{{place}}}}}" for place in sorted(known)) or "none"
            raise ConfigError(
                f"the prompt {name!r} may have these placeholders: {listed}; "
                f"{str(path)!r} has {', '.join(f'{{{{{place}}}}}' for place in sorted(unknown))}",
                "Mend the placeholder, or move the file away to use the shipped prompt.",
            )
        found[name] = text
    return found


def _places(text: str) -> set[str]:
    return set(_PLACE.findall(text))


def _shipped(name: str) -> str:
    return resources.files(_FOLDER).joinpath(f"{name}.md").read_text(encoding="utf-8")


def _is_shipped(name: str) -> bool:
    return resources.files(_FOLDER).joinpath(f"{name}.md").is_file()


def _names() -> list[str]:
    files = (path.name for path in resources.files(_FOLDER).iterdir())
    return sorted(name.removesuffix(".md") for name in files if name.endswith(".md"))
