"""From a history to dots to characters: plain functions, no widget, no colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from studio.widgets.series import Bucket

Span = tuple[int, int] | None
"""Lowest and highest dot of one column of dots, counted from below; None where nothing is drawn."""

_BRAILLE = 0x2800
_LEFT_DOTS = (0x40, 0x04, 0x02, 0x01)
_RIGHT_DOTS = (0x80, 0x20, 0x10, 0x08)
"""Bits of a braille cell's two columns, from below."""
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def nice_range(
    low: float, high: float, fixed_low: float | None = None, fixed_high: float | None = None
) -> tuple[float, float]:
    """A y range with round ends around low..high, so that the axis does not creep all the time.

    A fixed end is kept unless a value lies beyond it: nothing measured is ever cut off.
    """
    measured_low, measured_high = low, high
    if high - low < 1e-12 * max(1.0, abs(low), abs(high)):
        margin = abs(low) * 0.1 or 1.0
        low, high = low - (0.0 if low == 0 else margin), high + margin
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in _STEPS if s * power >= rough * (1 - 1e-9))
    bottom = math.floor(low / step + 1e-9) * step
    top = math.ceil(high / step - 1e-9) * step
    if fixed_low is not None and measured_low >= fixed_low:
        bottom = fixed_low
    if fixed_high is not None and measured_high <= fixed_high:
        top = fixed_high
    return (bottom, top) if top > bottom else (bottom, bottom + step)


@dataclass(frozen=True, slots=True)
class Plot:
    """A field of dots: `columns` times `dots`, over a range of env frames and of values."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    columns: int
    dots: int

    def column(self, x: float) -> float:
        """Column of an x, not yet rounded."""
        width = self.x_range[1] - self.x_range[0]
        return (x - self.x_range[0]) * (self.columns - 1) / width if width > 0 else 0.0

    def dot(self, y: float) -> float:
        """Dot of a y counted from below, not yet rounded."""
        height = self.y_range[1] - self.y_range[0]
        return (y - self.y_range[0]) * (self.dots - 1) / height if height > 0 else 0.0


class _Canvas:
    """Spans under construction; whatever lies outside is clipped to the edge."""

    def __init__(self, plot: Plot) -> None:
        self._plot = plot
        self.spans: list[Span] = [None] * plot.columns

    def cover(self, column: int, a: float, b: float) -> None:
        """Cover the dots from a to b, in either order."""
        low, high = (a, b) if a <= b else (b, a)
        highest = self._plot.dots - 1
        bottom = min(highest, max(0, math.floor(low + 0.5)))
        top = min(highest, max(bottom, math.ceil(high - 0.5)))
        index = min(self._plot.columns - 1, max(0, column))
        old = self.spans[index]
        self.spans[index] = (
            (bottom, top) if old is None else (min(old[0], bottom), max(old[1], top))
        )

    def join(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Cover the straight line between two points, half a column around each column."""
        first, last = round(x0), round(x1)
        if first == last or x1 <= x0:
            self.cover(first, y0, y1)
            return
        slope = (y1 - y0) / (x1 - x0)
        for column in range(first, last + 1):
            a, b = max(x0, column - 0.5), min(x1, column + 0.5)
            if a <= b:
                self.cover(column, y0 + (a - x0) * slope, y0 + (b - x0) * slope)


def line_spans(buckets: Sequence[Bucket], plot: Plot) -> list[Span]:
    """Every value, as one vertical span per column; a gap breaks the line.

    Neighbouring buckets are joined by a straight line, so few points make a line and many points
    make the band between their minimum and maximum.
    """
    if plot.columns <= 0 or plot.dots <= 0:
        return []
    canvas = _Canvas(plot)
    previous: tuple[float, float] | None = None
    for bucket in buckets:
        if bucket.is_gap:
            previous = None
            continue
        start, end = plot.column(bucket.x0), plot.column(bucket.x1)
        if previous is not None:
            canvas.join(*previous, start, plot.dot(bucket.first))
        low, high = plot.dot(bucket.low), plot.dot(bucket.high)
        for column in range(round(start), round(end) + 1):
            canvas.cover(column, low, high)
        previous = (end, plot.dot(bucket.last))
    return canvas.spans


def mean_spans(buckets: Sequence[Bucket], plot: Plot, reach: int = 2) -> list[Span]:
    """The running mean over `reach` columns to either side; a gap breaks it."""
    totals, counts = [0.0] * plot.columns, [0] * plot.columns
    for bucket in buckets:
        if not bucket.is_gap:
            column = round(plot.column((bucket.x0 + bucket.x1) / 2))
            totals[column] += bucket.mean * bucket.points
            counts[column] += bucket.points
    canvas = _Canvas(plot)
    previous: tuple[float, float] | None = None
    for column in range(plot.columns):
        if not counts[column]:
            previous = None
            continue
        window = slice(max(0, column - reach), column + reach + 1)
        point = (float(column), plot.dot(sum(totals[window]) / sum(counts[window])))
        if previous is None:
            canvas.cover(column, point[1], point[1])
        else:
            canvas.join(*previous, *point)
        previous = point
    return canvas.spans


def braille_rows(columns: Sequence[Span], rows: int) -> list[str]:
    """Rows of braille text from above; each character is two columns of four dots."""
    cells = [[0] * ((len(columns) + 1) // 2) for _ in range(rows)]
    for index, span in enumerate(columns):
        if span is None:
            continue
        bits = _RIGHT_DOTS if index % 2 else _LEFT_DOTS
        bottom, top = span
        for row in range(bottom // 4, top // 4 + 1):
            low, high = max(bottom - 4 * row, 0), min(top - 4 * row, 3)
            mask = 0
            for dot in range(low, high + 1):
                mask |= bits[dot]
            cells[rows - 1 - row][index // 2] |= mask
    return ["".join(chr(_BRAILLE + cell) if cell else " " for cell in row) for row in cells]


def ascii_rows(columns: Sequence[Span], rows: int) -> list[str]:
    """Rows of plain characters from above; each is one column of two dots: `.`, `'` or `|`."""
    cells = [[0] * len(columns) for _ in range(rows)]
    for index, span in enumerate(columns):
        if span is None:
            continue
        for dot in range(span[0], span[1] + 1):
            cells[rows - 1 - dot // 2][index] |= 1 << (dot % 2)
    return ["".join(" .'|"[cell] for cell in row) for row in cells]
