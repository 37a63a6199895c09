from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from engine.process import log_file
from skills_db.database import Database
from studio.app import StudioApp
from studio.screens.runs import RunsScreen
from studio.widgets.pick_list import PickList
from studio.widgets.run_rows import page as run_page
from studio.words import FAST_MODE

Settle = Callable[[Pilot[str]], Awaitable[None]]
OpenScreen = Callable[[Pilot[str], str], Awaitable[None]]


def rows(app: StudioApp) -> list[str]:
    listed = app.screen.query_one(PickList)
    return [str(listed.get_option_at_index(i).prompt) for i in range(listed.option_count)]


def page(app: StudioApp) -> str:
    return str(app.screen.query_one("#run-page Static", Static).content)


async def pick(app: StudioApp, pilot: Pilot[str], run_id: str, settle: Settle) -> None:
    app.screen.query_one(PickList).highlighted = [
        app.screen.query_one(PickList).get_option_at_index(i).id for i in range(len(rows(app)))
    ].index(run_id)
    await settle(pilot)


async def test_every_run_says_where_it_stands(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_runs(database, clock)
    async with studio.run_test(size=(120, 40)) as pilot:
        await open_screen(pilot, "f3")
        assert [row.split("  ")[0] for row in rows(studio)] == [
            "● training",
            "◆ waits for you",
            "! interrupted",
            "✗ failed",
            "✔ finished",
        ]
        assert "LLM gpt-5-mini" in rows(studio)[3]
        assert "35 % success" in rows(studio)[4]
        assert "1 interrupted" in str(studio.screen.query_one("#runs-title", Static).content)


async def test_why_a_run_failed_and_what_to_do(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_runs(database, clock)
    async with studio.run_test(size=(120, 40)) as pilot:
        await open_screen(pilot, "f3")
        await pick(studio, pilot, "run-2", settle)
        assert "The server at 'http://localhost:8000/v1' did not answer." in page(studio)
        assert "Next  Start it, or choose the rules agents." in page(studio)


async def test_an_interrupted_run_shows_the_end_of_its_log(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_runs(database, clock)
    log: Path = log_file("run-3", studio.paths.home)
    log.parent.mkdir(parents=True)
    log.write_text("\n".join(f"line [{i}]" for i in range(50)))
    async with studio.run_test(size=(120, 40)) as pilot:
        await open_screen(pilot, "f3")
        await pick(studio, pilot, "run-3", settle)
        assert "Its process is gone although the run was not over." in page(studio)
        assert "line [49]" in page(studio)
        assert "line [41]" not in page(studio)


async def test_resume_launches_a_process_and_goes_to_the_run(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make.fill_runs(database, clock)
    launched: list[str] = []
    opened: list[str] = []
    monkeypatch.setattr("engine.process.launch", lambda run_id, **_: launched.append(run_id) or 1)
    monkeypatch.setattr(studio, "open_run", opened.append)
    async with studio.run_test(size=(120, 40)) as pilot:
        await open_screen(pilot, "f3")
        await pilot.press("R")
        await settle(pilot)
        assert launched == []
        await pick(studio, pilot, "run-3", settle)
        await pilot.press("R")
        await settle(pilot)
        assert launched == ["run-3"]
        assert opened == ["run-3"]
        assert not isinstance(studio.screen, RunsScreen)


async def test_enter_opens(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make.fill_runs(database, clock)
    opened: list[str] = []
    monkeypatch.setattr(studio, "open_run", opened.append)
    async with studio.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, "f3")
        await pilot.press("j", "enter")
        await settle(pilot)
        assert opened == ["run-4"]


async def test_filter_by_words_and_by_state(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_runs(database, clock)
    async with studio.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, "f3")
        await pilot.press("slash", *"diamond failed")
        await settle(pilot)
        assert len(rows(studio)) == 1
        await pilot.press("escape")
        await settle(pilot)
        counts = []
        for _ in range(4):
            counts.append(len(rows(studio)))
            await pilot.press("t")
            await settle(pilot)
        assert counts == [5, 2, 1, 2]


async def test_states_are_read_again_while_one_looks(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_runs(database, clock)
    async with studio.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, "f3")
        assert isinstance(studio.screen, RunsScreen)
        await pilot.press("G")
        database.journal.set_state("run-5", make.RunState.EVALUATING)
        studio.screen.reload()
        await settle(pilot)
        assert rows(studio)[0].startswith("● evaluating")
        assert studio.screen.query_one(PickList).picked == "run-1"


async def test_no_run_yet_and_back(
    studio: StudioApp, settle: Settle, open_screen: OpenScreen
) -> None:
    async with studio.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, "f3")
        empty = studio.screen.query_one("#runs-empty", Static)
        assert empty.display
        assert "No run yet." in str(empty.content)
        await pilot.press("enter", "R")
        await pilot.press("escape")
        await settle(pilot)
        assert not isinstance(studio.screen, RunsScreen)


def test_fast_mode_is_said_on_the_page_of_a_run_that_was_allowed_it(database: Database) -> None:
    pages = []
    for allowed in (False, True):
        run = database.journal.create_run(
            kind="task",
            task="collect coal",
            world="crafter",
            agents="rules",
            config={"fast_mode": allowed},
        )
        pages.append(str(run_page(run, 80, run.created_at)))
    assert [FAST_MODE in text for text in pages] == [False, True]


async def test_a_list_that_comes_late_gets_the_keyboard(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    open_screen: OpenScreen,
    settle: Settle,
) -> None:
    make.fill_runs(database, clock)
    async with studio.run_test(size=(120, 40)) as pilot:
        await open_screen(pilot, "f3")
        screen = cast("RunsScreen", studio.screen)
        assert screen.listed.has_focus
        runs, screen._all = screen._all, ()
        screen._draw()
        await settle(pilot)
        assert not screen.listed.has_focus
        screen._all = runs
        screen._draw()
        await settle(pilot)
        assert screen.listed.has_focus
