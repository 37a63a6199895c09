"""The names of the panes in one line, with the keys that lead there."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from studio.widgets.charset import ascii_only
from studio.widgets.paint import FAINT, MUTED
from studio.words import Sign


class PaneBar(Static):
    """`1 Plan  2 Code ...`; the active one is marked, one that asks has a glyph."""

    class Picked(Message):
        """A name was clicked."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, panes: Sequence[tuple[str, str]], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._panes = tuple(panes)
        self._ends: list[int] = []

    def show(
        self,
        active: str,
        visible: Sequence[str],
        marks: dict[str, Sign],
        follow: bool,
        follow_key: str,
    ) -> None:
        """Draw the names anew."""
        parts: list[Content] = []
        self._ends = []
        end = 0
        for pane, title in self._panes:
            mark = marks.get(pane)
            words = f" {title} "
            if mark is not None:
                words = f" {title} {mark.mark(ascii_only(self))} "
            style = MUTED
            if pane == active:
                style = "bold $text-accent underline"
            elif pane in visible:
                style = "$text"
            parts.append(Content.styled(words, style))
            end += len(words)
            self._ends.append(end)
        words = "following the run" if follow else f"{follow_key} follows the run"
        room = self.size.width - end - 2
        if room > len(words):
            parts.append(Content.styled(words.rjust(room), FAINT))
        self.update(Content("").join(parts))

    def on_click(self, event: events.Click) -> None:
        """A click on a name goes there."""
        for (pane, _), end in zip(self._panes, self._ends, strict=True):
            if event.x - self.styles.padding.left < end:
                self.post_message(self.Picked(pane))
                return
