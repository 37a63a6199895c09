"""Leaving: never by accident, never with a run lost, always with the way back."""

from __future__ import annotations

from skills_db.records import RunState
from studio.program_name import program_name
from studio.screens.dialogs import ChoiceDialog


async def test_nothing_runs_so_q_leaves_at_once(make_app, until):
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)
    assert app.return_value is None


async def test_detach_leaves_the_run_alone_and_says_how_to_come_back(run, opened, until):
    run.enter(RunState.TRAINING)
    async with opened(run, asks=False) as (app, pilot):
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("ctrl+q")  # a second one does not stack another question
        await pilot.pause()
        assert sum(isinstance(screen, ChoiceDialog) for screen in app.screen_stack) == 1
        await pilot.press("d")
        await until(pilot, lambda: app._exit)
    assert app.return_value == f"The run goes on. Come back with: {program_name()} attach {run.id}"
    assert run.journal.take_commands(run.id) == ()
    assert run.journal.run(run.id).state is RunState.TRAINING


async def test_stop_and_keep_tells_the_run_before_leaving(run, opened, until):
    run.enter(RunState.TRAINING)
    async with opened(run, asks=False) as (app, pilot):
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("j", "enter")
        await until(pilot, lambda: app._exit)
    assert run.journal.take_commands(run.id) == ("stop_and_keep",)
    assert f"rlgpt-studio attach {run.id}" in app.return_value
    assert "stopping" in app.return_value


async def test_cancel_stays_and_esc_never_leaves(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        text = str(app.screen.query_one(".dialog-text Static").content)
        assert "waits for your decision" in text
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.workspace)
        await pilot.press("escape", "escape", "escape")
        await pilot.pause()
        assert app.screen is app.workspace
        assert not app._exit


async def test_the_question_names_edits_that_would_be_lost(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.press("j", "x", "q")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        text = str(app.screen.query_one(".dialog-text Static").content)
        assert "edits of the plan" in text
        assert "would be lost" in text


async def test_going_to_another_run_names_them_as_well(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.press("j", "x", "ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.workspace)
        assert app.workspace.query_one("#plan").changed
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("l")
        await until(pilot, lambda: app.workspace is None)


async def test_ctrl_c_twice_detaches(run, opened, until, clock):
    run.enter(RunState.TRAINING)
    async with opened(run, asks=False) as (app, pilot):
        await pilot.press("ctrl+c")
        await pilot.pause()
        clock.advance(3.0)
        await pilot.press("ctrl+c")  # too late for the first
        await pilot.pause()
        assert not app._exit
        clock.advance(1.0)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app._exit)
    assert run.journal.take_commands(run.id) == ()
    assert app.return_value.startswith("The run goes on.")


async def test_a_run_that_is_over_needs_no_question(run, opened, until):
    run.enter(RunState.FINISHED)
    async with opened(run, asks=False) as (app, pilot):
        await pilot.press("q")
        await until(pilot, lambda: app._exit)
    again = f"{program_name()} attach {run.id}"
    assert app.return_value == f"The run is finished. Look at it again with: {again}"


async def test_q_in_a_text_is_a_letter(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.press("r")
        await until(pilot, lambda: app.screen is not app.workspace)
        await pilot.press("q", "a")
        assert app.screen.query_one("CommentArea").text == "qa"
        assert not app._exit
