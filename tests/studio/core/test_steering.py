"""Pause, continue, stop and keep, resume; and decisions that nobody waits for."""

from __future__ import annotations

from skills_db.records import RunState
from studio.screens.dialogs import ChoiceDialog

NO_SUCH_PROCESS = 2**22 - 7


def offered(app):
    return {b.binding.id for b in app.screen.active_bindings.values() if b.enabled}


def notice(app):
    return str(app.screen.query_one("#notice").content)


async def sent(pilot, until, run):
    taken = []

    def take():
        taken.extend(run.journal.take_commands(run.id))
        return taken

    await until(pilot, take)
    return taken


async def test_pause_and_continue(run, opened, until):
    run.approve_plan()
    run.enter(RunState.TRAINING)
    async with opened(run, asks=False) as (app, pilot):
        assert "run.pause" in offered(app)
        assert "run.continue" not in offered(app)
        await pilot.press("p")
        assert await sent(pilot, until, run) == ["pause"]
        run.enter(RunState.PAUSED)
        await until(pilot, lambda: "run.continue" in offered(app))
        assert "Paused" in notice(app)
        assert "run.pause" not in offered(app)
        await pilot.press("p")
        assert await sent(pilot, until, run) == ["continue"]


async def test_stop_and_keep_asks_first(run, opened, until):
    run.enter(RunState.TRAINING)
    async with opened(run, asks=False) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.workspace)
        assert run.journal.take_commands(run.id) == ()
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("s")
        assert await sent(pilot, until, run) == ["stop_and_keep"]


async def test_stopping_a_run_that_asks_decides_stop(run, opened, until):
    asked = run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("s")
        await until(pilot, lambda: run.journal.approval(asked.id).decision is not None)
    assert run.journal.approval(asked.id).decision == "stop"


async def test_a_run_whose_process_died_is_one_key_from_going_on(run, opened, until, launched):
    run.approve_plan()
    run.enter(RunState.TRAINING)
    run.token = "token-2"
    run.journal.release(run.id, "token-1")
    run.claim(pid=NO_SUCH_PROCESS)
    async with opened(run, asks=False) as (app, pilot):
        await until(pilot, lambda: "Interrupted" in notice(app))
        assert "run.resume" in offered(app)
        assert "interrupted" in str(app.screen.query_one("#status").render())
        await pilot.press("R")
        await until(pilot, lambda: launched)
        assert launched == [run.id]
        run.token = "token-3"
        run.claim()
        await until(pilot, lambda: "run.resume" not in offered(app))


async def test_a_decision_nobody_waits_for_launches_the_run_again(run, opened, until, launched):
    asked = run.ask_plan()
    run.release()
    async with opened(run) as (app, pilot):
        assert "waits for you" in str(app.screen.query_one("#status").render())
        await pilot.press("a")
        await until(pilot, lambda: launched)
    assert launched == [run.id]
    assert run.journal.approval(asked.id).decision == "approve"


async def test_a_decision_after_the_waiting_process_died_launches_it_again(
    run, opened, until, launched
):
    run.ask_plan()
    run.token = "token-2"
    run.journal.release(run.id, "token-1")
    run.claim(pid=NO_SUCH_PROCESS)
    async with opened(run) as (_app, pilot):
        await pilot.press("a")
        await until(pilot, lambda: launched)
    assert launched == [run.id]


async def test_a_failed_run_says_why_and_what_next(run, opened, until):
    from engine.events import RunFailed

    run.emit(RunFailed(message="The model 'x' is unknown.", hint="Choose another with --model."))
    run.enter(RunState.FAILED, "The model 'x' is unknown.")
    async with opened(run, asks=False) as (app, pilot):
        await until(pilot, lambda: "Failed" in notice(app))
        assert "The model 'x' is unknown. Choose another with --model." in notice(app)
        assert "run.resume" in offered(app)
        assert "run.stop" not in offered(app)


async def test_an_unknown_task_is_not_cured_by_going_on(database, kit, opened, until):
    from engine.events import RunFailed

    run = kit.run(database, task="collect mammoths")
    run.emit(RunFailed(message="No task 'collect mammoths'", hint="It can check: survive."))
    run.enter(RunState.FAILED, "No task 'collect mammoths'")
    run.release()
    async with opened(run, asks=False) as (app, pilot):
        await until(pilot, lambda: "Failed" in notice(app))
        assert "No task 'collect mammoths'. It can check: survive." in notice(app)
        await until(pilot, lambda: app.workspace.model.is_hopeless)
        await until(pilot, lambda: "run.resume" not in offered(app))


async def test_the_results_say_that_they_are_being_made(run, opened, until):
    run.enter(RunState.EVALUATING, "trained: episode 3 of 20")
    async with opened(run, asks=False) as (app, pilot):
        await until(pilot, lambda: app.workspace.pane == "results")
        empty = app.workspace.query_one("#results-empty")
        await until(pilot, lambda: "evaluating  trained: episode 3 of 20" in str(empty.content))
        run.enter(RunState.EVALUATING)
        await until(pilot, lambda: "on held-out seeds" in str(empty.content))


async def test_the_save_question_keeps_what_stays_ticked(run, opened, until, kit):
    asked = run.ask_save()
    async with opened(run) as (app, pilot):
        assert app.workspace.pane == "results"
        assert "a saves 3 of 3 skills" in notice(app)
        await pilot.press("j", "space")
        await until(pilot, lambda: "2 of 3" in notice(app))
        await pilot.press("a")
        await until(pilot, lambda: run.journal.approval(asked.id).decision is not None)
    record = run.journal.approval(asked.id)
    assert record.decision == "modify"
    assert record.decided_payload == {"skills": ["gather_wood", "collect_a_diamond"]}


async def test_the_default_of_the_save_question_is_to_save_all(run, opened, until):
    asked = run.ask_save()
    async with opened(run, size=(80, 24)) as (_app, pilot):
        await pilot.press("space", "space", "a")
        await until(pilot, lambda: run.journal.approval(asked.id).decision is not None)
    record = run.journal.approval(asked.id)
    assert (record.decision, record.decided_hash) == ("approve", asked.payload_hash)


async def test_saving_nothing_asks_first(run, opened, until):
    asked = run.ask_save()
    async with opened(run) as (app, pilot):
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("n")
        await until(pilot, lambda: run.journal.approval(asked.id).decision is not None)
    assert run.journal.approval(asked.id).decision == "reject"
