"""What a person who looks on may see of an episode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import PlayerState, WorldBatch


class Watched(Protocol):
    """An episode that can be looked at: a `WorldEnv`, or a place of a batch."""

    @property
    def player(self) -> PlayerState:
        """What the player knows now."""
        ...

    @property
    def episode_frames(self) -> int:
        """Env frames since the episode began."""
        ...

    def frame(self, size: int = 64) -> NDArray[np.uint8]:
        """A picture for the eye, shape (size, size, 3)."""
        ...


OnFrame = Callable[[Watched, str], None]
"""Takes the episode and a caption after each of its frames."""


class BatchView:
    """One place of a batch."""

    def __init__(self, batch: WorldBatch, place: int) -> None:
        self._batch = batch
        self._place = place

    @property
    def player(self) -> PlayerState:
        """What the player knows now."""
        return self._batch.players[self._place]

    @property
    def episode_frames(self) -> int:
        """Env frames since the episode began."""
        return self._batch.frames(self._place)

    def frame(self, size: int = 64) -> NDArray[np.uint8]:
        """A picture for the eye, shape (size, size, 3)."""
        return self._batch.frame(self._place, size)
