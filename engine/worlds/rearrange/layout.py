"""A flat: where everything stands, and where the robot stands to use it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Layout:
    """Geometry of one flat, in metres and radians; x and y span the floor, z is height.

    A heading of 0 looks along +x, pi/2 along +y. Arrays are read-only.
    """

    macro: int
    """Which of the 5 arrangements; the splits tell them apart."""
    variant: int
    """Which of its 21 variants."""
    size: tuple[float, float]
    """Of the floor, which begins at (0, 0)."""
    positions: Floats
    """Of each entity (`names.ENTITIES`), shape (16, 3): centre of a receptacle's surface or of a
    handle. Distances and headings count from here."""
    stands: Floats
    """Where `nav` puts the robot for each entity: (x, y, heading), shape (16, 3)."""
    surfaces: Floats
    """Box in which an object is *on* or in each receptacle: least and greatest corner, shape
    (11, 2, 3)."""
    insides: Floats
    """Box in which an object is *inside* of what each handle opens, shape (5, 2, 3)."""
    solids: Floats
    """Boxes that are seen and block: shape (n, 2, 3); furniture, then inner walls."""
    solid_kinds: NDArray[np.int8]
    """What each solid is: index of a receptacle, or -1 for a wall."""
