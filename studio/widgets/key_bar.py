"""The footer: what can be done now, most wanted first, as much as fits; generated from the keys."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from studio import keymap
from studio.widgets.paint import MUTED

_RIGHT = ("studio.help", "studio.quit", "studio.palette")
"""These stand at the right end."""
_LAST = ("code.editor", "studio.runs", "studio.skills", "studio.palette")
"""These give way first when there is no room."""
_GAP = 2


@dataclass(frozen=True, slots=True)
class _Shown:
    id: str
    press: str
    """The key to press, in Textual's spelling."""
    key: str
    words: str

    @property
    def width(self) -> int:
        return len(self.key) + 1 + len(self.words) + _GAP


class KeyBar(Static):
    """One line of keys and words; a click on one presses it."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyBar {
        dock: bottom;
        height: 1;
        padding: 0 1;
        background: $footer-background;
        color: $foreground;
        text-wrap: nowrap;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self._spots: list[tuple[int, int, str]] = []

    def on_mount(self) -> None:
        """Keys change with the focus and with what the run asks."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)
        self.draw()

    def on_resize(self) -> None:
        """More or fewer fit now."""
        self.draw()

    def _changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Lay the keys out for the width."""
        if not self.is_attached:
            return
        width = self.content_size.width
        offered = self._offered()
        kept = (*_LAST, "studio.help", "studio.quit")
        others = [name for name in offered if name not in kept]
        for name in (*_LAST, *reversed(others)):
            if sum(key.width for key in offered.values()) <= width + _GAP:
                break
            offered.pop(name, None)
        right = [offered.pop(name) for name in reversed(_RIGHT) if name in offered]
        left = list(offered.values())
        self._spots = []
        parts: list[Content] = []
        end = 0
        for key in left:
            end = self._place(parts, key, end)
        gap = max(0, width - end - sum(key.width for key in right) + _GAP)
        parts.append(Content(" " * gap))
        end += gap
        for key in right:
            end = self._place(parts, key, end)
        self.update(Content("").join(parts).rstrip())

    def on_click(self, event: events.Click) -> None:
        """Press the key that was clicked."""
        here = event.x - self.styles.padding.left
        for start, end, press in self._spots:
            if start <= here < end:
                self.app.simulate_key(press)
                return

    def _place(self, parts: list[Content], key: _Shown, start: int) -> int:
        parts.append(
            Content.assemble((key.key, "bold $text-accent"), " ", (key.words, MUTED), " " * _GAP)
        )
        self._spots.append((start, start + key.width - _GAP, key.press))
        return start + key.width

    def _offered(self) -> dict[str, _Shown]:
        """By id, in the order of the registry; the first key of each."""
        active: dict[str, _Shown] = {}
        for binding in self.screen.active_bindings.values():
            name = binding.binding.id
            if name and binding.enabled and binding.binding.show and name not in active:
                press = binding.binding.key
                words = binding.binding.description
                active[name] = _Shown(name, press, keymap.display(press), words)
        order = [entry.id for entry in keymap.KEYS]
        return {name: active[name] for name in order if name in active}
