"""How high the parts of the training panel are: plain arithmetic, no widget."""

from __future__ import annotations

from typing import NamedTuple

LOWEST, USUAL, HIGHEST = 6, 8, 14
"""Heights of a chart: at least, while scrolling, at most."""
FEWEST_ACTIONS = 3
"""Rows of the table of actions that are worth its place."""
TABLE_FRAME = 2
"""Its headings and the line about the plan."""


class Layout(NamedTuple):
    """Heights in lines."""

    chart: int
    gap: int
    """Between rows of charts."""
    usage: int = 0
    """Of the table of actions, with what is empty above it; 0 for no table."""
    above: int = 0
    """Empty lines above the table, where no gap is; below it too while scrolling."""
    scrolls: bool = False
    """Not everything fits."""


def layout(*, body: int, rows: int, below: int, actions: int) -> Layout:
    """All at once in a body of so many lines where that is possible, else a height to scroll.

    Args:
        rows: of charts.
        below: lines of the figures below the charts, with the gap above them.
        actions: rows that the table of actions would like to have; 0 for no table.
    """
    fewest = min(actions, FEWEST_ACTIONS)
    for gap, above in ((1, 0), (0, 1), (0, 0)):
        for shown in range(actions, fewest - 1, -1):
            usage = shown + TABLE_FRAME + above if actions else 0
            gaps = gap * (rows - (0 if actions else 1))
            each = (body - below - gaps - usage) // rows
            if each >= LOWEST + 2 * gap:
                return Layout(min(HIGHEST, each), gap, usage, above if actions else 0)
    if actions:
        return Layout(USUAL, 0, actions + TABLE_FRAME + 2, 1, scrolls=True)
    each = body // rows
    return Layout(min(HIGHEST, each) if each >= LOWEST else USUAL, 0, scrolls=True)
