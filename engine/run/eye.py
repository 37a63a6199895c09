"""Frames for the eye: how big, how often, and only while somebody looks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FRAME_SECONDS = 0.12
FRAME_SIZE = 63


class Picture(Protocol):
    """An episode that can be drawn (`engine.rl.watched.Watched`)."""

    def frame(self, size: int = 64) -> NDArray[np.uint8]:
        """A picture, shape (size, size, 3)."""
        ...


class Eye:
    """Draws an episode when somebody looks and the last frame is old enough.

    Called after every env frame, so it asks for the time before anything else.
    """

    def __init__(
        self, watched: Callable[[], bool], draw: Callable[[NDArray[np.uint8], str], None]
    ) -> None:
        """Nothing is drawn yet.

        Args:
            watched: whether somebody looks.
            draw: takes a picture of `FRAME_SIZE` and its caption.
        """
        self._watched = watched
        self._draw = draw
        self._drawn = 0.0

    def show(self, env: Picture, caption: str) -> None:
        """Draw this frame if it is time."""
        now = time.monotonic()
        if now - self._drawn < FRAME_SECONDS:
            return
        self._drawn = now
        if self._watched():
            self._draw(env.frame(FRAME_SIZE), caption)
