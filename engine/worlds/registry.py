"""The worlds by name; nothing of a world is imported before it is asked for."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from engine.errors import UnknownName
from engine.worlds.base import World


def _crafter() -> World:
    from engine.worlds.crafter.world import CrafterWorld

    return CrafterWorld()


def _rearrange() -> World:
    from engine.worlds.rearrange.world import RearrangeWorld

    return RearrangeWorld()


_WORLDS: dict[str, Callable[[], World]] = {"crafter": _crafter, "rearrange": _rearrange}


def get_world(name: str) -> World:
    """The world of that name.

    Raises:
        UnknownName: there is none; the hint names the closest one.
    """
    factory = _WORLDS.get(name)
    if factory is None:
        close = difflib.get_close_matches(name.lower(), _WORLDS, n=1, cutoff=0.5)
        guess = f"did you mean {close[0]!r}? " if close else ""
        known = ", ".join(repr(world) for world in _WORLDS)
        raise UnknownName(f"There is no world {name!r}", f"{guess}Worlds are {known}.")
    return factory()


def world_names() -> tuple[str, ...]:
    """Names of all worlds, the default first."""
    return tuple(_WORLDS)
