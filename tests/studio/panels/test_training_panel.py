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


async def test_a_long_run_read_again_is_drawn_a_few_times(
    make: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    update = TrainingHead.update

    def count(head: TrainingHead, event: events.TrainingMetrics) -> None:
        drawn.append(event.frames)
        update(head, event)

    monkeypatch.setattr(TrainingHead, "update", count)
    app = TrainingApp()
    async with app.run_test(size=(120, 40)) as pilot:
        made = make.training_events(400)
        feed(app, made[:200])
        await pilot.pause()
        feed(app, made[200:])
        await pilot.pause(0.3)
        assert drawn[-1] == 409_600
        assert len(drawn) <= 3
        assert "409,600" in app.text(TrainingHead)


@pytest.mark.parametrize("width", [44, 60, 75, 76, 90, 120])
async def test_the_network_is_said_without_cutting(width: int) -> None:
    app = TrainingApp()
    async with app.run_test(size=(width, 40)) as pilot:
        app.panel.started(
            events.TrainingStarted(
                frames_total=100_000,
                frames_done=0,
                actions=tuple(f"action_{index}" for index in range(34)),
                coded_actions=17,
                device="cpu",
                parameters=440_123,
            )
        )
        app.panel.metrics(metrics(1000))
        await pilot.pause()
        text = app.text(TrainingFigures)
        assert "34 actions, 17 coded" in text
        assert "440k parameters" in text
        assert "policy loss" in text


async def test_a_success_rate_of_one_stays_within_its_axis() -> None:
    app = TrainingApp()
    async with app.run_test(size=(120, 40)) as pilot:
        for frames in (1000, 2000, 3000):
            app.panel.metrics(metrics(frames).model_copy(update={"success_rate": 1.0}))
        await pilot.pause()
        chart = app.panel.charts["success_rate"]
        lines = [chart.render_line(y).text for y in range(chart.size.height)]
        assert lines[1].startswith(" 100 %")
        assert any(line.startswith("   0 %") for line in lines)


def metrics(frames: int) -> events.TrainingMetrics:
    return events.TrainingMetrics(
        frames=frames,
        frames_total=100_000,
        success_rate=0.5,
        episodic_return=1.0,
        episodic_length=100.0,
        sps=1000.0,
        entropy=1.0,
        approx_kl=0.01,
        clipfrac=0.1,
        explained_variance=0.5,
        policy_loss=0.0,
        value_loss=0.0,
        decisions=100,
        coded_share=0.2,
        eta_seconds=10.0,
    )
