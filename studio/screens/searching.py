"""What the library and the list of runs share: a filter line, and esc that backs out one level."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from textual import on
from textual.widgets import Input

from studio.screens.base import StudioScreen
from studio.widgets.pick_list import PickList

if TYPE_CHECKING:
    from studio.app import StudioApp

_Result = TypeVar("_Result")


class FilterLine(Input):
    """Words to look for; there only while one filters."""

    DEFAULT_CSS = """
    FilterLine {
        display: none;
        height: 1;
        padding: 0 1;
        border: none;
        background: $surface;
        &.-shown { display: block; }
    }
    """


class Searching(StudioScreen[_Result]):
    """Base of screens with one list that can be filtered."""

    app: StudioApp

    def __init__(self) -> None:
        super().__init__()
        self.words = ""

    def reload(self) -> object:
        """Read the list anew, for the present filter."""
        raise NotImplementedError

    def _draw(self) -> None:
        """Lay out what was read."""
        raise NotImplementedError

    def show_list(self, some: bool) -> None:
        """Show list and page where there is something; the keyboard, lost with them, comes back."""
        self.query_one(".list-and-page").display = some
        if some and self.focused is None:
            self.call_after_refresh(self.listed.focus)

    def on_screen_resume(self) -> None:
        """Read once there is something on the screen, and what came meanwhile."""
        self.reload()

    def on_resize(self) -> None:
        """Rows, page and head are laid out by hand for the width."""
        self.call_after_refresh(self._draw)

    @property
    def listed(self) -> PickList:
        """The list."""
        return self.query_one(PickList)

    @property
    def filter_line(self) -> FilterLine:
        """The filter."""
        return self.query_one(FilterLine)

    def action_filter(self) -> None:
        """Type words; the list follows at once."""
        self.filter_line.add_class("-shown")
        self.filter_line.focus()

    def action_back(self) -> None:
        """Out of the filter first, then back to where one came from."""
        if self.filter_line.has_class("-shown"):
            self.filter_line.value = ""
            self.filter_line.remove_class("-shown")
            self.listed.focus()
        else:
            self.leave()

    def leave(self) -> None:
        """Back to the screen below."""
        self.dismiss(None)

    @on(Input.Changed, "FilterLine")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self.words:
            self.words = event.value
            self.reload()

    @on(Input.Submitted, "FilterLine")
    def _done(self, event: Input.Submitted) -> None:
        event.stop()
        self.filter_line.set_class(bool(event.value), "-shown")
        self.listed.focus()
