"""What the frames of a training go to: share now, trend since the start, change, by action."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from studio.widgets.bars import spark_line
from studio.widgets.charset import ascii_only
from studio.widgets.paint import toned
from studio.widgets.usage_history import PLAN, PRIMITIVES, UsageHistory
from studio.words import percent

ABOUT = (
    "Share of the last updates' frames that each action took, its trend since the start of the "
    "training (each to its own height), and the change in points since the first update; the last "
    "line: how often the policy chose what code alone would run next."
)
_SHARE, _CHANGE = 5, 7
"""Widths of the columns of figures, each with the space before it."""
_NAME_LEAST, _TREND_LEAST, _TREND_MOST = 10, 8, 48
"""Narrower than this a name says nothing, and a trend (with the space before it) neither."""
_GUTTER = 3
_TWO_COLUMNS = 70
"""Width from which two actions stand side by side."""
_ROWS = {1: 8, 2: 6}
"""Rows of actions at most, by columns: more than that nobody compares."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the table; several rare actions may share it."""

    words: str
    names: tuple[str, ...]
    muted: bool = False


_PLAN = {1: _Line("decisions on plan", (PLAN,)), 2: _Line("follows plan", (PLAN,))}
"""The last line by columns: with two there is room behind it to say of what it is a share."""


class UsageTable(Widget):
    """The most used actions of late, the rest together, and how much the plan is followed."""

    DEFAULT_CSS = """
    UsageTable { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.history = UsageHistory()
        self.tooltip = ABOUT

    def add(self, frames: float, usage: Mapping[str, float], plan_share: float | None) -> None:
        """Shares of one update; whoever tells of many asks for the redraw itself."""
        self.history.add(frames, usage, plan_share)

    def rewind(self, frames: float) -> None:
        """The training goes on from here: what was measured behind it was lost."""
        self.history.rewind(frames)
        self.refresh()

    def clear(self) -> None:
        """Forget everything."""
        self.history.clear()
        self.refresh()

    def rows_wanted(self, width: int, actions: int) -> int:
        """Rows of actions that a table of this width likes to have, for so many actions."""
        columns = _columns(width)
        return max(1, min(_ROWS[columns], math.ceil(actions / columns)))

    def render(self) -> RenderResult:
        """A line of headings, the actions, the plan."""
        width, height = max(1, self.size.width), self.size.height
        columns = _columns(width)
        lines = self._choose(max(1, height - 2) * columns)
        if not lines:
            return toned("no figures yet", "muted")
        cell = (width - _GUTTER * (columns - 1)) // columns
        name, trend = _widths(cell, max(len(line.words) for line in [*lines, _PLAN[columns]]))
        rows = math.ceil(len(lines) / columns)
        shown = [_side_by_side([_headings(name, trend, at == 0) for at in range(columns)], cell)]
        for row in range(rows):
            cells = [self._line(line, name, trend) for line in lines[row::rows]]
            shown.append(_side_by_side(cells, cell))
        shown.append(self._plan(name, trend, columns))
        return Content("\n").join(line.truncate(width) for line in shown[:height])

    def _choose(self, places: int) -> list[_Line]:
        """As many actions as there are places for; what is left over shares the last place."""
        names = self.history.names()
        if len(names) > places:
            names, rest = names[: places - 1], tuple(names[places - 1 :])
            return [*map(_single, names), _Line(f"{len(rest)} others", rest, muted=True)]
        return [_single(name) for name in names]

    def _plan(self, name: int, trend: int, columns: int) -> Content:
        line = self._line(_PLAN[columns], name, trend)
        note = toned(" " * _GUTTER + "of the decisions", "muted")
        return line + note if columns > 1 else line

    def _line(self, line: _Line, name: int, trend: int) -> Content:
        """Exactly as wide as `_widths` says."""
        felt = "dim" if line.muted else ""
        label = Content.styled(line.words, felt).truncate(name - 1, ellipsis=True)
        share = percent(self.history.now(line.names))
        change = _points(self.history.change(line.names))
        parts = [label.pad_right(name - label.cell_length), Content.styled(f"{share:>5}", felt)]
        if trend:
            values = self.history.trend(line.names, trend)
            bars = spark_line(values, "$primary 70%", ascii_only=ascii_only(self))
            parts += [Content("  "), bars]
        return Content("").join([*parts, toned(f"{change:>{_CHANGE}}", "muted")])


def _columns(width: int) -> int:
    return 2 if width >= _TWO_COLUMNS else 1


def _widths(cell: int, longest: int) -> tuple[int, int]:
    """Cells for the name, with the space behind it, and for the trend (0 for none)."""
    room = cell - _SHARE - _CHANGE
    if room < _NAME_LEAST + _TREND_LEAST:
        return max(2, min(longest + 1, room)), 0
    name = min(longest + 1, room - _TREND_LEAST)
    return name, min(_TREND_MOST, room - name - 2)


def _headings(name: int, trend: int, is_first: bool) -> Content:
    title = "actions" if is_first else ""
    labels = f"{'frames':>6}" if name > _NAME_LEAST else f"{'now':>5}"
    lead = Content.styled(f"{title:<{name + 5 - len(labels)}}"[: name + 5 - len(labels)], "bold")
    between = f"  {'trend':<{trend}}" if trend else ""
    return Content.assemble(lead, toned(f"{labels}{between}{'change':>{_CHANGE}}", "muted"))


def _side_by_side(cells: list[Content], width: int) -> Content:
    padded = [cell.pad_right(max(0, width - cell.cell_length)) for cell in cells]
    return Content(" " * _GUTTER).join(padded)


def _single(name: str) -> _Line:
    if name == PRIMITIVES:
        return _Line("primitives", (name,), muted=True)
    return _Line(name, (name,))


def _points(change: float | None) -> str:
    if change is None:
        return "-"
    points = round(100 * change)
    return f"{points:+d}" if points else "0"
