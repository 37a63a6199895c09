"""Read-only text that scrolls by keyboard, like a pager."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import ScrollableContainer
from textual.content import Content
from textual.widgets import Static

from studio import keymap


class Reader(ScrollableContainer, can_focus=True):
    """Text of any origin: it is shown as it is, never parsed as markup."""

    BINDINGS = keymap.bindings("list")

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """One static text; the container scrolls it."""
        yield self._text

    def show_text(self, text: Content, *, keep_place: bool = False) -> None:
        """Replace the text; back to its beginning unless `keep_place`."""
        self._text.update(text)
        if not keep_place:
            self.scroll_home(animate=False)

    def action_cursor_down(self) -> None:
        """One line down."""
        self.scroll_down(animate=False)

    def action_cursor_up(self) -> None:
        """One line up."""
        self.scroll_up(animate=False)

    def action_first(self) -> None:
        """To the beginning."""
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        """To the end."""
        self.scroll_end(animate=False)
