"""Read-only text that scrolls by keyboard, like a pager."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import ScrollableContainer
from textual.content import Content
from textual.widgets import Static

from studio import keymap

Draw = Callable[[int], Content]
"""Text laid out for so many cells."""


class Reader(ScrollableContainer, can_focus=True):
    """Text of any origin: it is shown as it is, never parsed as markup."""

    BINDINGS = keymap.bindings("list")
    DEFAULT_CSS = """
    Reader {
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._text = Static(markup=False)
        self._lay_out: Draw | None = None
        self._drawn_at = 0

    def compose(self) -> ComposeResult:
        """One static text; the container scrolls it."""
        yield self._text

    def show_text(self, text: Content, *, keep_place: bool = False) -> None:
        """Replace the text; back to its beginning unless `keep_place`."""
        self._lay_out = None
        self._text.update(text)
        if not keep_place:
            self.scroll_home(animate=False)

    def show_drawn(self, draw: Draw) -> None:
        """Replace the text by one that is laid out by hand, again for every other width."""
        self._lay_out = draw
        self._drawn_at = 0
        self._lay_out_again()
        self.scroll_home(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """Lay the text out for the new width."""
        if self._lay_out is not None and self._room != self._drawn_at:
            self._lay_out_again()

    def on_show(self) -> None:
        """What was given while it was hidden is laid out now, though its size be the same."""
        if self._lay_out is not None and self._room != self._drawn_at:
            self._lay_out_again()

    @property
    def _room(self) -> int:
        return self.scrollable_content_region.width

    def _lay_out_again(self) -> None:
        # A hidden widget has no width yet; it is resized once it is shown.
        if self._lay_out is not None and self._room > 0:
            self._drawn_at = self._room
            self._text.update(self._lay_out(self._room))

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
