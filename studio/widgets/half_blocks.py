"""Pictures as terminal cells: scaling and run-length merged half blocks; no widget in here."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from math import gcd

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

Pixel = tuple[int, int, int]
Rows = list[list[Pixel]]
"""A picture as rows of (red, green, blue), each 0..255."""

_HALF_BLOCK = "▀"
_SMALLEST = 0.9
"""A sharper picture may be this much smaller than the place it has."""
_COMMON_NEEDED = 8
"""Below this there are too few sizes to choose from."""


def rows_of(rgb: bytes, width: int, height: int) -> Rows:
    """Pixels of raw bytes.

    Raises:
        ValueError: `rgb` is not height*width*3 bytes long.
    """
    if width <= 0 or height <= 0 or len(rgb) != width * height * 3:
        raise ValueError(
            f"a picture of {width} x {height} needs {width * height * 3} bytes, got {len(rgb)}"
        )
    line = width * 3
    return [
        list(zip(row[0::3], row[1::3], row[2::3], strict=True))
        for row in (rgb[y * line : (y + 1) * line] for y in range(height))
    ]


def fit(width: int, height: int, columns: int, lines: int) -> tuple[int, int]:
    """Largest size in pixels for a place of `columns` times `lines` pixels, proportions kept.

    Enlarging goes by whole factors only, so that every pixel stays a square of equal size.
    Shrinking prefers a slightly smaller size in which many pixel edges fall on old ones: the
    tiles of pixel art then keep sharp borders.
    """
    if columns <= 0 or lines <= 0:
        return 0, 0
    factor = min(columns / width, lines / height)
    if factor >= 1:
        return width * int(factor), height * int(factor)
    common = gcd(width, height)
    largest = max(1, int(common * factor))
    smallest = max(1, int(largest * _SMALLEST))
    best = max(range(smallest, largest + 1), key=lambda size: (gcd(size, common), size))
    if largest < _COMMON_NEEDED:
        return max(1, int(width * factor)), max(1, int(height * factor))
    return width * best // common, height * best // common


def scale(rows: Rows, width: int, height: int) -> Rows:
    """The picture in another size: pixels repeated when larger, area averages when smaller."""
    old_height, old_width = len(rows), len(rows[0])
    if (old_width, old_height) == (width, height):
        return rows
    if width >= old_width and height >= old_height:
        wide = [[row[x * old_width // width] for x in range(width)] for row in rows]
        return [wide[y * old_height // height] for y in range(height)]
    across = _shares(old_width, width)
    narrow = [[_mean([(row[i], share) for i, share in part]) for part in across] for row in rows]
    return [
        [_mean([(narrow[i][x], share) for i, share in part]) for x in range(width)]
        for part in _shares(old_height, height)
    ]


def half_block_strips(rows: Rows) -> list[Strip]:
    """Two pixels a cell: the upper one as foreground, the lower as background; runs merged."""
    strips = []
    for y in range(0, len(rows), 2):
        upper = rows[y]
        lower = rows[y + 1] if y + 1 < len(rows) else None
        pairs = [(pixel, lower[x] if lower else None) for x, pixel in enumerate(upper)]
        strips.append(_merged([(_HALF_BLOCK, fg, bg) for fg, bg in pairs]))
    return strips


def block_strips(rows: Rows) -> list[Strip]:
    """One pixel on two cells of plain spaces, for terminals that have ASCII only."""
    return [_merged([("  ", None, pixel) for pixel in row]) for row in rows]


def _merged(cells: list[tuple[str, Pixel | None, Pixel | None]]) -> Strip:
    """One strip in which equal neighbours are one segment."""
    edges = [0, *(i for i in range(1, len(cells)) if cells[i] != cells[i - 1]), len(cells)]
    return Strip(
        [
            Segment(cells[start][0] * (end - start), _style(cells[start][1], cells[start][2]))
            for start, end in pairwise(edges)
        ],
        sum(len(text) for text, _, _ in cells),
    )


@lru_cache(maxsize=16_384)
def _style(foreground: Pixel | None, background: Pixel | None) -> Style:
    return Style(
        color=Color.from_rgb(*foreground) if foreground else None,
        bgcolor=Color.from_rgb(*background) if background else None,
    )


@lru_cache(maxsize=64)
def _shares(old: int, new: int) -> tuple[tuple[tuple[int, float], ...], ...]:
    """For each new pixel the old ones under it, with the part of its area each covers."""
    step = old / new
    parts = []
    for index in range(new):
        start, end = index * step, (index + 1) * step
        part = []
        for i in range(int(start), min(old, int(end) + 1)):
            overlap = min(end, i + 1) - max(start, i)
            if overlap > 1e-9:
                part.append((i, overlap / step))
        parts.append(tuple(part))
    return tuple(parts)


def _mean(weighted: list[tuple[Pixel, float]]) -> Pixel:
    if len(weighted) == 1:
        return weighted[0][0]
    red = green = blue = 0.0
    for (r, g, b), share in weighted:
        red += r * share
        green += g * share
        blue += b * share
    return round(red), round(green), round(blue)
