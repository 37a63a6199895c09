"""Lines that keep coming: wrapped, bounded, filtered, and never pulled away from a reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.cache import LRUCache
from textual.content import Content
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from studio import keymap

_MIN_BODY = 10


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One thing that happened: a lead (time, glyph) and a body that wraps beside it."""

    lead: Content
    body: Content

    @property
    def text(self) -> str:
        """What a filter searches."""
        return f"{self.lead.plain} {self.body.plain}"


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    entry: Entry
    line: Content
    first: bool


class FollowLines(ScrollView, can_focus=True):
    """Shows the newest line unless the person has scrolled up; then nothing moves."""

    DEFAULT_CSS = """
    FollowLines {
        height: 1fr;
        overflow-x: hidden;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """
    BINDINGS = keymap.bindings("list")

    class Changed(Message):
        """Lines came, went, or the person scrolled: whoever counts lines may look again."""

    def __init__(
        self, *, max_entries: int = 2000, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._max = max(1, max_entries)
        self._entries: list[Entry] = []
        self._rows: list[_Row] = []
        self._filter = ""
        self._strips: LRUCache[_Row, Strip] = LRUCache(512)
        self._wrapped_at = 0
        self._follows = True
        self.unseen = 0
        """Lines that came below what is shown since the person scrolled up."""

    @property
    def entries(self) -> Sequence[Entry]:
        """All that are kept, filtered or not."""
        return tuple(self._entries)

    @property
    def shown(self) -> int:
        """How many entries pass the filter."""
        return sum(row.first for row in self._rows)

    @property
    def follows(self) -> bool:
        """True unless the person has scrolled up."""
        return self._follows

    def append(self, entries: Sequence[Entry], *, replace_last: bool = False) -> None:
        """Add entries at the end; `replace_last` puts the first in the place of the last one."""
        if replace_last and self._entries:
            gone = self._entries.pop()
            while self._rows and self._rows[-1].entry is gone:
                self._rows.pop()
                self.refresh()
        before = len(self._rows)
        self._entries.extend(entries)
        for entry in entries:
            self._rows.extend(self._wrap(entry))
        added = len(self._rows) - before
        removed = self._prune()
        self._settle(removed)
        if not self._follows:
            self.unseen += added
        self.post_message(self.Changed())

    def follow_end(self) -> None:
        """To the newest line, which is followed from now on; also while it is hidden."""
        self._go_to_end()
        self.post_message(self.Changed())

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._rows.clear()
        self._go_to_end()
        self.post_message(self.Changed())

    def set_filter(self, words: str) -> None:
        """Show only entries that contain all words, in any order and case."""
        if words != self._filter:
            self._filter = words
            self._wrap_all()
            self._go_to_end()
            self.post_message(self.Changed())

    def render_line(self, y: int) -> Strip:
        """One row of the part that is scrolled into view."""
        index = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if index >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[index]
        strip = self._strips.get(row)
        if strip is None:
            lead = row.entry.lead if row.first else Content(" " * row.entry.lead.cell_length)
            content = Content.assemble(lead, row.line)
            strips = Visual.to_strips(self, content, width, 1, self.visual_style, pad=True)
            strip = strips[0].crop_extend(0, width, self.rich_style)
            self._strips[row] = strip
        return strip

    def notify_style_update(self) -> None:
        """A theme change redraws in the new colours."""
        super().notify_style_update()
        self._strips.clear()

    def on_resize(self, event: Resize) -> None:
        """Another width wraps anew."""
        width = self.scrollable_content_region.width
        if width != self._wrapped_at:
            self._wrap_all()
        self._settle(0)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """At the end nothing is unseen any more; away from it nothing is followed."""
        super().watch_scroll_y(old_value, new_value)
        self._follows = self.is_vertical_scroll_end
        if self.unseen and self._follows:
            self.unseen = 0
            self.post_message(self.Changed())

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
        """To the newest line, which is followed again."""
        self.scroll_end(animate=False)

    def _go_to_end(self) -> None:
        self._follows = True
        self.unseen = 0
        self._settle(0)

    def _settle(self, removed: int) -> None:
        follows = self._follows
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows))
        if follows:
            # Forced: right after the first long batch the scrollbar is not there yet.
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        elif removed:
            # What the person reads stays where it is although older lines went away above it.
            self.scroll_to(y=max(0, self.scroll_offset.y - removed), animate=False, force=True)
        self.refresh()

    def _prune(self) -> int:
        surplus = len(self._entries) - self._max
        if surplus <= 0:
            return 0
        gone = set(map(id, self._entries[:surplus]))
        del self._entries[:surplus]
        rows = 0
        while rows < len(self._rows) and id(self._rows[rows].entry) in gone:
            rows += 1
        del self._rows[:rows]
        return rows

    def _wrap_all(self) -> None:
        self._wrapped_at = self.scrollable_content_region.width
        self._strips.clear()
        self._rows = [row for entry in self._entries for row in self._wrap(entry)]

    def _wrap(self, entry: Entry) -> list[_Row]:
        if self._filter:
            text = entry.text.casefold()
            if not all(word in text for word in self._filter.casefold().split()):
                return []
        room = max(_MIN_BODY, self._wrapped_at - entry.lead.cell_length)
        body = entry.body
        if "\n" not in body.plain and (not self._wrapped_at or body.cell_length <= room):
            return [_Row(entry, body, True)]
        lines = [part for line in body.split("\n", allow_blank=True) for part in line.wrap(room)]
        return [_Row(entry, line, index == 0) for index, line in enumerate(lines or [body])]
