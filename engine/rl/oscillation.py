"""Notices a coded action that goes round in circles: a livelock or an endless wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from engine.worlds.base import PlayerState, World

WINDOW = 48
"""Frames that changed something, without getting anywhere, before a livelock is called."""
FEW_PLACES = 4
"""Distinct places within the window that still count as going round in circles."""
IDLE_FRAMES = 240
"""Frames in which nothing at all changed before a wait is called endless."""
STRIDE = 8
"""The terms are compared every so many frames; positions at each."""


class OscillationDetector:
    """Watches one execution of a coded action through what the player knows.

    Progress is a new place, or a term that reaches a value higher than any before in this
    execution: mining and placing the same stone for ever is no progress. Terms that change at
    every look are clocks and do not count. Works in every world; where the stub has a `position`
    query the place is its answer, elsewhere it is the terms themselves.
    """

    def __init__(self, world: World, player: PlayerState) -> None:
        self._has_position = "position" in world.queries
        self._frames = 0
        self._moved = 0
        self._idle = 0
        self._places: deque[object] = deque(maxlen=WINDOW)
        self._last = dict(player.terms())
        self._best = dict(self._last)
        self._clocks = set(self._last)

    def see(self, player: PlayerState, changed: bool) -> str | None:
        """Take note of one frame; the reason when it is time to give up, else None."""
        self._frames += 1
        if changed:
            self._moved += 1
            self._places.append(self._place(player))
        else:
            self._idle += 1
        if self._frames % STRIDE == 0 and self._progressed(player.terms()):
            self._moved = self._idle = 0
            self._places.clear()
        if self._moved >= WINDOW:
            places = len(set(self._places))
            if places <= FEW_PLACES:
                return f"{WINDOW} frames between the same {places} place(s) without any gain"
            self._idle = 0
        if self._idle >= IDLE_FRAMES:
            return f"{IDLE_FRAMES} frames in which nothing changed"
        return None

    def _place(self, player: PlayerState) -> object:
        if self._has_position:
            place = player.answer("position", (), {})
            return tuple(place) if isinstance(place, list) else place
        return tuple(value for name, value in player.terms().items() if name not in self._clocks)

    def _progressed(self, terms: Mapping[str, float]) -> bool:
        self._clocks = {name for name in self._clocks if terms[name] != self._last[name]}
        self._last = dict(terms)
        gained = [
            name
            for name, value in terms.items()
            if value > self._best[name] and name not in self._clocks
        ]
        for name in gained:
            self._best[name] = terms[name]
        return bool(gained)
