"""What a failure looked like: the last frame of the first failed trial, kept in memory alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.agents.plan import Trial
from engine.rl.watched import Watched

PICTURE_SIZE = 288
"""Pixels each way: 32 for each of the 9 cells that crafter shows, so that digits can be read."""


@dataclass(frozen=True, slots=True, eq=False)
class LastFrame:
    """The last frame of a failed trial."""

    seed: int
    pixels: NDArray[np.uint8] = field(repr=False)
    """Shape (`PICTURE_SIZE`, `PICTURE_SIZE`, 3)."""


class FirstFailure:
    """Keeps the last frame of the first failed trial; the other trials are not even drawn."""

    def __init__(self) -> None:
        self.last_frame: LastFrame | None = None

    def look(self, episode: Watched, trial: Trial) -> None:
        """Take a finished trial in, its episode being as the trial left it."""
        if self.last_frame is None and trial.started and trial.outcome != "success":
            self.last_frame = LastFrame(trial.seed, episode.frame(PICTURE_SIZE))
