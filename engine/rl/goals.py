"""Which predicates came true in an episode: the source of bonuses and of success figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]


class GoalTracker:
    """Follows named predicates through the episodes of a batch.

    A goal is reached when its predicate comes true after having been false in this episode, and
    at most once per episode: what holds from the start is nobody's merit.
    """

    def __init__(self, names: Sequence[str], size: int) -> None:
        """Nothing is reached yet.

        Args:
            names: of the goals, in the order of their columns in what `begin` and `see` are given.
            size: places of the batch.
        """
        self.names = tuple(names)
        self.reached: Flags = np.zeros((size, len(self.names)), np.bool_)
        """Shape (size, goals): reached in this episode."""
        self.armed: Flags = np.zeros((size, len(self.names)), np.bool_)
        """Shape (size, goals): was false at some time in this episode."""

    def begin(self, index: int, holds: Flags) -> None:
        """A new episode begins at one place; `holds` has shape (goals,)."""
        self.reached[index] = False
        self.armed[index] = ~holds

    def see(self, holds: Flags) -> Flags:
        """Goals whose predicate came true with this frame; in and out of shape (size, goals)."""
        now: Flags = holds & self.armed & ~self.reached
        self.reached |= now
        self.armed |= ~holds
        return now

    def names_reached(self, index: int) -> tuple[str, ...]:
        """Names reached in this episode, in the order the goals were given."""
        return tuple(n for n, yes in zip(self.names, self.reached[index], strict=True) if yes)
