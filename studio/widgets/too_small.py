"""What a terminal too small for the studio shows instead of a broken screen."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

MIN_WIDTH = 60
MIN_HEIGHT = 16
HORIZONTAL = [(0, "-tiny"), (MIN_WIDTH, "-narrow"), (100, "-wide")]
VERTICAL = [(0, "-flat"), (MIN_HEIGHT, "-high")]


def is_too_small(size: Size) -> bool:
    """True when a terminal of that size shows the notice alone."""
    return size.width < MIN_WIDTH or size.height < MIN_HEIGHT


class TooSmall(Static):
    """Shown alone when the terminal has less than 60 columns or 16 rows."""

    def on_resize(self) -> None:
        """Say the way out, how large the terminal is, and how large it should be."""
        width, height = self.app.size
        self.update(
            Content.assemble(
                ("ctrl+q quits", "bold"),
                f"\n{width}x{height} too small"
                f"\nneeds {MIN_WIDTH}x{MIN_HEIGHT}\n\nA run goes on meanwhile.",
            )
        )
