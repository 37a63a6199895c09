"""What players see, as arrays: the border between a game and the memory of its player."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter import codes
from engine.worlds.crafter.data import crafter_data


@dataclass(frozen=True, slots=True)
class Percepts:
    """The views of `size` players, written in place by the game after each frame.

    Cells are indexed [player, x, y] with the player in the middle of 9 x 7. Nothing here is hidden
    from a player.
    """

    materials: NDArray[np.uint8]
    """Material codes, shape (size, 9, 7); 0 outside the map."""
    creatures: NDArray[np.uint8]
    """Creature codes, shape (size, 9, 7); 0 for none."""
    arrows: NDArray[np.uint8]
    """Where an arrow flies, shape (size, 9, 7): 1 + index into `codes.DIRECTIONS`, 0 for none."""
    inventory: NDArray[np.uint8]
    """Counts in the order of `codes.ITEMS`, shape (size, 16)."""
    facing: NDArray[np.uint8]
    """Index into `codes.DIRECTIONS`, shape (size,)."""
    sleeping: NDArray[np.bool_]
    daylight: NDArray[np.float64]
    unlocked: NDArray[np.bool_]
    """Achievements in the order of `crafter_data().achievements`, shape (size, 22)."""

    @classmethod
    def empty(cls, size: int) -> Percepts:
        """Nothing seen yet."""
        view = (size, codes.VIEW_WIDTH, codes.VIEW_HEIGHT)
        return cls(
            materials=np.zeros(view, np.uint8),
            creatures=np.zeros(view, np.uint8),
            arrows=np.zeros(view, np.uint8),
            inventory=np.zeros((size, len(codes.ITEMS)), np.uint8),
            facing=np.zeros(size, np.uint8),
            sleeping=np.zeros(size, np.bool_),
            daylight=np.zeros(size, np.float64),
            unlocked=np.zeros((size, len(crafter_data().achievements)), np.bool_),
        )
