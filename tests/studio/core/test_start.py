"""The first screen: complete from the start, quick, and clear when something is wrong."""

from __future__ import annotations

import json
import subprocess
import sys

from textual.widgets import Input, OptionList, Select

from skills_db.records import RunState
from studio.screens.dialogs import ErrorDialog
from studio.screens.start import StartScreen
from studio.words import FAST_MODE

HEAVY = ("sqlalchemy", "pydantic", "numpy", "gymnasium", "torch", "openai", "numba", "psutil")
FIRST_PAINT = """
import asyncio, json, sys
from pathlib import Path
from studio.app import StudioApp
from studio.paths import find_paths
from studio.settings import load_settings
import os

paths = find_paths(os.environ)
app = StudioApp(paths, load_settings(paths.config_file, os.environ))
seen = {}

def first_paint() -> None:
    seen["heavy"] = sorted(set(sys.modules) & set(%r))
    seen["text"] = app.screen.query_one("#task").value

async def main() -> None:
    painted = app._painted
    def note() -> None:
        first_paint()
        painted()
    app._painted = note
    async with app.run_test() as pilot:
        while not app.is_painted:
            await pilot.pause(0.01)

asyncio.run(main())
print(json.dumps(seen))
"""


def note(app):
    return str(app.screen.query_one("#task-note").content)


async def test_nothing_slow_is_imported_before_the_first_paint():
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PAINT % (HEAVY,)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"heavy": [], "text": "collect a diamond"}


async def test_enter_starts_the_offered_task(make_app, until, launched, database):
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        await pilot.press("enter")
        await until(pilot, lambda: app.workspace is not None)
        await until(pilot, lambda: app.workspace.model.run is not None)
        (run,) = database.journal.runs()
        assert app.workspace.model.run_id == run.id
    assert launched == [run.id]
    assert (run.task, run.world, run.agents) == ("collect a diamond", "crafter", "rules")
    assert run.state is RunState.CREATED
    assert (run.config["frames"], run.config["approve"], run.config["seed"]) == (100_000, "ask", 0)
    assert run.config["fast_mode"] is False


async def test_a_run_may_be_started_from_the_command_line(paths, until, launched, database):
    from engine.config import RunConfig
    from studio.app import StudioApp
    from studio.settings import Settings

    app = StudioApp(paths, Settings(), start=RunConfig(task="collect coal", frames=5000))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.workspace is not None)
        (run,) = database.journal.runs()
        assert app.workspace.model.run_id == run.id
    assert (run.task, run.config["frames"], launched) == ("collect coal", 5000, [run.id])


async def test_the_fields_of_the_task_line_reach_the_run(make_app, until, launched, database):
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        app.screen.query_one("#task", Input).value = "collect iron"
        app.screen.query_one("#agents", Select).value = "llm"
        app.screen.query_one("#frames", Input).value = "1.5M"
        app.screen.query_one("#seed", Input).value = "7"
        await pilot.pause()
        assert "language model" in note(app)
        await pilot.press("enter")
        await until(pilot, lambda: launched)
        (run,) = database.journal.runs()
    assert (run.task, run.agents) == ("collect iron", "llm")
    assert (run.config["frames"], run.config["seed"]) == (1_500_000, 7)


async def test_fast_mode_is_chosen_and_said_in_words(make_app, until, launched, database):
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        executor = app.screen.query_one("#executor", Select)
        assert executor.value == "monty"
        executor.value = "fast"
        await pilot.pause()
        assert FAST_MODE in note(app)
        app.screen.query_one("#task", Input).focus()
        await pilot.press("enter")
        await until(pilot, lambda: launched)
        (run,) = database.journal.runs()
    assert run.config["fast_mode"] is True
    app = make_app(run={"fast_mode": "yes"})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        assert app.screen.query_one("#executor", Select).value == "fast"


async def test_what_cannot_start_says_why_and_keeps_what_was_typed(make_app, until, launched):
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        frames = app.screen.query_one("#frames", Input)
        frames.value = "a lot"
        await pilot.press("enter")
        await pilot.pause()
        assert "frames 'a lot' is no number" in note(app)
        frames.value = "10"
        await pilot.press("enter")
        await until(pilot, lambda: "frames" in note(app) and "10" in note(app))
        assert "1000" in note(app)
        app.screen.query_one("#task", Input).value = "  "
        frames.value = "2000"
        await pilot.press("enter")
        await pilot.pause()
        assert "what should be learnt" in note(app)
        assert frames.value == "2000"
    assert launched == []


