"""The batch: many episodes side by side, advanced together by one compiled call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import REST
from engine.worlds.crafter.data import EPISODE_LENGTH, crafter_data
from engine.worlds.crafter.game import Game
from engine.worlds.crafter.percepts import Percepts
from engine.worlds.crafter.twin.exchange import from_game, to_game
from engine.worlds.crafter.twin.frame import advance_all, daylight
from engine.worlds.crafter.twin.landscape import begin_place
from engine.worlds.crafter.twin.state import State, empty_places, load_place, save_place
from engine.worlds.crafter.twin.tables import rules
from engine.worlds.crafter.twin.view import perceive_all


class Twin:
    """`size` episodes of Crafter without pictures; no place has any influence on another.

    The same seed and actions give the episode that `Game.begin(seed, 1)` and `Game.advance` give,
    frame for frame: tests compare them. A place that has not begun rests.
    """

    def __init__(self, size: int, length: int | None = None) -> None:
        if size < 1:
            raise ValueError(f"size must be at least 1 place, not {size!r}")
        if length is not None and length < 1:
            raise ValueError(f"length must be at least 1 frame, not {length!r}")
        self.size = size
        self.length = length or EPISODE_LENGTH
        self.percepts = Percepts.empty(size)
        self._rules = rules()
        self._daylight = daylight(self.length)
        self._places = empty_places(size)
        # The same memory; its elements have attributes, which Python needs and numba does not.
        self._records: Any = self._places.view(np.recarray)

    @property
    def frames(self) -> NDArray[np.int64]:
        """Frames since each episode began, shape (size,); follows every step, never write to it."""
        return self._places["frame"]

    def begin(self, index: int, seed: int) -> None:
        """Start the first episode of a seed at one place."""
        light = float(self._daylight[0])
        begin_place(self._records[self._checked(index)], self._rules, seed, light)
        self._perceive(index, index + 1)

    def step(self, actions: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """One frame of every place; returns rewards and who is dead, each of shape (size,).

        A place whose action is `REST` has no frame: nothing there changes, and it is not reported
        dead. Beginning anew what died, or what had `length` frames, is the caller's part.

        Raises:
            ValueError: there is no such action, or a place has had all its frames; nothing changed.
        """
        actions = np.ascontiguousarray(actions, np.int64)
        if actions.shape != (self.size,):
            raise ValueError(f"actions must have the shape {(self.size,)!r}, not {actions.shape!r}")
        rewards = np.zeros(self.size, np.float64)
        dead = np.zeros(self.size, np.bool_)
        refused = advance_all(self._places, self._rules, self._daylight, actions, rewards, dead)
        if refused >= 0:
            self._refuse(refused, int(actions[refused]))
        self._perceive(0, self.size)
        return rewards, dead

    def snapshot(self, index: int) -> State:
        """A copy of the whole state of one place, incl. its random stream."""
        return save_place(self._records[self._checked(index)])

    def restore(self, index: int, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a snapshot; what follows is step for step what followed before.

        Raises:
            ValueError: it is no state that `snapshot` gave; nothing changed.
        """
        load_place(self._records[self._checked(index)], state)
        self._perceive(index, index + 1)

    def game(self, index: int) -> Game:
        """A new official game at the same moment, for pictures and for tests side by side."""
        return to_game(self._records[self._checked(index)], self.length)

    def load(self, index: int, game: Game) -> None:
        """Go on where an official game stands; the game itself is left alone."""
        from_game(game, self._records[self._checked(index)])
        self._perceive(index, index + 1)

    def _perceive(self, first: int, end: int) -> None:
        seen = self.percepts
        perceive_all(
            self._places,
            first,
            end,
            seen.materials,
            seen.creatures,
            seen.arrows,
            seen.inventory,
            seen.facing,
            seen.sleeping,
            seen.daylight,
            seen.unlocked,
        )

    def _checked(self, index: int) -> int:
        if not 0 <= index < self.size:
            raise ValueError(f"index must be 0..{self.size - 1}, not {index!r}")
        return index

    def _refuse(self, index: int, action: int) -> None:
        count = len(crafter_data().actions)
        if not 0 <= action < count:
            raise ValueError(
                f"the action of place {index} must be 0..{count - 1} or {REST} to rest, "
                f"not {action!r}"
            )
        raise ValueError(
            f"place {index} has had all its {self.length!r} frames; `begin` it anew or let it rest"
        )
