"""What a redraw of the panels costs: `python tests/benchmarks/bench_widgets.py` prints a table.

CPU milliseconds of this process, the best of several rounds, so that a busy machine disturbs
little. Nothing is asserted: the figures are for people who change the drawing.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

import crafter
import numpy as np
from textual.app import App, ComposeResult
from textual.widget import Widget

from engine import events
from skills_db.records import EventRecord, FrameRecord
from studio.widgets.event_log import EventLog
from studio.widgets.frame_view import FrameView
from studio.widgets.metric_chart import MetricChart
from studio.widgets.training_panel import TrainingPanel

ROUNDS = 15
SIZE = (120, 40)


class Stage(App[None]):
    """One widget alone."""

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self._widget = widget

    def compose(self) -> ComposeResult:
        yield self._widget


def say(line: str) -> None:
    """One line of the table."""
    sys.stdout.write(line + "\n")


def cost(work: Callable[[], object]) -> float:
    """CPU milliseconds of the fastest round."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best * 1000


def lines(widget: Widget) -> None:
    """Draw all lines of a widget."""
    for y in range(widget.size.height):
        widget.render_line(y)


async def charts() -> None:
    for points in (100, 1_000, 10_000, 100_000, 1_000_000):
        chart = MetricChart("episodic return")
        chart.styles.width, chart.styles.height = 80, 24
        rng = random.Random(0)
        async with Stage(chart).run_test(size=SIZE) as pilot:
            for frame in range(points):
                chart.series.add(frame, rng.random() + frame / points)
            await pilot.pause()
            step = iter(range(points, points + ROUNDS + 1))

            def redraw(chart: MetricChart = chart, step: object = step) -> None:
                chart.add(next(step), 0.5)  # type: ignore[call-overload]
                lines(chart)

            say(f"chart 80x24, {points:>9,} points   {cost(redraw):6.2f} ms a redraw")


async def frames() -> None:
    env = crafter.Env(seed=3, size=(63, 63))
    env.reset()
    picture = np.ascontiguousarray(env.render((63, 63)), dtype=np.uint8)
    noise = np.random.default_rng(0).integers(0, 256, (63, 63, 3), dtype=np.uint8)
    for name, rgb in (("crafter", picture), ("noise", noise)):
        for size in ((80, 33), (46, 22)):
            view = FrameView()
            view.styles.width, view.styles.height = size
            async with Stage(view).run_test(size=SIZE) as pilot:
                await pilot.pause()
                seq = iter(range(1, 1000))

                def redraw(view: FrameView = view, rgb: object = rgb) -> None:
                    frame = FrameRecord("run", next(seq), 63, 63, rgb.tobytes(), "")  # noqa: B023
                    view._draw_now(frame)
                    lines(view)

                what = f"frame {name} 63x63 in {size[0]}x{size[1]}"
                say(f"{what:<34} {cost(redraw):6.2f} ms a redraw")


async def log() -> None:
    made = events.encode(events.LogLine(level="info", text="the fast agent wrote a new version"))
    records = [EventRecord("run", i, datetime.now(UTC), *made) for i in range(1, 5001)]
    widget = EventLog()
    async with Stage(widget).run_test(size=SIZE) as pilot:
        start = time.process_time()
        for i in range(0, len(records), 1000):
            widget.add(records[i : i + 1000])
        await pilot.pause()
        say(f"log, 5,000 events attached         {1000 * (time.process_time() - start):6.0f} ms")
        start = time.process_time()
        for record in records[:100]:
            widget.add([record])
        await pilot.pause()
        say(f"log, 1 event more                  {10 * (time.process_time() - start):6.2f} ms")


async def training() -> None:
    panel = TrainingPanel()
    async with Stage(panel).run_test(size=SIZE) as pilot:
        metrics = events.TrainingMetrics(
            frames=0, frames_total=10**9, success_rate=0.5, episodic_return=1.0,
            episodic_length=100.0, sps=1000.0, entropy=1.0, approx_kl=0.01, clipfrac=0.1,
            explained_variance=0.5, policy_loss=0.0, value_loss=0.0, decisions=1,
            coded_share=0.2, eta_seconds=10.0,
        )  # fmt: skip
        start = time.process_time()
        for update in range(1, 5001):
            panel.metrics(metrics.model_copy(update={"frames": update * 1024}))
        await pilot.pause()
        say(f"training, 5,000 updates attached   {1000 * (time.process_time() - start):6.0f} ms")
        start = time.process_time()
        for update in range(5001, 5051):
            panel.metrics(metrics.model_copy(update={"frames": update * 1024}))
            await pilot.pause()
        say(f"training 120x40, 1 update, all     {20 * (time.process_time() - start):6.1f} ms")


async def main() -> None:
    """Everything, one after the other."""
    for part in (charts, frames, log, training):
        await part()


if __name__ == "__main__":
    asyncio.run(main())