async def test_earlier_runs_are_listed_and_one_can_go_back_to_them(run, make_app, until):
    run.enter(RunState.TRAINING)
    app = make_app()
    async with app.run_test() as pilot:
        listed = app.screen.query_one("#recent", OptionList)
        await until(pilot, lambda: listed.option_count == 1)
        assert "training" in str(listed.get_option_at_index(0).prompt)
        listed.focus()
        await pilot.press("enter")
        await until(pilot, lambda: app.workspace is not None)
        assert app.workspace.model.run_id == run.id
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        assert app.workspace is None


async def test_a_damaged_database_is_told_with_the_next_step(paths, make_app, until):
    paths.home.mkdir(parents=True)
    (paths.home / "studio.db").write_bytes(b"this is no database, " * 100)
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, ErrorDialog))
        text = str(app.screen.query_one(".dialog-text Static").content)
        assert "studio.db" in text
        assert "Next" in text
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, StartScreen))


async def test_a_process_that_cannot_be_launched_is_told(make_app, until, monkeypatch):
    import engine.process

    def launch(run_id, *, db_url, home):
        raise OSError("no more processes")

    monkeypatch.setattr(engine.process, "launch", launch)
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ErrorDialog))
        assert "no more processes" in str(app.screen.query_one(".dialog-text Static").content)


async def test_unknown_keys_in_the_settings_are_told(make_app, until):
    app = make_app(keymap={"no.such.key": "z"})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app._notifications)
        assert "'no.such.key'" in next(iter(app._notifications)).message


async def test_a_task_the_world_does_not_know_makes_no_run(make_app, until, launched, database):
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        app.screen.query_one("#task", Input).value = "collect diamants please"
        await pilot.press("enter")
        await until(pilot, lambda: "has no task" in note(app))
        assert "check. Did you mean 'collect a diamond'?" in note(app)
        assert app.screen.query_one("#task", Input).value == "collect diamants please"
        await pilot.press("end", "x")
        await pilot.pause()
        assert "no model" in note(app)  # typing goes on without the complaint
    assert database.journal.runs() == ()
    assert launched == []


async def test_typing_replaces_the_offered_text_of_each_field(make_app, until):
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        await pilot.press(*"survive")
        assert app.screen.query_one("#task", Input).value == "survive"
        for name in ("frames", "seed"):
            field = app.screen.query_one(f"#{name}", Input)
            field.focus()
            await pilot.pause()
            await pilot.press("9")
            assert field.value == "9"


async def test_coming_back_the_task_is_selected_again(run, make_app, until):
    run.enter(RunState.TRAINING)
    app = make_app()
    async with app.run_test() as pilot:
        listed = app.screen.query_one("#recent", OptionList)
        await until(pilot, lambda: listed.option_count == 1)
        listed.focus()
        await pilot.press("enter")
        await until(pilot, lambda: app.workspace is not None)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await until(pilot, lambda: app.screen.query_one("#task").has_focus)
        await pilot.press(*"survive")
        assert app.screen.query_one("#task", Input).value == "survive"


async def test_a_key_that_is_missing_is_told_before_the_run(make_app, until, monkeypatch):
    import engine.llm.keys

    monkeypatch.setattr(engine.llm.keys, "_from_keyring", lambda name: None)
    monkeypatch.delenv("MY_MODEL_KEY", raising=False)
    app = make_app(llm={"api_key_env": "MY_MODEL_KEY"})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        agents = app.screen.query_one("#agents", Select)
        agents.value = "llm"
        await until(pilot, lambda: "no key in MY_MODEL_KEY" in note(app))
        agents.value = "rules"
        await until(pilot, lambda: "MY_MODEL_KEY" not in note(app))
        monkeypatch.setenv("MY_MODEL_KEY", "sk-something")
        agents.value = "llm"
        await until(pilot, lambda: "language model" in note(app) and "MY_MODEL" not in note(app))
    app = make_app(llm={"base_url": "http://localhost:8080/v1"}, run={"agents": "llm"})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        await until(pilot, lambda: not any(w.group == "key" for w in app.workers))
        assert "no key" not in note(app)


async def test_a_replay_is_chosen_and_its_source_is_checked(make_app, until, launched, database):
    app = make_app(run={"agents": "replay:nope"})
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.is_painted)
        line = app.screen
        assert line.query_one("#agents", Select).value == "replay"
        assert line.query_one("#recording", Input).display
        assert line.query_one("#recording", Input).value == "nope"
        await pilot.press("enter")
        await until(pilot, lambda: "nope" in note(app))
        line.query_one("#recording", Input).value = ""
        await pilot.press("enter")
        await until(pilot, lambda: "which run or file" in note(app))
        line.query_one("#agents", Select).value = "rules"
        await until(pilot, lambda: not line.query_one("#recording", Input).display)
        line.query_one("#task", Input).focus()
        await pilot.press("enter")
        await until(pilot, lambda: app.workspace is not None)
    assert [run.agents for run in database.journal.runs()] == ["rules"]
