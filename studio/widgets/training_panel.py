"""The training as one wants to watch it for hours: progress, curves, actions, the machine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from textual.app import ComposeResult, RenderResult
from textual.containers import Grid, Horizontal, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.timer import Timer
from textual.widget import Widget

from studio import keymap
from studio.widgets.bars import line_bar
from studio.widgets.charset import ascii_only
from studio.widgets.device_panel import DevicePanel
from studio.widgets.metric_chart import MetricChart
from studio.widgets.paint import STYLES, spread, toned
from studio.widgets.training_layout import layout
from studio.widgets.usage_table import ABOUT as ABOUT_ACTIONS
from studio.widgets.usage_table import UsageTable
from studio.words import compact, duration, percent, plural, state_sign

if TYPE_CHECKING:
    from engine.events import DeviceSampled, TrainingMetrics, TrainingStarted

ABOUT = {
    "success_rate": "Share of the last 100 finished episodes in which the task was done.",
    "episodic_return": "Mean sum of rewards of the last finished episodes.",
    "sps": "Env frames per second, learning included.",
    "entropy": "How undecided the policy is; it should fall slowly, not at once.",
    "approx_kl": "How far an update moved the policy; far above 0.02 is too far.",
    "explained_variance": "How well the value function predicts returns: 1 is perfect, 0 useless.",
    "actions": ABOUT_ACTIONS,
}
"""What each curve and the table of actions mean, for tooltips and help."""

_NARROW, _WIDE = 48, 96
_HEAD_HEIGHT, _LOWER_HEIGHT = 3, 7
_SHARE = 33
"""Columns the share of coded actions needs with what it is a share of."""
_FIGURES = 42
"""Columns the longest line of the figures needs; with fewer it takes two lines."""
_SECONDS_A_DRAWING = 0.1
"""Events may come much faster (a long run that is read again): they are drawn together."""


class TrainingPanel(Widget):
    """Feed it events; it redraws when there is something new and it is in view."""

    DEFAULT_CSS = """
    TrainingPanel {
        height: 1fr;
        min-height: 6;
        & > TrainingHead { height: 3; }
        & > VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
        & MetricChart { height: 1fr; }
        & Grid { height: auto; grid-size: 3; grid-gutter: 0 3; }
        & Horizontal { height: auto; margin: 1 0 0 0; }
        & TrainingFigures { width: 1fr; height: 7; }
        & DevicePanel { width: 1fr; margin: 0 0 0 2; }
        &.-narrow Horizontal { layout: vertical; }
        &.-narrow DevicePanel { margin: 1 0 0 0; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._metrics: TrainingMetrics | None = None
        self._sample: DeviceSampled | None = None
        self._drawing = False
        self._pause: Timer | None = None
        self._head = TrainingHead()
        self._figures = TrainingFigures()
        self._device = DevicePanel()
        self._usage = UsageTable()
        self._usage.display = False
        self._actions = 0
        """Lines that all actions would take in the table of their use; 0 without coded ones."""
        self._charts = {
            "success_rate": MetricChart(
                "success rate", y_low=0, y_high=1, value_words=percent, about=ABOUT["success_rate"]
            ),
            "episodic_return": MetricChart("episodic return", about=ABOUT["episodic_return"]),
            "sps": MetricChart("SPS", y_low=0, about=ABOUT["sps"]),
            "entropy": MetricChart("entropy", y_low=0, about=ABOUT["entropy"]),
            "approx_kl": MetricChart("approx_kl", y_low=0, about=ABOUT["approx_kl"]),
            "explained_variance": MetricChart(
                "explained variance", y_high=1, about=ABOUT["explained_variance"]
            ),
        }

    def compose(self) -> ComposeResult:
        """Progress stays in view; curves and figures scroll when there is too little space."""
        yield self._head
        with ChartScroll():
            with Grid():
                yield from self._charts.values()
                yield self._usage
            with Horizontal():
                yield self._figures
                yield self._device

    @property
    def charts(self) -> dict[str, MetricChart]:
        """The six curves by the names of the metrics."""
        return dict(self._charts)

    def started(self, event: TrainingStarted) -> None:
        """Training begins or goes on."""
        self._show_newest()  # figures from before belong before
        self._actions = event.coded_actions + 1 if event.coded_actions else 0
        self._usage.rewind(event.frames_done)
        self._head.start(event)
        self._figures.start(event)

    def metrics(self, event: TrainingMetrics) -> None:
        """Figures of one more update."""
        for name, chart in self._charts.items():
            chart.add(event.frames, getattr(event, name), redraw=False)
        self._usage.add(event.frames, event.usage, event.plan_share)
        self._metrics = event
        self._draw_soon()

    def device(self, event: DeviceSampled) -> None:
        """What the machine does now."""
        self._sample = event
        self._draw_soon()

    def show_state(self, state: str) -> None:
        """The run's state, so that a pause is seen here too."""
        self._head.show_state(state)

    def clear(self) -> None:
        """Forget everything."""
        self._metrics = self._sample = None
        for chart in self._charts.values():
            chart.clear()
        self._usage.clear()
        self._show_usage()
        self._head.clear()
        self._figures.clear()
        self._device.show(None)

    def _draw_soon(self) -> None:
        """Once everything that is there now has been told, and not again for a while."""
        if not self._drawing:
            self._drawing = True
            if self._pause is None:
                self.call_later(self._draw)

    def _draw(self) -> None:
        self._drawing = False
        self._show_newest()
        if self._pause is None and self.is_mounted:
            self._pause = self.set_timer(_SECONDS_A_DRAWING, self._paused)

    def _show_newest(self) -> None:
        if self._metrics is not None:
            self._head.update(self._metrics)
            self._figures.update(self._metrics)
            for chart in self._charts.values():
                chart.refresh()
            self._usage.refresh()
            self._show_usage()
        if self._sample is not None:
            self._device.show(self._sample)
        self._metrics = self._sample = None

    def _paused(self) -> None:
        self._pause = None
        if self._drawing:
            self._draw()

    def _show_usage(self) -> None:
        """The table is there once there is something in it: older runs did not tell."""
        wanted = bool(self._actions and len(self._usage.history))
        if wanted != self._usage.display:
            self._usage.display = wanted
            self._fit()

    def on_resize(self, event: Resize) -> None:
        """Another size, another layout."""
        self._fit()

    def _fit(self) -> None:
        """All at once where it fits; else the important first and the rest by scrolling."""
        width, height = self.size
        columns = 3 if width >= _WIDE else 2 if width >= _NARROW else 1
        self.set_class(columns == 1, "-narrow")
        beside = width if columns == 1 else width // 2 - 1
        lower = _LOWER_HEIGHT + (beside < _FIGURES)
        self._figures.styles.height = lower
        rows = math.ceil(len(self._charts) / columns)
        fitting = layout(
            body=height - _HEAD_HEIGHT,
            rows=rows,
            below=lower + 1,
            actions=self._usage.rows_wanted(width, self._actions) if self._usage.display else 0,
        )
        grid = self.query_one(Grid)
        grid.styles.grid_size_columns = columns
        grid.styles.grid_gutter_horizontal = fitting.gap
        heights = [fitting.chart] * rows
        if self._usage.display:
            # Where not all is in view, after the curves that matter most.
            charts = [*self._charts.values()]
            before = max(2, columns) if fitting.scrolls else len(charts)
            grid.move_child(self._usage, after=charts[before - 1])
            self._usage.styles.column_span = columns
            self._usage.styles.padding = (fitting.above, 0, int(fitting.scrolls), 0)
            heights.insert(before // columns, fitting.usage)
        grid.styles.grid_rows = " ".join(map(str, heights))
        grid.styles.height = sum(heights) + fitting.gap * (len(heights) - 1)


class ChartScroll(VerticalScroll):
    """Scrolls like every list."""

    BINDINGS = keymap.bindings("list")

    def action_cursor_down(self) -> None:
        """A little down."""
        self.scroll_down(animate=False)

    def action_cursor_up(self) -> None:
        """A little up."""
        self.scroll_up(animate=False)

    def action_first(self) -> None:
        """To the first curves."""
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        """To the figures."""
        self.scroll_end(animate=False)


class TrainingHead(Widget):
    """State, frames, speed and ETA over a progress bar."""

    def __init__(self) -> None:
        super().__init__()
        self._state = ""
        self._done = 0
        self._total = 0
        self._sps: float | None = None
        self._eta: float | None = None

    def start(self, event: TrainingStarted) -> None:
        """Budget and where it goes on from."""
        self._done, self._total = event.frames_done, event.frames_total
        self._eta = None
        self.refresh()

    def update(self, event: TrainingMetrics) -> None:
        """Progress after an update."""
        self._done, self._total = event.frames, event.frames_total
        self._sps, self._eta = event.sps, event.eta_seconds
        self.refresh()

    def show_state(self, state: str) -> None:
        """The run's state."""
        if state != self._state:
            self._state = state
            self.refresh()

    def clear(self) -> None:
        """Nothing is known."""
        self._state, self._done, self._total, self._sps, self._eta = "", 0, 0, None, None
        self.refresh()

    def render(self) -> RenderResult:
        """Two lines."""
        width = max(1, self.size.width)
        plain = ascii_only(self)
        if not self._total:
            return toned("Training has not begun yet.", "muted")
        share = self._done / self._total
        sign = state_sign(self._state or ("finished" if share >= 1 else "training"))
        left = Content.assemble(
            (f"{sign.mark(plain)} {sign.word}", STYLES[sign.tone]),
            f"  {self._done:,}",
            toned(f" of {self._total:,} env frames", "muted"),
        )
        right = self._pace(width - left.cell_length - 2)
        number = f" {math.floor(100 * share):3d} %"
        bar = line_bar(share, max(1, width - len(number)), "$primary", ascii_only=plain)
        return Content("\n").join([spread(left, right, width), bar + Content(number)])

    def _pace(self, room: int) -> Content:
        parts = []
        if self._sps is not None:
            parts.append(Content.assemble(compact(self._sps), toned(" SPS", "muted")))
        if self._state == "paused":
            parts.append(toned("ETA when it goes on", "muted"))
        elif self._eta is not None and self._done < self._total:
            parts.append(Content.assemble(toned("ETA ", "muted"), duration(self._eta)))
        while parts and sum(part.cell_length + 3 for part in parts) - 3 > room:
            parts.pop(0)
        return Content("   ").join(parts)


class TrainingFigures(Widget):
    """The numbers of the last update that have no curve of their own."""

    def __init__(self) -> None:
        super().__init__()
        self._started: TrainingStarted | None = None
        self._metrics: TrainingMetrics | None = None

    def start(self, event: TrainingStarted) -> None:
        """Action space and network."""
        self._started = event
        self.refresh()

    def update(self, event: TrainingMetrics) -> None:
        """Figures of an update."""
        self._metrics = event
        self.refresh()

    def clear(self) -> None:
        """Nothing is known."""
        self._started = self._metrics = None
        self.refresh()

    def render(self) -> RenderResult:
        """A title line and pairs of label and number."""
        lines = [Content.assemble(("last update", "bold"))]
        metrics, started = self._metrics, self._started
        if metrics is None:
            lines.append(toned("not finished yet", "muted"))
        else:
            length = metrics.episodic_length
            share = percent(metrics.coded_share)
            if self.size.width >= _SHARE:
                share += " of decisions"
            pairs = [
                ("episode length", "-" if length is None else f"{compact(length)} frames"),
                ("decisions", f"{metrics.decisions:,}"),
                ("coded actions", share),
                ("clipfrac", compact(metrics.clipfrac)),
                ("policy loss", compact(metrics.policy_loss)),
                ("value loss", compact(metrics.value_loss)),
            ]
            lines += self._paired(pairs)
        if started is not None:
            words = f"{plural(len(started.actions), 'action')}, {started.coded_actions} coded"
            network = f"{compact(started.parameters)} parameters"
            if len(words) + len(network) + 2 <= self.size.width:
                words, network = f"{words}, {network}", ""
            lines += [toned(text, "muted") for text in (words, network) if text]
        return Content("\n").join(lines)

    def _paired(self, pairs: list[tuple[str, str]]) -> list[Content]:
        cells = [Content.assemble(toned(f"{name:<15}", "muted"), text) for name, text in pairs]
        if self.size.width < 66:
            return cells[:5]
        half = self.size.width // 2
        return [
            cells[i].pad_right(max(1, half - cells[i].cell_length)) + cells[i + 1]
            for i in range(0, len(cells), 2)
        ]
