"""The run's history as human lines with times; `/` filters, scrolling up stops the following."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from studio import keymap
from studio.event_words import describe, line_of, tone
from studio.widgets.follow_lines import Entry, FollowLines
from studio.widgets.paint import toned
from studio.words import moment, plural

if TYPE_CHECKING:
    from skills_db.records import EventRecord

_HIDDEN_KINDS = frozenset({"device"})
"""The device panel shows them; here they would only push the rest away."""


class EventLog(Vertical):
    """One line an event. Figures and episodes that come all the time rewrite one line."""

    DEFAULT_CSS = """
    EventLog {
        height: 1fr;
        min-height: 3;
        & > Input { display: none; height: 1; border: none; padding: 0; background: $panel; }
        &.-filtering > Input { display: block; }
    }
    """
    BINDINGS = keymap.bindings("find", "dialog", only=frozenset({"find.filter", "dialog.back"}))

    def __init__(
        self, *, max_lines: int = 2000, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._lines = FollowLines(max_entries=max_lines)
        self._last_line: str | None = None
        self._last_day: date | None = None

    def compose(self) -> ComposeResult:
        """The lines, and the filter below them while one is typed."""
        yield self._lines
        yield Input(placeholder="words to look for; esc shows all again", compact=True)

    @property
    def lines(self) -> FollowLines:
        """The scrolling part."""
        return self._lines

    def add(self, events: Sequence[EventRecord]) -> None:
        """Append events in order."""
        batch: list[Entry] = []
        replace = False
        for record in events:
            if record.kind in _HIDDEN_KINDS:
                continue
            day = record.time.astimezone().date()
            if self._last_day not in (None, day):
                batch.append(Entry(Content(), toned(f"{day:%A, %-d %B %Y}", "muted")))
                self._last_line = None
            self._last_day = day
            entry, line = _entry(record), line_of(record)
            if line is not None and line == self._last_line:
                if batch:
                    batch.pop()
                else:
                    replace = True
            batch.append(entry)
            self._last_line = line
        if batch:
            self._lines.append(batch, replace_last=replace)

    def clear(self) -> None:
        """Forget everything."""
        self._last_line = None
        self._last_day = None
        self._lines.clear()

    def action_filter(self) -> None:
        """Type words; only lines that have them stay."""
        self.add_class("-filtering")
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _filter_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._lines.set_filter(event.value)

    @on(Input.Submitted)
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self._lines.focus()
        self.set_class(bool(event.value), "-filtering")

    def action_back(self) -> None:
        """Leave the filter and show all lines again."""
        self.query_one(Input).value = ""
        self.remove_class("-filtering")
        self._lines.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a filter, escape is for whoever is above."""
        return action != "back" or self.has_class("-filtering")

    @on(FollowLines.Changed)
    def _count(self, event: FollowLines.Changed) -> None:
        event.stop()
        lines = self._lines
        parts = []
        if self.query_one(Input).value:
            parts.append(f"{lines.shown} of {plural(len(lines.entries), 'line')}")
        if lines.unseen:
            parts.append(f"{plural(lines.unseen, 'new line')} below, G")
        self.border_subtitle = Content("  ".join(parts))


def _entry(record: EventRecord) -> Entry:
    lead = toned(f"{moment(record.time, record.time)}  ", "muted")
    return Entry(lead, toned(describe(record), tone(record)))
