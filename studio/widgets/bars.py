"""Horizontal bars out of characters: eighths of a cell, or `#` where only ASCII is shown."""

from __future__ import annotations

from textual.content import Content

_EIGHTHS = "▏▎▍▌▋▊▉█"


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
