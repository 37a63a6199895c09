"""Several official games side by side: what evaluation plays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import REST
from engine.worlds.crafter.data import EPISODE_LENGTH, crafter_data
from engine.worlds.crafter.game import Game
from engine.worlds.crafter.perception import perceive
from engine.worlds.crafter.percepts import Percepts
from engine.worlds.crafter.snapshot import game_from_bytes, game_to_bytes


class OfficialGames:
    """`size` games of the public package, stepped one after another (`batch.Engine`)."""

    def __init__(self, size: int, length: int | None = None) -> None:
        self.size = size
        self.length = length or EPISODE_LENGTH
        self.percepts = Percepts.empty(size)
        self._games = [Game(self.length) for _ in range(size)]
        self._frames = np.zeros(size, np.int64)

    @property
    def frames(self) -> NDArray[np.int64]:
        """Frames since each episode began; follows every step."""
        return self._frames

    def begin(self, index: int, seed: int) -> None:
        """Start the first episode of a seed at one place."""
        self._games[index].begin(seed, 1)
        self._look(index)

    def step(self, actions: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """One frame of every place but those that rest; rewards and who died in it.

        Raises:
            ValueError: there is no such action; nothing changed.
        """
        count = len(crafter_data().actions)
        for index, action in enumerate(actions.tolist()):
            if action != REST and not 0 <= action < count:
                raise ValueError(
                    f"the action of place {index} must be 0..{count - 1} or {REST} to rest, "
                    f"not {action!r}"
                )
        rewards = np.zeros(self.size, np.float64)
        dead = np.zeros(self.size, np.bool_)
        for index, action in enumerate(actions.tolist()):
            if action != REST:
                advance = self._games[index].advance(action)
                rewards[index], dead[index] = advance.reward, advance.dead
                self._look(index)
        return rewards, dead

    def snapshot(self, index: int) -> Mapping[str, NDArray[Any]]:
        """A copy of the whole state of one place, incl. its random stream."""
        return {"game": np.frombuffer(game_to_bytes(self._games[index]), np.uint8)}

    def restore(self, index: int, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a snapshot; what follows is step for step what followed before.

        Raises:
            EngineError: it is no state that `snapshot` gave; nothing changed.
        """
        self._games[index] = game_from_bytes(state["game"].tobytes())
        self._look(index)

    def game(self, index: int) -> Game:
        """The game at one place."""
        return self._games[index]

    def _look(self, index: int) -> None:
        perceive(self._games[index], self.percepts, index)
        self._frames[index] = self._games[index].frames
