"""Pictures of the panels and screens; `make snapshots` draws them anew after a look."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from engine import events
from skills_db.database import Database
from skills_db.records import FrameRecord
from studio.app import StudioApp
from studio.styles.themes import THEMES
from studio.widgets.evaluation_panel import EvaluationPanel
from studio.widgets.event_log import EventLog
from studio.widgets.pick_list import PickList
from studio.widgets.training_panel import TrainingPanel
from studio.widgets.trial_panel import TrialPanel

Settle = Callable[[Pilot[str]], Awaitable[None]]
OpenScreen = Callable[[Pilot[str], str], Awaitable[None]]
Compare = Callable[..., bool]
sizes = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])


class PanelApp(App[None]):
    """One panel in the studio's colours."""

    def __init__(self, panel: Widget, theme: str = "studio-dark") -> None:
        super().__init__()
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme
        self._panel = panel

    def compose(self) -> ComposeResult:
        yield self._panel


def train(panel: TrainingPanel, made: list[events.Event]) -> None:
    for event in made:
        match event:
            case events.TrainingStarted():
                panel.started(event)
            case events.TrainingMetrics():
                panel.metrics(event)
            case events.DeviceSampled():
                panel.device(event)


@sizes
def test_training_panel(snap_compare: Compare, make: ModuleType, size: tuple[int, int]) -> None:
    panel = TrainingPanel()

    async def fill(pilot: Pilot[Any]) -> None:
        train(panel, make.training_events(400))
        await pilot.pause()

    assert snap_compare(PanelApp(panel), terminal_size=size, run_before=fill)


def test_training_panel_without_colour(
    snap_compare: Compare, make: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    panel = TrainingPanel()

    async def fill(pilot: Pilot[Any]) -> None:
        train(panel, make.training_events(400))
        panel.show_state("paused")
        await pilot.pause()

    assert snap_compare(PanelApp(panel), terminal_size=(80, 24), run_before=fill)


@sizes
def test_trial_panel(
    snap_compare: Compare,
    make: ModuleType,
    make_frame: Callable[..., FrameRecord],
    size: tuple[int, int],
) -> None:
    panel = TrialPanel()

    async def fill(pilot: Pilot[Any]) -> None:
        for version in (1, 2):
            for index, outcome in enumerate(("failed", "success", "out_of_frames", "error")):
                told = outcome if version == 1 else "success"
                panel.trial(events.TrialFinished(trial=make.trial(index, told, version)))
            critique = make.critique(version, works=version == 2)
            panel.critique(events.CritiqueGiven(critique=critique))
        panel.frame(make_frame())
        await pilot.pause()

    assert snap_compare(PanelApp(panel), terminal_size=size, run_before=fill)


@sizes
def test_evaluation_panel(snap_compare: Compare, make: ModuleType, size: tuple[int, int]) -> None:
    panel = EvaluationPanel()

    async def fill(pilot: Pilot[Any]) -> None:
        panel.show(make.EVALUATION, agents="rules")
        await pilot.pause()

    assert snap_compare(PanelApp(panel), terminal_size=size, run_before=fill)


@sizes
def test_departures_from_the_plan(
    snap_compare: Compare, make: ModuleType, size: tuple[int, int]
) -> None:
    panel = EvaluationPanel()

    async def fill(pilot: Pilot[Any]) -> None:
        panel.show(make.compared(), agents="rules")
        await pilot.pause()
        panel.scroll_end(animate=False)
        await pilot.pause()

    assert snap_compare(PanelApp(panel), terminal_size=size, run_before=fill)


def test_event_log_on_a_light_ground(snap_compare: Compare, make: ModuleType, utc: None) -> None:
    log = EventLog()

    async def fill(pilot: Pilot[Any]) -> None:
        made: list[events.Event] = [
            events.StateChanged(state="trials", detail="collect_wood v1"),
            events.AgentSaid(role="fast", author="rules", text="I walk to the nearest tree."),
            events.TrialFinished(trial=make.trial(0, "failed")),
            events.TrialFinished(trial=make.trial(1, "success")),
            events.CritiqueGiven(critique=make.critique(1, works=False)),
            events.StateChanged(state="waiting", detail="code of collect_wood v2"),
            *make.training_events(3),
            events.CheckpointSaved(frames=3072, file="c", sha256="feedfacefeedface"),
            events.RunFailed(message="The disk is full.", hint="Free some space, then resume."),
        ]
        log.add([make.event_record(seq, event) for seq, event in enumerate(made, 1)])
        await pilot.pause()

    assert snap_compare(PanelApp(log, "studio-light"), terminal_size=(80, 24), run_before=fill)


async def pick(pilot: Pilot[str], row: int) -> None:
    """Goes down to a row once the list is there to be gone down in."""
    listed = pilot.app.screen.query_one(PickList)
    for _ in range(500):
        if listed.has_focus and listed.option_count > row and listed.highlighted is not None:
            break
        await pilot.pause(0.02)
    assert listed.has_focus, "the keyboard is elsewhere"
    while listed.highlighted is not None and listed.highlighted < row:
        before = listed.highlighted
        await pilot.press("j")
        for _ in range(500):
            if listed.highlighted != before:
                break
            await pilot.pause(0.02)
        assert listed.highlighted != before
    assert listed.highlighted == row


@sizes
def test_skills_screen(
    snap_compare: Compare,
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
    size: tuple[int, int],
) -> None:
    make.fill_skills(database, clock)

    async def go(pilot: Pilot[str]) -> None:
        await open_screen(pilot, "f2")
        await pick(pilot, row=1)
        await settle(pilot)

    assert snap_compare(studio, terminal_size=size, run_before=go)


@sizes
def test_runs_screen(
    snap_compare: Compare,
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
    size: tuple[int, int],
) -> None:
    make.fill_runs(database, clock)

    async def go(pilot: Pilot[str]) -> None:
        await open_screen(pilot, "f3")
        await pick(pilot, row=2)
        await settle(pilot)

    assert snap_compare(studio, terminal_size=size, run_before=go)
