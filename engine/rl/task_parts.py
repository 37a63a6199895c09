"""The parts of a task that asks for several things, and how rare each of them still is.

Where all but one of 22 parts come with almost every episode, a reward of one for each says little
about the last. What is rare pays more: a benchmark that takes the geometric mean of success rates
counts it so as well.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import Vocabulary
from engine.worlds.predicate import AllOf, Predicate, parse

RECENT: Final = 200
"""Episodes the rates look back on, about."""


def task_parts(task: Predicate, words: Vocabulary) -> list[Predicate]:
    """What `task` joins by `and`; nothing when it is one thing."""
    root = task.root
    return [parse(str(part), words) for part in root.parts] if isinstance(root, AllOf) else []


class PartRates:
    """Share of the recent episodes that reached each part, by a running mean."""

    def __init__(self, parts: int) -> None:
        self.rates: NDArray[np.float64] = np.zeros(parts)
        self.episodes = 0

    @property
    def rarity(self) -> NDArray[np.float64]:
        """Share of the recent episodes that went without each part, 0..1; 1 before any."""
        return 1.0 - self.rates

    def see(self, reached: NDArray[np.bool_]) -> None:
        """An episode is over; `reached` has shape (parts,)."""
        self.episodes = min(self.episodes + 1, RECENT)
        self.rates += (reached - self.rates) / self.episodes
