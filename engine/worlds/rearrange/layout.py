"""A flat: where everything stands, and where the robot stands to use it."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange.furnishing import furnish
from engine.worlds.rearrange.geometry import CLEARANCE, Floats, at, clear
from engine.worlds.rearrange.names import RECEPTACLES
from engine.worlds.rearrange.plans import PLANS, VARIANTS

_Scalar = TypeVar("_Scalar", bound=np.generic)

OPEN_AIR: Final = tuple(n for n, receptacle in enumerate(RECEPTACLES) if receptacle.open_air)
"""Receptacles that objects start on and that are goals."""
PLACED_WITHIN: Final = 0.8
"""Objects are placed in the middle of a surface, shrunk to this share."""
REST_HEIGHT: Final = 0.05
"""Of the centre of an object above what it lies on, in metres."""


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
    """Where `nav` puts the robot for each entity: (x, y, heading), shape (16, 3); the heading is
    one of 0, pi/2, pi, -pi/2 and looks at the entity."""
    surfaces: Floats
    """Box in which an object is *on* or in each receptacle: least and greatest corner, shape
    (11, 2, 3)."""
    insides: Floats
    """Box in which an object is *inside* of what each handle opens, shape (5, 2, 3). Boxes stay
    where they are when a drawer comes out; only the picture of it moves."""
    solids: Floats
    """Boxes that are seen and block: shape (n, 2, 3); furniture, then inner walls."""
    solid_kinds: NDArray[np.int8]
    """What each solid is: index of a receptacle, or `WALL` or `CUPBOARD` of `geometry`."""


@functools.cache
def generate(macro: int, variant: int) -> Layout:
    """The flat of this number: always the same one, the same object for the same numbers.

    Raises:
        ValueError: There is no such arrangement or variant.
    """
    if not 0 <= macro < len(PLANS) or not 0 <= variant < VARIANTS:
        raise ValueError(
            f"There is no flat {macro!r}.{variant!r}: take an arrangement from 0 to"
            f" {len(PLANS) - 1} and a variant from 0 to {VARIANTS - 1}."
        )
    flat = furnish(macro, variant)
    return Layout(
        macro=macro,
        variant=variant,
        size=flat.size,
        positions=_fixed(flat.positions),
        stands=_fixed(flat.stands),
        surfaces=_fixed(flat.surfaces),
        insides=_fixed(flat.insides),
        solids=_fixed(flat.solids),
        solid_kinds=_fixed(np.array(flat.kinds, np.int8)),
    )


def start_pose(layout: Layout, rng: np.random.Generator) -> tuple[float, float, float]:
    """Somewhere the robot can stand, uniformly, looking anywhere: x, y and heading."""
    width, depth = layout.size
    while True:
        x = rng.uniform(CLEARANCE, width - CLEARANCE)
        y = rng.uniform(CLEARANCE, depth - CLEARANCE)
        if clear(layout.solids, x, y, CLEARANCE):
            return float(x), float(y), float(rng.uniform(-math.pi, math.pi))


def spots(layout: Layout, receptacle: int, count: int, rng: np.random.Generator) -> Floats:
    """Centres for objects that lie on a receptacle side by side: shape (count, 3).

    They lie in the middle of the surface (`PLACED_WITHIN`), one to a cell of a grid with as few
    cells as suffice; any number fits, the more the closer.
    """
    low, high = placing_box(layout, receptacle)
    span = high[:2] - low[:2]
    long, short = (0, 1) if span[0] >= span[1] else (1, 0)
    columns = max(1, math.ceil(math.sqrt(count * span[long] / span[short])))
    rows = max(1, math.ceil(count / columns))
    cells = rng.permutation(columns * rows)[:count]
    share = np.empty((count, 2))
    share[:, long] = (cells % columns + 0.5 + rng.uniform(-0.2, 0.2, count)) / columns
    share[:, short] = (cells // columns + 0.5 + rng.uniform(-0.2, 0.2, count)) / rows
    return _at_rest(low, low[:2] + share * span)


def drop(layout: Layout, receptacle: int, rng: np.random.Generator) -> Floats:
    """Centre of an object that `place` puts on a receptacle: uniformly, shape (3,)."""
    low, high = placing_box(layout, receptacle)
    point: Floats = _at_rest(low, rng.uniform(low[:2], high[:2])[None])[0]
    return point


def placing_box(layout: Layout, receptacle: int) -> Floats:
    """The part of a surface in which objects are put: least and greatest corner, shape (2, 3)."""
    low, high = layout.surfaces[receptacle]
    margin = (1 - PLACED_WITHIN) / 2 * (high - low)
    margin[2] = 0
    box: Floats = np.stack([low + margin, high - margin])
    return box


def robot_at(layout: Layout, pose: tuple[float, float, float]) -> NDArray[np.bool_]:
    """At which entities a robot is, shape (16,): near enough and ahead (report 2.6)."""
    return at(layout.positions, *pose)


def _at_rest(low: Floats, points: NDArray[np.floating]) -> Floats:
    centres = np.empty((len(points), 3), np.float32)
    centres[:, :2] = points
    centres[:, 2] = low[2] + REST_HEIGHT
    return centres


def _fixed(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    array.flags.writeable = False
    return array
