"""A compositor that forgets nobody: every widget hears of the size it is laid out with."""

from __future__ import annotations

from textual._compositor import Compositor, ReflowResult
from textual.geometry import Size
from textual.widget import Widget


class TellingCompositor(Compositor):
    """Compares a layout with the one that was told last.

    Textual compares it with the map at hand, which a look at a widget's region in between builds
    anew: what that look saw first is then no change any more, and the widget stays drawn for the
    size it had before (Textual 8.2.8, `full_map` and `reflow`).
    """

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[Widget, Size] = {}

    def clear(self) -> None:
        """Forget every widget; the next layout tells all of them."""
        super().clear()
        self._told.clear()

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Lay out anew; shown and resized count from the last time this was asked."""
        found = super().reflow(parent, size)
        before = self._told
        self._told = {widget: at.region.size for widget, at in self._full_map.items()}
        shown = self._told.keys() - before.keys()
        resized = {
            widget for widget, size in self._told.items() if before.get(widget, size) != size
        }
        return ReflowResult(hidden=found.hidden, shown=shown, resized=resized)
