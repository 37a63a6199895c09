"""What a terminal too small for the studio shows instead of a broken screen."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

MIN_WIDTH = 60
MIN_HEIGHT = 16
HORIZONTAL = [(0, "-tiny"), (MIN_WIDTH, "-narrow"), (100, "-wide")]
VERTICAL = [(0, "-flat"), (MIN_HEIGHT, "-high")]


class TooSmall(Static):
    """Shown alone when the terminal has less than 60 columns or 16 rows."""

    def on_resize(self) -> None:
        """Say how large the terminal is and how large it should be."""
        width, height = self.app.size
        self.update(
            Content.assemble(
                (f"{width} columns, {height} rows: too small", "bold"),
                f"\n\nMake the terminal at least {MIN_WIDTH} by {MIN_HEIGHT}.",
                "\nA run goes on meanwhile. ctrl+q quits.",
            )
        )
