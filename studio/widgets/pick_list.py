"""A list of rows laid out by hand for the width there is; the selection survives every refresh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from studio import keymap

_T = TypeVar("_T")


class PickList(OptionList):
    """Arrows, j/k, g/G, page keys and enter, as in every list."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("list")
    DEFAULT_CSS = """
    PickList {
        height: 1fr;
        border: none;
        padding: 0;
        background: $background;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        &:focus { border: none; }
        & > .option-list--option { padding: 0 1; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._draw_row: Callable[[str, int], Content] | None = None
        self._keys: tuple[str, ...] = ()
        self.drawn_width = 0
        """Cells the rows were laid out for."""

    @property
    def picked(self) -> str | None:
        """Id of the row under the cursor."""
        if self.highlighted is None:
            return None
        return self.get_option_at_index(self.highlighted).id

    def show_rows(
        self, items: Sequence[_T], key: Callable[[_T], str], row: Callable[[_T, int], Content]
    ) -> None:
        """Replace the rows; the cursor stays on the same item, or else on the same line.

        Args:
            items: What is listed.
            key: Id of an item.
            row: Text of an item for so many cells; asked again when the width changes.
        """
        by_key = {key(item): item for item in items}
        self._keys = tuple(by_key)
        self._draw_row = lambda name, width: row(by_key[name], width)
        self._draw()

    def on_resize(self) -> None:
        """Lay the rows out anew for another width."""
        if self._draw_row is not None and self.row_width != self.drawn_width:
            self._draw()

    @property
    def row_width(self) -> int:
        """Cells there are for a row's text."""
        return max(20, self.scrollable_content_region.width - 2)

    def _draw(self) -> None:
        draw, keys, width = self._draw_row, self._keys, self.row_width
        if draw is None:
            return
        self.drawn_width = width
        before, place, scroll = self.picked, self.highlighted or 0, self.scroll_offset.y
        self.set_options(Option(draw(name, width), id=name) for name in keys)
        if keys:
            self.highlighted = keys.index(before) if before in keys else min(place, len(keys) - 1)
            self.scroll_to(y=scroll, animate=False)
