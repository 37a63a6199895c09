"""The five arrangements of flats and what their 21 variants vary.

What is near what follows the shares counted over the original's evaluation sets (report 2.6), with
the same number of variants of each kind in every arrangement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

VARIANTS: Final = 21

Special = Literal[
    "compact", "wide_left", "wide_right", "wider_right", "far_fridge",
    "chair_at_sofa", "chair_at_tv", "tv_at_kitchen", "tv_at_black_table",
]  # fmt: skip
EAST, NORTH, WEST, SOUTH = range(4)
"""Walls by the heading that looks at them (`geometry.HEADINGS`)."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a piece may stand: the ranges of its back's middle, and how its user looks at it."""

    x: tuple[float, float]
    y: tuple[float, float]
    facing: int


@dataclass(frozen=True, slots=True)
class Plan:
    """One arrangement: the floor, which wall the kitchen is at, and sites of what stands alone."""

    size: tuple[float, float]
    kitchen: int
    kitchen_from: tuple[float, float]
    """Where on its wall the kitchen's left end is, from the left end of the wall."""
    sites: dict[str, Site]
    """Of `black_table`, `brown_table`, `tv_stand`, `sofa` and `chair`."""
    walls: tuple[tuple[float, float, float, float], ...]
    """Inner walls: x from, to; y from, to."""


PLANS: Final = (
    Plan(
        size=(10.0, 8.0),
        kitchen=SOUTH,
        kitchen_from=(3.2, 3.8),
        sites={
            "black_table": Site((5.2, 6.2), (4.3, 4.8), NORTH),
            "brown_table": Site((8.4, 8.9), (4.6, 5.0), EAST),
            "tv_stand": Site((2.6, 3.6), (8.0, 8.0), NORTH),
            "sofa": Site((0.6, 0.9), (3.2, 4.6), WEST),
            "chair": Site((8.8, 9.6), (7.4, 7.7), NORTH),
        },
        walls=((9.0, 10.0, 3.1, 3.2), (4.7, 4.8, 7.0, 8.0)),
    ),
    Plan(
        size=(8.6, 10.0),
        kitchen=WEST,
        kitchen_from=(1.6, 2.4),
        sites={
            "black_table": Site((6.8, 7.4), (1.0, 1.6), EAST),
            "brown_table": Site((4.3, 4.8), (4.6, 5.4), EAST),
            "tv_stand": Site((5.2, 6.6), (10.0, 10.0), NORTH),
            "sofa": Site((2.6, 3.4), (8.4, 8.7), NORTH),
            "chair": Site((8.0, 8.3), (4.4, 5.2), EAST),
        },
        walls=((7.6, 8.6, 3.0, 3.1), (0.0, 0.9, 7.7, 7.8)),
    ),
    Plan(
        size=(10.4, 8.2),
        kitchen=NORTH,
        kitchen_from=(2.6, 3.4),
        sites={
            "black_table": Site((0.9, 1.3), (2.2, 3.0), WEST),
            "brown_table": Site((4.6, 5.4), (0.9, 1.3), SOUTH),
            "tv_stand": Site((10.4, 10.4), (1.6, 2.2), EAST),
            "sofa": Site((4.2, 5.4), (4.0, 4.4), SOUTH),
            "chair": Site((0.3, 0.5), (5.6, 6.4), WEST),
        },
        walls=((2.6, 2.7, 0.0, 1.0), (7.8, 7.9, 0.0, 0.9)),
    ),
    Plan(
        size=(9.0, 9.4),
        kitchen=EAST,
        kitchen_from=(2.4, 3.2),
        sites={
            "black_table": Site((1.6, 2.6), (8.3, 8.7), NORTH),
            "brown_table": Site((1.0, 1.4), (4.4, 5.2), WEST),
            "tv_stand": Site((2.0, 3.0), (0.0, 0.0), SOUTH),
            "sofa": Site((4.2, 4.8), (5.6, 6.4), WEST),
            "chair": Site((6.0, 6.6), (9.0, 9.2), NORTH),
        },
        walls=((4.6, 4.7, 8.4, 9.4), (0.0, 1.0, 2.3, 2.4)),
    ),
    Plan(
        size=(11.0, 7.8),
        kitchen=SOUTH,
        kitchen_from=(3.8, 4.4),
        sites={
            "black_table": Site((9.8, 10.2), (3.6, 4.4), EAST),
            "brown_table": Site((2.6, 3.2), (6.7, 7.0), NORTH),
            "tv_stand": Site((0.0, 0.0), (3.4, 4.2), WEST),
            "sofa": Site((6.2, 7.2), (6.8, 7.2), NORTH),
            "chair": Site((10.2, 10.6), (7.2, 7.5), NORTH),
        },
        walls=((8.9, 9.0, 0.0, 1.2), (4.8, 4.9, 6.7, 7.8)),
    ),
)


def specials(macro: int, variant: int) -> frozenset[Special]:
    """What is out of the ordinary in a variant; which it is differs between arrangements."""
    rng = np.random.default_rng((macro, 5157))
    width, far, sofa, tv = (int(rng.permutation(VARIANTS)[variant]) for _ in range(4))
    found: set[Special] = set()
    if width < 4 + macro % 2:
        found.add("compact")
    elif 5 <= width < 8:
        found.add(("wide_left", "wide_right", "wider_right")[width - 5])
    if far < 4:
        found.add("far_fridge")
    if sofa < 5:
        found.add("chair_at_sofa")
    elif sofa < 11:
        found.add("chair_at_tv")
    if tv < 3:
        found.add("tv_at_kitchen")
    elif tv < 5:
        found.add("tv_at_black_table")
    return frozenset(found)
