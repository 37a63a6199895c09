"""Attaching: the whole history, in order, to the same state as having watched live."""

from __future__ import annotations

import dataclasses

from engine.events import (
    CheckpointSaved,
    CodeProposed,
    DeviceSampled,
    Evaluated,
    LogLine,
    SkillSaved,
    TrainingMetrics,
    TrainingStarted,
    encode,
)
from skills_db.records import RunState
from studio.screens.dialogs import ErrorDialog
from studio.screens.start import StartScreen
from studio.widgets.event_log import EventLog
from studio.widgets.frame_view import FrameView
from studio.widgets.plan_editor import PlanEditor
from studio.widgets.plan_rows import rows


def metrics(update):
    return TrainingMetrics(
        frames=update * 1024, frames_total=3_000_000, success_rate=update / 3000,
        episodic_return=2.0, episodic_length=150.0, sps=1400.0, entropy=2.0, approx_kl=0.01,
        clipfrac=0.1, explained_variance=0.5, policy_loss=0.0, value_loss=0.1,
        decisions=update * 400, coded_share=0.3, eta_seconds=100.0,
    )  # fmt: skip


def history(run, kit):
    """What a run tells up to the end of its evaluation, in the order it is told."""
    yield lambda: run.approve_plan()
    yield lambda: run.emit(CodeProposed(proposal=kit.proposal()))
    yield lambda: run.try_code(1, good=1, bad=4)
    yield lambda: run.emit(CodeProposed(proposal=kit.proposal(2)))
    yield lambda: run.try_code(2, good=5, bad=0)
    yield lambda: run.enter(RunState.TRAINING)
    yield lambda: run.emit(TrainingStarted(
        frames_total=3_000_000, frames_done=0, actions=("noop", "do"), coded_actions=1,
        device="cpu", parameters=1000))  # fmt: skip
    yield lambda: run.emit(*(metrics(update) for update in range(1, 2501)))
    yield lambda: run.emit(DeviceSampled(
        name="cpu", is_gpu=False, utilisation=90.0, memory_used_gb=1.0, memory_total_gb=8.0,
        temperature_c=None, cpu_percent=50.0, rss_gb=0.5))  # fmt: skip
    yield lambda: run.emit(CheckpointSaved(frames=2_560_000, file="checkpoint", sha256="ab" * 32))
    yield lambda: run.emit(Evaluated(evaluation={
        "policy": "trained", "seeds": "0:2", "episodes": 2, "success": {"collect_wood": 1.0},
        "score": 3.0, "reward_mean": 1.0, "length_mean": 100.0, "task_success": 0.5, "goals": {},
        "frames": 200, "seconds": 1.0,
        "baseline": {
            "policy": "untrained", "seeds": "0:2", "episodes": 2, "success": {"collect_wood": 0.5},
            "score": 1.0, "reward_mean": 0.0, "length_mean": 100.0, "task_success": 0.0,
            "goals": {}, "frames": 200, "seconds": 1.0}}))  # fmt: skip
    yield lambda: run.emit(SkillSaved(
        name="gather_wood", version=1, skill_kind="coded_action", success_rate=1.0))  # fmt: skip
    yield lambda: run.enter(RunState.FINISHED)


def state(app):
    """Everything a person sees of a run, as text and data."""
    workspace = app.workspace
    view = workspace.model.view
    plan = view.plan
    return {
        "rows": [str(row.draw(view, 60, False)) for row in rows(plan)],
        "view": dataclasses.asdict(view),
        "log": [entry.text for entry in workspace.query_one(EventLog).lines.entries],
        "code": workspace.review.shown,
        "saved": str(workspace.query_one("#saved").content),
        "notice": str(workspace.query_one("#notice").content),
        "pane": workspace.pane,
        "lines": [
            "".join(segment.text for segment in strip)
            for strip in app.screen._compositor.render_strips()
        ],
    }


async def settled(pilot, until, app, run):
    last = run.journal.events(run.id, limit=100_000)[-1].seq
    reached = lambda: app.workspace and app.workspace.seen_seq == last  # noqa: E731
    await until(pilot, reached, 30.0)
    await until(pilot, lambda: app.workspace.model.run.state is RunState.FINISHED)
    await until(pilot, lambda: "Finished" in str(app.workspace.query_one("#notice").content))


async def test_replay_ends_where_watching_live_ends(run, kit, make_app, until):
    now = lambda: kit.noon  # noqa: E731
    live = make_app(run.id)
    live.now = now
    async with live.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: live.workspace is not None)
        for step in history(run, kit):
            step()
            await pilot.pause(0.05)
        await settled(pilot, until, live, run)
        watched = state(live)
    later = make_app(run.id)
    later.now = now
    async with later.run_test(size=(120, 40)) as pilot:
        await settled(pilot, until, later, run)
        replayed = state(later)
    for part in watched:
        assert replayed[part] == watched[part], part
    assert watched["view"]["training"].frames == 2500 * 1024
    assert any("works 5/5" in row for row in watched["rows"])
    assert "gather_wood v1" in watched["saved"]


async def test_a_part_of_the_id_or_latest_is_enough(run, opened, make_app, until):
    run.ask_plan()
    app = make_app(run.id[-4:])
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.workspace and app.workspace.model.run)
        assert app.workspace.model.run_id == run.id
    app = make_app("latest")
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.workspace and app.workspace.model.run)
        assert app.workspace.model.run_id == run.id


async def test_attaching_to_no_run_is_told(make_app, until):
    app = make_app("no-such-run")
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, ErrorDialog))
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, StartScreen))


async def test_frames_are_asked_for_only_while_trials_are_on_the_screen(run, opened, until):
    run.approve_plan()
    run.enter(RunState.TRAINING)
    run.journal.put_frame(run.id, 2, 2, bytes(range(12)), "seed 1")
    async with opened(run, size=(80, 24), asks=False) as (app, pilot):
        await until(pilot, lambda: app.workspace.pane == "training")
        assert not run.journal.is_watched(run.id)
        await pilot.press("3")
        await until(pilot, lambda: run.journal.is_watched(run.id))
        view = app.workspace.query_one(FrameView)
        await until(pilot, lambda: view._frame is not None or view._waiting is not None)


async def test_a_kind_of_a_newer_version_does_not_stop_the_rest(run, opened, until):
    told = encode(LogLine(level="info", text="hello"))
    run.journal.append(run.id, [("from_the_future", {"x": 1}), told])
    async with opened(run, asks=False) as (app, pilot):
        log = app.workspace.query_one(EventLog)
        await until(pilot, lambda: any("hello" in e.text for e in log.lines.entries))
        assert any("from_the_future" in entry.text for entry in log.lines.entries)


async def test_a_database_that_fails_meanwhile_is_told_once_and_read_again(
    run, opened, until, monkeypatch
):
    run.approve_plan()
    async with opened(run, asks=False) as (app, pilot):
        monkeypatch.setattr("studio.run_bridge.RETRY_SECONDS", 0.05)

        def fail(*args, **kwargs):
            raise OSError("the disk is gone")

        with monkeypatch.context() as patch:
            patch.setattr(type(app.data.journal), "events", fail)
            await until(pilot, lambda: isinstance(app.screen, ErrorDialog))
            await pilot.press("o")
            await pilot.pause(0.3)
            assert app.screen is app.workspace
        asked = run.ask_code()
        await until(pilot, lambda: app.workspace.model.approval == asked)
        assert app.workspace.query_one(PlanEditor).plan is not None
