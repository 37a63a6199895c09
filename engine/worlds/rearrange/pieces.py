"""The shape of each piece of furniture, in its own frame (`geometry.Frame`), in metres.

Surface heights make objects' centres lie as high as they do in the original on average (report
2.6); the rest is this project's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from engine.worlds.rearrange.geometry import Box

OBJECT_ROOM: Final = 0.35
"""Height of the box above a surface in which an object is on it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What is seen of a piece, where objects lie on it, and where its user stands."""

    solids: tuple[Box, ...]
    surface: Box
    stand: float
    """Distance of the user's base from the back of the piece."""
    width: float
    depth: float


def table(width: float, depth: float, height: float) -> Piece:
    """A top on four legs."""
    half, leg = width / 2, 0.09
    legs = tuple(
        (u, u + leg, v, v + leg, 0.0, height - 0.06)
        for u in (-half + 0.03, half - 0.03 - leg)
        for v in (0.03, depth - 0.03 - leg)
    )
    top = (-half, half, 0.0, depth, height - 0.06, height)
    surface = _surface(half - 0.08, 0.1, depth - 0.1, height)
    return Piece((top, *legs), surface, depth + 0.5, width, depth)


def tv_stand() -> Piece:
    """A low board with a screen at the back."""
    board = (-0.7, 0.7, 0.0, 0.52, 0.0, 0.61)
    screen = (-0.55, 0.55, 0.05, 0.1, 0.7, 1.36)
    foot = (-0.08, 0.08, 0.05, 0.1, 0.61, 0.7)
    return Piece((board, screen, foot), _surface(0.62, 0.14, 0.5, 0.61), 1.02, 1.4, 0.52)


def sofa() -> Piece:
    """A seat with a back and two arms."""
    seat = (-0.78, 0.78, 0.0, 0.9, 0.0, 0.38)
    back = (-0.95, 0.95, 0.0, 0.25, 0.0, 0.86)
    arms = tuple((u, u + 0.17, 0.25, 0.9, 0.0, 0.56) for u in (-0.95, 0.78))
    return Piece((seat, back, *arms), _surface(0.75, 0.28, 0.88, 0.38), 1.6, 1.9, 0.9)


def chair() -> Piece:
    """A seat on legs with a back."""
    seat = (-0.25, 0.25, 0.0, 0.5, 0.42, 0.48)
    back = (-0.25, 0.25, 0.0, 0.06, 0.48, 0.98)
    legs = tuple((u, u + 0.06, v, v + 0.06, 0.0, 0.42) for u in (-0.25, 0.19) for v in (0.0, 0.44))
    return Piece((seat, back, *legs), _surface(0.22, 0.1, 0.48, 0.48), 1.1, 0.5, 0.5)


def counter(width: float) -> Piece:
    """A cupboard with a worktop."""
    half = width / 2
    base = (-half, half, 0.0, 0.58, 0.0, 0.8)
    top = (-half, half, 0.0, 0.62, 0.8, 0.84)
    return Piece((base, top), _surface(half - 0.04, 0.06, 0.56, 0.84), 1.12, width, 0.62)


def sink(width: float) -> Piece:
    """A cupboard with a basin let in, and a tap."""
    half = width / 2
    base = (-half, half, 0.0, 0.58, 0.0, 0.69)
    rims = (
        (-half, half, 0.0, 0.08, 0.69, 0.84),
        (-half, half, 0.56, 0.62, 0.69, 0.84),
        (-half, -half + 0.06, 0.08, 0.56, 0.69, 0.84),
        (half - 0.06, half, 0.08, 0.56, 0.69, 0.84),
    )
    tap = ((-0.03, 0.03, 0.02, 0.08, 0.84, 1.12), (-0.03, 0.03, 0.08, 0.26, 1.06, 1.12))
    surface = _surface(half - 0.06, 0.09, 0.55, 0.69)
    return Piece((base, *rims, *tap), surface, 1.2, width, 0.62)


FRIDGE_INSIDE: Final[Box] = (-0.32, 0.32, 0.05, 0.68, 0.1, 1.72)


def fridge() -> Piece:
    """A tall box; its middle shelf is what objects are placed on."""
    outside = (-0.38, 0.38, 0.0, 0.7, 0.0, 1.8)
    surface = (-0.3, 0.3, 0.12, 0.62, 0.88, 1.2)
    return Piece((outside,), surface, 1.6, 0.76, 0.7)


DRAWER_AT: Final = 0.22
"""How far to the right of a counter's middle its drawer is."""
DRAWER_STAND: Final = 1.6
DRAWERS: Final[Mapping[int, tuple[str, float, Box]]] = MappingProxyType(
    {
        0: ("left_counter", DRAWER_AT, (-0.2, 0.2, 0.1, 0.58, 0.6, 0.78)),
        1: ("sink", 0.0, (-0.34, 0.34, 0.1, 0.58, 0.4, 0.62)),
        2: ("right_counter", DRAWER_AT, (-0.2, 0.2, 0.1, 0.58, 0.6, 0.78)),
        3: ("sink", 0.0, (-0.34, 0.34, 0.1, 0.58, 0.08, 0.34)),
    }
)
"""By handle: the piece it is part of, how far to the right in it, and the inside of the drawer."""
DRAWER_RECEPTACLES: Final = MappingProxyType({"left_drawer": 0, "right_drawer": 2})
"""Drawers that are receptacles, and their handles."""


def _surface(half: float, from_back: float, to_front: float, height: float) -> Box:
    return (-half, half, from_back, to_front, height, height + OBJECT_ROOM)
