"""Bars and spark lines out of characters: eighths of a cell, or plain ones where only ASCII is."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

_EIGHTHS = "▏▎▍▌▋▊▉█"
_HEIGHTS, _ASCII_HEIGHTS = "▁▂▃▄▅▆▇", "_.-=+*#"
"""From nothing to the largest value, never a whole cell: lines below each other stay apart."""


def block_bar(share: float, width: int, style: str, *, ascii_only: bool = False) -> Content:
    """A bar of 0..1 over `width` cells, exact to an eighth of a cell; padded to its width."""
    share = min(1.0, max(0.0, share))
    if ascii_only:
        text = "#" * round(share * width)
        return Content.assemble((text, style), ("." * (width - len(text)), "$foreground 40%"))
    eighths = round(share * width * 8)
    full, rest = divmod(eighths, 8)
    text = _EIGHTHS[7] * full + (_EIGHTHS[rest - 1] if rest else "")
    return Content.assemble((text, style), " " * (width - len(text)))


def line_bar(share: float, width: int, style: str, *, ascii_only: bool = False) -> Content:
    """A thin bar on a rail, for progress; exact to half a cell."""
    share = min(1.0, max(0.0, share))
    if ascii_only:
        text = "=" * round(share * width)
        return Content.assemble((text, style), ("-" * (width - len(text)), "$foreground 40%"))
    halves = round(share * width * 2)
    done = "━" * (halves // 2) + ("╸" if halves % 2 else "")
    return Content.assemble((done, style), ("─" * (width - len(done)), "$foreground 40%"))


def spark_line(values: Sequence[float | None], style: str, *, ascii_only: bool = False) -> Content:
    """One cell for each value, from 0 to the largest of them; None leaves a gap."""
    heights = _ASCII_HEIGHTS if ascii_only else _HEIGHTS
    top = max((value for value in values if value is not None), default=0.0)

    def cell(value: float | None) -> str:
        if value is None:
            return " "
        share = value / top if top > 0 else 0.0
        return heights[min(len(heights) - 1, round(share * (len(heights) - 1)))]

    return Content.styled("".join(map(cell, values)), style)
