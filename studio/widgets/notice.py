"""The line that says what is wanted now: the person's turn, what went wrong, what is done."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from studio.widgets.paint import MUTED
from studio.words import Tone


class Notice(Static):
    """One or two lines with a coloured edge; the words alone say everything."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)

    def show(self, tone: Tone, title: str, text: str) -> None:
        """Replace what is said."""
        for other in ("plain", "good", "bad", "warn", "muted", "accent"):
            self.set_class(other == tone, f"-{other}")
        if title:
            self.update(Content.assemble((title, "bold"), "  ", text))
        else:
            self.update(Content.styled(text, MUTED))
