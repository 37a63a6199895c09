"""A line chart of one metric over env frames, cheap enough to be redrawn all day."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual.app import RenderResult
from textual.strip import Strip
from textual.widget import Widget

from studio.widgets.charset import ascii_only
from studio.widgets.chart_geometry import (
    Plot,
    ascii_rows,
    braille_rows,
    line_spans,
    mean_spans,
    nice_range,
)
from studio.widgets.series import Series
from studio.words import compact

_LABEL_WIDTH = 6
_MIN_PLOT = 8
_NEAR_ZERO = 0.05
"""An axis that would begin this close to zero begins at zero."""


class MetricChart(Widget):
    """Title and latest value, y labels, the line, and the x axis in env frames."""

    COMPONENT_CLASSES = {
        "metric-chart--title",
        "metric-chart--value",
        "metric-chart--line",
        "metric-chart--band",
        "metric-chart--axis",
    }
    DEFAULT_CSS = """
    MetricChart {
        height: 8;
        min-height: 3;
        min-width: 16;
        & > .metric-chart--title { color: $foreground; }
        & > .metric-chart--value { color: $text-primary; text-style: bold; }
        & > .metric-chart--line { color: $text-primary; }
        & > .metric-chart--band { color: $primary 45%; }
        & > .metric-chart--axis { color: $text-muted; }
        &:ansi > .metric-chart--axis, &:ansi > .metric-chart--band { text-style: dim; }
        &:nocolor > .metric-chart--line { text-style: bold; }
        &:nocolor > .metric-chart--band { text-style: dim; }
    }
    """

    def __init__(
        self,
        title: str,
        *,
        y_low: float | None = None,
        y_high: float | None = None,
        value_words: Callable[[float], str] = compact,
        about: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """A chart.

        Args:
            title: The metric's name, as in CleanRL and SB3.
            y_low: Lower end of the y axis unless a value lies below it; None fits it to the data.
            y_high: The same for the upper end.
            value_words: How the latest value and the y axis are written.
            about: What the metric means, shown as a tooltip.
            id: Widget id.
            classes: CSS classes.
        """
        super().__init__(id=id, classes=classes)
        self.title = title
        self.series = Series()
        self._fixed = (y_low, y_high)
        self._value_words = value_words
        self.tooltip = about or None
        self._strips: list[Strip] = []
        self._drawn_for: tuple[object, ...] = ()
        self._version = 0

    def add(self, frames: float, value: float | None, *, redraw: bool = True) -> None:
        """Append a point; None and NaN become a gap.

        Args:
            redraw: False when the caller asks for the redraw of many points itself.
        """
        self.series.add(frames, value)
        self._version += 1
        if redraw:
            self.refresh()

    def clear(self) -> None:
        """Forget everything."""
        self.series.clear()
        self._version += 1
        self.refresh()

    def render(self) -> RenderResult:
        """Text for what asks for the whole widget at once."""
        return "\n".join(strip.text for strip in self._draw())

    def render_line(self, y: int) -> Strip:
        """One line of the chart."""
        strips = self._draw()
        return strips[y] if y < len(strips) else Strip.blank(self.size.width, self.rich_style)

    def notify_style_update(self) -> None:
        """A theme change redraws in the new colours."""
        super().notify_style_update()
        self._drawn_for = ()

    def _draw(self) -> list[Strip]:
        width, height = self.size
        state = (width, height, self._version, ascii_only(self))
        if state != self._drawn_for:
            self._strips = self._draw_strips(width, height, ascii_only(self))
            self._drawn_for = state
        return self._strips

    def _draw_strips(self, width: int, height: int, plain: bool) -> list[Strip]:
        base = self.rich_style
        axis = self._style("axis")
        strips = [self._title_strip(width)]
        rows = height - 1 - (height >= 5)
        bounds = self.series.bounds()
        plot = width - _LABEL_WIDTH - 1
        if rows < 1 or plot < _MIN_PLOT:
            return strips
        if bounds is None:
            text = "no figures yet"[:width].center(width)
            blank = Strip.blank(width, base)
            note = Strip([Segment(text, axis)])
            middle = rows // 2
            return strips + [note if row == middle else blank for row in range(height - 1)]
        y_range = nice_range(bounds.y_low, bounds.y_high, *self._fixed)
        near_zero = 0 <= bounds.x_low <= bounds.x_high * _NEAR_ZERO
        x_range = (0.0 if near_zero else bounds.x_low, bounds.x_high)
        lines = self._plot_rows(plot, rows, x_range, y_range, plain)
        labels = {0: y_range[1], rows - 1: y_range[0]}
        if rows >= 7 and rows % 2:
            labels[rows // 2] = (y_range[0] + y_range[1]) / 2
        tick, wall, corner, floor = ("+", "|", "+", "-") if plain else ("┤", "│", "└", "─")
        for row, line in enumerate(lines):
            label = self._value_words(labels[row]) if row in labels else ""
            mark = tick if row in labels else wall
            strips.append(
                Strip(
                    [
                        Segment(f"{label:>{_LABEL_WIDTH}}{mark}", axis),
                        *line,
                    ],
                    width,
                )
            )
        if height >= 5:
            left, right = compact(x_range[0]), f"{compact(x_range[1])} frames"
            inner = plot - len(left) - len(right) - 2
            if inner < 0:
                left, inner = "", max(0, plot - len(right) - 1)
            space = f" {floor * inner} " if left else f"{floor * inner} "
            text = f"{'':>{_LABEL_WIDTH}}{corner}{left}{space}{right}"
            strips.append(Strip([Segment(text[:width].ljust(width), axis)], width))
        return strips

    def _plot_rows(
        self,
        width: int,
        height: int,
        x_range: tuple[float, float],
        y_range: tuple[float, float],
        plain: bool,
    ) -> list[list[Segment]]:
        """The line; with more points than columns, the mean on the band of all values."""
        per_cell, per_row, draw = (1, 2, ascii_rows) if plain else (2, 4, braille_rows)
        plot = Plot(x_range, y_range, width * per_cell, height * per_row)
        buckets = self.series.buckets
        values = draw(line_spans(buckets, plot), height)
        line, band = self._style("line"), self._style("band")
        if self.series.points <= plot.columns:
            return [[Segment(row, line)] for row in values]
        means = draw(mean_spans(buckets, plot), height)
        return [
            _overlay(mean, value, line, band) for mean, value in zip(means, values, strict=True)
        ]

    def _title_strip(self, width: int) -> Strip:
        latest = self.series.latest
        value = "-" if latest is None else self._value_words(latest)
        room = max(0, width - len(value) - 1)
        title = self.title[:room].ljust(room)
        return Strip(
            [
                Segment(title, self._style("title")),
                Segment(f" {value}"[-width:] if width else "", self._style("value")),
            ]
        )

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"metric-chart--{part}")


def _overlay(front: str, back: str, front_style: Style, back_style: Style) -> list[Segment]:
    """Two rows in one: the front character where there is one, else the one behind."""
    segments: list[Segment] = []
    start = 0
    for index in range(1, len(front) + 1):
        in_front = front[start] != " "
        if index == len(front) or (front[index] != " ") != in_front:
            text = (front if in_front else back)[start:index]
            segments.append(Segment(text, front_style if in_front else back_style))
            start = index
    return segments
