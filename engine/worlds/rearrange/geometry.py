"""Distances and angles in a flat."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Box = tuple[float, float, float, float, float, float]
"""In a frame: right from, to; forward from, to; height from, to."""

AT_DISTANCE: Final = 2.0
AT_ANGLE: Final = 1.57
"""`robot_at`: base within this distance (m, in the plane) and this angle of the heading (rad)."""
CLEARANCE: Final = 0.3
"""Of the robot's base to anything solid, in metres."""
WALL: Final = -1
CUPBOARD: Final = -2
"""Kinds of solids that are no receptacles."""
HEADINGS: Final = (0.0, math.pi / 2, math.pi, -math.pi / 2)


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a piece of furniture stands, as seen by who uses it.

    The origin is the middle of its back on the floor; u runs to the user's right along the back,
    v from the back towards the user.
    """

    x: float
    y: float
    facing: int
    """Index into `HEADINGS`: how the user looks at it."""

    def point(self, u: float, v: float) -> tuple[float, float]:
        """In the flat."""
        cos, sin = (1, 0, -1, 0)[self.facing], (0, 1, 0, -1)[self.facing]
        return self.x + sin * u - cos * v, self.y - cos * u - sin * v

    def box(self, box: Box) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Least and greatest corner in the flat."""
        u0, u1, v0, v1, z0, z1 = box
        (xa, ya), (xb, yb) = self.point(u0, v0), self.point(u1, v1)
        return (min(xa, xb), min(ya, yb), z0), (max(xa, xb), max(ya, yb), z1)

    def moved(self, u: float, v: float = 0.0) -> Frame:
        """The same frame, shifted along its own axes."""
        return Frame(*self.point(u, v), self.facing)


def at(positions: Floats, x: float, y: float, heading: float) -> NDArray[np.bool_]:
    """Which positions (n, 3) are near enough to a pose and ahead of it: shape (n,)."""
    dx, dy = positions[:, 0] - x, positions[:, 1] - y
    turn = np.arctan2(dy, dx) - heading
    turn = np.abs((turn + math.pi) % (2 * math.pi) - math.pi)
    return np.asarray((np.hypot(dx, dy) <= AT_DISTANCE) & (turn <= AT_ANGLE))


def clear(solids: Floats, x: float, y: float, distance: float) -> bool:
    """Whether no box's outline on the floor is nearer to the point than that."""
    dx = np.maximum(np.maximum(solids[:, 0, 0] - x, x - solids[:, 1, 0]), 0)
    dy = np.maximum(np.maximum(solids[:, 0, 1] - y, y - solids[:, 1, 1]), 0)
    return bool((dx * dx + dy * dy >= distance * distance).all())
