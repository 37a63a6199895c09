"""The line that says what is wanted now: the person's turn, what went wrong, what is done."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from studio.notices import Said
from studio.widgets.charset import ascii_only
from studio.widgets.paint import MUTED

_TONES = ("plain", "good", "bad", "warn", "muted", "accent")


class Notice(Static):
    """One to three lines with a coloured edge; the words alone say everything."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)

    def show(self, said: Said) -> None:
        """Replace what is said."""
        tone = "muted" if said.sign is None else said.sign.tone
        for other in _TONES:
            self.set_class(other == tone, f"-{other}")
        if said.sign is None:
            self.update(Content.styled(said.text, MUTED))
        else:
            title = f"{said.sign.mark(ascii_only(self))} {said.sign.word}"
            self.update(Content.assemble((title, "bold"), "  ", said.text))
