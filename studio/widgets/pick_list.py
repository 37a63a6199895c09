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
        &:focus { border: none; }
        & > .option-list--option { padding: 0 1; }
    }
    """

    @property
    def row_width(self) -> int:
        """Cells there are for a row's text."""
        return max(20, self.scrollable_content_region.width - 2)

    @property
    def picked(self) -> str | None:
        """Id of the row under the cursor."""
        if self.highlighted is None:
            return None
        return self.get_option_at_index(self.highlighted).id

    def show_rows(
        self, items: Sequence[_T], key: Callable[[_T], str], row: Callable[[_T], Content]
    ) -> None:
        """Replace the rows; the cursor stays on the same item, or else on the same line."""
        before, place, scroll = self.picked, self.highlighted or 0, self.scroll_offset.y
        self.set_options(Option(row(item), id=key(item)) for item in items)
        if not items:
            return
        keys = [key(item) for item in items]
        self.highlighted = keys.index(before) if before in keys else min(place, len(keys) - 1)
        self.scroll_to(y=scroll, animate=False)
