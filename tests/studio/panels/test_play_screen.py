from __future__ import annotations

import os
import socket
from collections.abc import Awaitable, Callable
from types import ModuleType

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from engine import events
from skills_db.database import Database
from skills_db.records import FrameRecord, Owner, RunState
from studio.app import StudioApp
from studio.screens.play import PlayScreen
from studio.screens.skills import SkillsScreen
from studio.widgets.event_log import EventLog
from studio.widgets.frame_view import FrameView

Settle = Callable[[Pilot[str]], Awaitable[None]]
OpenScreen = Callable[[Pilot[str], str], Awaitable[None]]
MakeFrame = Callable[..., FrameRecord]


async def until(pilot: Pilot[str], holds: Callable[[], object]) -> None:
    """Wait until the bridge's thread has told what it read."""
    for _ in range(200):
        if holds():
            return
        await pilot.pause(0.05)
    raise AssertionError("it did not come about within ten seconds")


def words_of(studio: StudioApp, key: str) -> str:
    """What the footer says of a key."""
    return studio.screen.active_bindings[key].binding.description


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs whose process would have been started."""
    runs: list[str] = []
    monkeypatch.setattr("engine.process.launch", lambda run_id, **_: runs.append(run_id) or 1)
    return runs


async def test_watch_a_skill_play(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
    launched: list[str],
    make_frame: MakeFrame,
) -> None:
    make.fill_skills(database, clock)
    async with studio.run_test(size=(120, 40)) as pilot:
        await open_screen(pilot, "f2")
        await pilot.press("j")
        await settle(pilot)
        await pilot.press("w")
        await until(pilot, lambda: launched)
        assert isinstance(studio.screen, PlayScreen)
        run = database.journal.run(launched[0])
        assert run.kind == "play"
        assert run.config == {"skill": "collect_wood", "version": 2, "seed": 1_000_000}

        # As the run's process would: this test plays its part.
        database.journal.claim(run.id, Owner(os.getpid(), socket.gethostname(), "token"))
        frame = make_frame()
        database.journal.append(
            run.id, [events.encode(events.LogLine(level="info", text="frame 1: do"))]
        )
        database.journal.set_state(run.id, RunState.PLAYING)
        await until(pilot, lambda: database.journal.is_watched(run.id))
        database.journal.put_frame(run.id, frame.width, frame.height, frame.rgb, "do")
        view, log = studio.screen.query_one(FrameView), studio.screen.query_one(EventLog)
        await until(pilot, lambda: view.frame is not None)
        await until(pilot, lambda: log.lines.entries)
        assert view.frame is not None
        assert view.frame.caption == "do"
        assert "frame 1: do" in log.lines.entries[0].text

        await pilot.press("p")
        await until(pilot, lambda: database.journal.take_commands(run.id) == ("pause",))
        title = studio.screen.query_one("#play-title", Static)
        # It has not said yet that it stands still: what it was told counts.
        assert "paused" in str(title.content)
        assert words_of(studio, "p") == "Go on"
        await pilot.press("p")
        await until(pilot, lambda: database.journal.take_commands(run.id) == ("continue",))
        assert words_of(studio, "p") == "Pause"
        database.journal.set_state(run.id, RunState.PAUSED)
        database.journal.set_state(run.id, RunState.PLAYING)
        await until(pilot, lambda: "playing" in str(title.content))
        # Paused by somebody else.
        database.journal.set_state(run.id, RunState.PAUSED)
        await until(pilot, lambda: words_of(studio, "p") == "Go on")
        assert "paused" in str(title.content)
        await pilot.press("p")
        await until(pilot, lambda: database.journal.take_commands(run.id) == ("continue",))
        await pilot.press("n")
        await until(pilot, lambda: len(launched) == 2)
        assert database.journal.take_commands(run.id) == ("abort",)
        assert database.journal.run(launched[1]).config["seed"] == 1_000_001
        assert "seed 1000001" in str(studio.screen.query_one("#play-title", Static).content)
        assert view.frame is None

        await pilot.press("escape")
        await until(pilot, lambda: isinstance(studio.screen, SkillsScreen))


async def test_a_process_that_cannot_start_is_told(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(run_id: str, **_: object) -> int:
        raise OSError("no more processes")

    make.fill_skills(database, clock)
    monkeypatch.setattr("engine.process.launch", refuse)
    async with studio.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, "f2")
        await pilot.press("w")
        await settle(pilot)
        told = "\n".join(str(static.content) for static in studio.screen.query(Static))
        assert "no more processes" in told
