"""Figures of which the pictures of objects are made: masks over the unit square."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

SIDE: Final = 96
"""Pixels of a master picture's side."""

Mask = NDArray[np.bool_]
Colour = tuple[int, int, int]


def _grid() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    line = (np.arange(SIDE) + 0.5) / SIDE * 2 - 1
    return np.meshgrid(line, -line)


def ellipse(x: float, y: float, width: float, height: float) -> Mask:
    """A filled ellipse; all numbers in units of half the picture, y upwards, radii."""
    xs, ys = _grid()
    return np.asarray(((xs - x) / width) ** 2 + ((ys - y) / height) ** 2 <= 1)


def ring(x: float, y: float, outer: float, inner: float) -> Mask:
    """A circle's rim between two radii."""
    return ellipse(x, y, outer, outer) & ~ellipse(x, y, inner, inner)


def box(left: float, right: float, bottom: float, top: float) -> Mask:
    """A filled rectangle."""
    xs, ys = _grid()
    return np.asarray((xs >= left) & (xs <= right) & (ys >= bottom) & (ys <= top))


def bar(x0: float, y0: float, x1: float, y1: float, radius: float) -> Mask:
    """All that is no farther than `radius` from a line: a bar with round ends."""
    xs, ys = _grid()
    dx, dy = x1 - x0, y1 - y0
    share = np.clip(((xs - x0) * dx + (ys - y0) * dy) / (dx * dx + dy * dy), 0, 1)
    return np.asarray(np.hypot(xs - x0 - share * dx, ys - y0 - share * dy) <= radius)


def polygon(*points: tuple[float, float]) -> Mask:
    """A filled polygon, by the even-odd rule."""
    xs, ys = _grid()
    inside = np.zeros_like(xs, bool)
    for (x0, y0), (x1, y1) in zip(points, (*points[1:], points[0]), strict=True):
        if y0 == y1:
            continue
        crosses = (ys >= min(y0, y1)) & (ys < max(y0, y1))
        inside ^= crosses & (xs < x0 + (ys - y0) / (y1 - y0) * (x1 - x0))
    return inside


def shade(colour: Colour, share: float) -> Colour:
    """Darker (share below 1) or lighter (above 1, towards white)."""
    if share <= 1:
        return tuple(int(value * share) for value in colour)  # type: ignore[return-value]
    return tuple(int(255 - (255 - value) * (2 - share)) for value in colour)  # type: ignore[return-value]


def paint(layers: list[tuple[Mask, Colour]]) -> tuple[NDArray[np.uint8], Mask]:
    """Lay figures over each other, later ones on top: colours (96, 96, 3) and what is covered.

    The rim of the whole is darkened, so that it stands out from whatever is behind it.
    """
    colours = np.zeros((SIDE, SIDE, 3), np.uint8)
    covered = np.zeros((SIDE, SIDE), bool)
    for mask, colour in layers:
        colours[mask] = colour
        covered |= mask
    inner = covered.copy()
    for _ in range(3):
        padded = np.pad(inner, 1)
        inner &= padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    rim = covered & ~inner
    colours[rim] = (colours[rim] * 0.55).astype(np.uint8)
    return colours, covered
