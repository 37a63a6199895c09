"""From a task in a person's words to one the world can check."""

from __future__ import annotations

import difflib
import re
from typing import Final

from engine.errors import UnknownName
from engine.worlds.base import TaskSpec, World

_FILLERS: Final = frozenset({"a", "an", "the", "some", "one", "please", "me", "my", "and"})
_SAME: Final = {
    "get": "collect", "mine": "collect", "gather": "collect", "obtain": "collect",
    "find": "collect", "fetch": "collect", "dig": "collect", "craft": "make", "build": "make",
    "create": "make", "kill": "defeat", "put": "place", "wooden": "wood",
}  # fmt: skip
_ALIKE: Final = 0.8


def find_task(world: World, words: str) -> TaskSpec:
    """The task of a world that the words name.

    Names and words match whatever their case, articles and usual verbs are, and a slip of the pen
    is forgiven where only one task comes close.

    Raises:
        UnknownName: no task, or more than one, comes close; the hint lists what can be checked.
    """
    asked = _tokens(words)
    tasks = world.tasks()
    matches = [task for task in tasks if asked in _ways_to_say(task)]
    if not matches:
        matches = [
            task for task in tasks if any(_alike(asked, said) for said in _ways_to_say(task))
        ]
    if len(matches) == 1:
        return matches[0]
    near = difflib.get_close_matches(
        " ".join(asked), [" ".join(_tokens(task.words)) for task in tasks], n=1, cutoff=0.3
    )
    nearest = [task.words for task in tasks if near and " ".join(_tokens(task.words)) == near[0]]
    guess = f"Did you mean {nearest[0]!r}? " if nearest else ""
    known = "; ".join(task.words for task in tasks)
    raise UnknownName(
        f"The world {world.name!r} has no task {words!r} that it can check",
        f"{guess}It can check: {known}.",
    )


def _tokens(words: str) -> tuple[str, ...]:
    found = re.findall(r"[a-z0-9]+", words.lower())
    return tuple(_SAME.get(token, token) for token in found if token not in _FILLERS)


def _ways_to_say(task: TaskSpec) -> tuple[tuple[str, ...], ...]:
    return _tokens(task.words), _tokens(task.name)


def _alike(asked: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Whether every word has its counterpart, spelled almost the same, in order."""
    return len(asked) == len(said) and all(
        difflib.SequenceMatcher(None, one, other).ratio() >= _ALIKE
        for one, other in zip(asked, said, strict=True)
    )
