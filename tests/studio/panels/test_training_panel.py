from __future__ import annotations

from types import ModuleType

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widget import Widget

from engine import events
from studio.widgets.device_panel import DevicePanel
from studio.widgets.training_panel import TrainingFigures, TrainingHead, TrainingPanel


class TrainingApp(App[None]):
    def compose(self) -> ComposeResult:
        yield TrainingPanel()

    @property
    def panel(self) -> TrainingPanel:
        return self.query_one(TrainingPanel)

    def text(self, kind: type[Widget]) -> str:
        widget = self.query_one(kind)
        return "\n".join(strip.text for strip in widget.render_lines(widget.size.region))


def feed(app: TrainingApp, made: list[events.Event]) -> None:
    for event in made:
        match event:
            case events.TrainingStarted():
                app.panel.started(event)
            case events.TrainingMetrics():
                app.panel.metrics(event)
            case events.DeviceSampled():
                app.panel.device(event)


def in_view(app: TrainingApp) -> list[str]:
    body = app.query_one(VerticalScroll).region
    return [
        name
        for name, chart in app.panel.charts.items()
        if body.contains_region(chart.region) and chart.size.height >= 6
    ]


async def test_everything_at_once_on_120x40(make: ModuleType) -> None:
    app = TrainingApp()
    async with app.run_test(size=(120, 40)) as pilot:
        feed(app, make.training_events(400))
        await pilot.pause()
        assert len(in_view(app)) == 6
        body = app.query_one(VerticalScroll)
        assert body.max_scroll_y == 0
        assert body.region.contains_region(app.query_one(DevicePanel).region)
        head = app.text(TrainingHead)
        assert "● training  409,600 of 1,000,000 env frames" in head
        assert "SPS" in head
        assert "ETA 6 min 25 s" in head
        assert " 40 %" in head
        figures = app.text(TrainingFigures)
        assert "231 frames" in figures
        assert "23 % of decisions" in figures
        assert "21 actions, 4 coded, 52.3k parameters" in figures


@pytest.mark.parametrize("size", [(80, 24), (80, 20), (70, 25), (60, 16)])
async def test_the_important_comes_first_when_small(
    make: ModuleType, size: tuple[int, int]
) -> None:
    app = TrainingApp()
    async with app.run_test(size=size) as pilot:
        feed(app, make.training_events(400))
        await pilot.pause()
        assert {"success_rate", "episodic_return"} <= set(in_view(app))
        head = app.text(TrainingHead)
        assert "409,600" in head
        assert "ETA" in head
        app.query_one(VerticalScroll).focus()
        await pilot.press("G")
        await pilot.pause()
        assert app.query_one(DevicePanel).region.bottom <= size[1]


async def test_a_pause_is_seen(make: ModuleType) -> None:
    app = TrainingApp()
    async with app.run_test(size=(120, 40)) as pilot:
        feed(app, make.training_events(10))
        app.panel.show_state("paused")
        await pilot.pause()
        assert "‖ paused" in app.text(TrainingHead)
        assert "ETA when it goes on" in app.text(TrainingHead)
        app.panel.show_state("training")
        await pilot.pause()
        assert "● training" in app.text(TrainingHead)


async def test_before_the_training_and_after_clear(make: ModuleType) -> None:
    app = TrainingApp()
    async with app.run_test(size=(120, 40)) as pilot:
        assert "Training has not begun yet." in app.text(TrainingHead)
        feed(app, make.training_events(10))
        app.panel.clear()
        await pilot.pause()
        assert "Training has not begun yet." in app.text(TrainingHead)
        assert "not finished yet" in app.text(TrainingFigures)
        assert all(not len(chart.series) for chart in app.panel.charts.values())


async def test_a_machine_without_gpu() -> None:
    app = TrainingApp()
    async with app.run_test(size=(120, 40)) as pilot:
        app.panel.device(
            events.DeviceSampled(
                name="Some CPU with [markup]",
                is_gpu=False,
                utilisation=97,
                memory_used_gb=4.1,
                memory_total_gb=None,
                temperature_c=None,
                cpu_percent=61,
                rss_gb=0.9,
            )
        )
        await pilot.pause()
        text = app.text(DevicePanel)
        assert "CPU  Some CPU with [markup]" in text
        assert "97 %" in text
        assert "61 %" in text
        assert "temperature" not in text
        assert "0.9 GB" in text
        memory = next(line for line in text.splitlines() if line.startswith("memory "))
        assert memory.split() == ["memory", "-"]


async def test_a_hot_gpu_is_said_in_words(make: ModuleType) -> None:
    app = TrainingApp()
    async with app.run_test(size=(120, 40)) as pilot:
        sample = make.training_events(0)[-1].model_copy(update={"temperature_c": 91.0})
        app.panel.device(sample)
        await pilot.pause()
        assert "91 °C  hot" in app.text(DevicePanel)
        assert "12.3 of 139.8 GB" in app.text(DevicePanel)
