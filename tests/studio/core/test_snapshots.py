"""Pictures of the screens, at the two sizes people have; look at each difference before keeping it.

`make snapshots` draws them anew.
"""

from __future__ import annotations

import json

import pytest

from engine.events import (
    CodeProposed,
    DeviceSampled,
    Evaluated,
    LearningProposed,
    TokensUsed,
    TrainingMetrics,
    TrainingStarted,
)
from skills_db.records import RunState
from studio.screens.run_screen import GRACE_SECONDS
from studio.widgets.save_question import SaveQuestion

SIZES = [(80, 24), (120, 40)]


def second_version(run, kit):
    run.approve_plan()
    run.emit(CodeProposed(proposal=kit.proposal(1)))
    run.try_code(1, good=1, bad=4)
    run.ask_code(kit.proposal(2), kit.first_code)


def training(run, kit):
    run.approve_plan()
    run.emit(CodeProposed(proposal=kit.proposal(1)))
    run.try_code(1, good=4, bad=1)
    run.enter(RunState.TRAINING)
    run.emit(TrainingStarted(
        frames_total=100_000, frames_done=0, actions=("noop", "do", "gather_wood"),
        coded_actions=1, device="cpu", parameters=53_000))  # fmt: skip
    for update in range(1, 61):
        run.emit(TrainingMetrics(
            frames=update * 1024, frames_total=100_000, success_rate=update / 100,
            episodic_return=2 + update / 20, episodic_length=160.0, sps=1450.0,
            entropy=2.5 - update / 60, approx_kl=0.01, clipfrac=0.1,
            explained_variance=update / 80, policy_loss=-0.01, value_loss=0.3,
            decisions=update * 400, coded_share=0.3,
            usage={"gather_wood": 0.2 + update / 150}, plan_share=0.9 - update / 300,
            eta_seconds=(100_000 - update * 1024) / 1450))  # fmt: skip
    run.emit(DeviceSampled(
        name="AMD EPYC", is_gpu=False, utilisation=97.0, memory_used_gb=3.1, memory_total_gb=16.0,
        temperature_c=None, cpu_percent=61.0, rss_gb=0.8))  # fmt: skip


PLAN_TEXT = """\
{"sub_actions": [{"name": "gather_wood", "mode": "code", "reason": "Trees are in sight \\u2014 a
fixed recipe.", "instruction": "Walk to the nearest tree and collect wood until there are five; look
around where none is in sight.", "success": "wood >= 5", "precondition": "true", "budget": 300},
{"name": "make_table", "mode": "code", "reason": "One action, near to no"""


def writing(run, kit):
    run.enter(RunState.PLANNING)
    run.journal.put_completion(run.id, "slow", "wood", PLAN_TEXT, finished=False)


def writing_code(run, kit):
    run.approve_plan()
    run.emit(CodeProposed(proposal=kit.proposal(1)))
    run.try_code(1, good=1, bad=4)
    run.enter(RunState.CODING, "gather_wood")
    text = json.dumps({"code": kit.second_code})[:420]
    run.journal.put_completion(run.id, "fast", "gather_wood", text, finished=False)


def failing(run, kit):
    run.approve_plan()
    run.emit(CodeProposed(proposal=kit.proposal(1)))
    run.try_code(1, good=1, bad=4)
    run.ask("model", "fast agent", kit.failing)


def learning(run, kit):
    run.approve_plan()
    run.emit(CodeProposed(proposal=kit.proposal(1)))
    run.try_code(1, good=4, bad=1)
    proposal = kit.learning()
    run.emit(LearningProposed(proposal=proposal))
    payload = {"proposal": proposal.model_dump(mode="json")}
    run.ask("learning", f"{proposal.sub_action} version 1", payload)


def spending(run, kit):
    run.emit(TokensUsed(tokens=412_000, cost_usd=3.08, max_tokens=500_000, max_cost_usd=5.0))


def evaluation(run, kit):
    training(run, kit)

    def figures(policy, best, task):
        names = ("collect_wood", "place_table", "make_wood_pickaxe", "collect_stone")
        return {
            "policy": policy, "seeds": "1000000:1000020", "episodes": 20,
            "success": {name: max(0.0, best - 0.2 * place) for place, name in enumerate(names)},
            "score": 10 * best, "reward_mean": 5 * best, "length_mean": 300.0,
            "task_success": task, "goals": {}, "frames": 6000, "seconds": 4.0,
        }  # fmt: skip

    trained = figures("trained", 1.0, 0.35)
    run.emit(Evaluated(evaluation=trained | {"baseline": figures("untrained", 0.4, 0.0)}))


@pytest.fixture
def picture(frozen, snap_compare, until):
    """Compare a picture of the studio on a run, after some keys, with the one that was kept."""
    run, make = frozen

    def compare(size, *keys, attach=True):
        async def settle(pilot):
            app = pilot.app
            if attach:
                last = run.journal.run(run.id)
                await until(pilot, lambda: app.workspace and app.workspace.model.run == last)
                await until(pilot, lambda: app.workspace.seen_seq > 0)
                asked = run.journal.pending(run.id)
                await until(pilot, lambda: app.workspace.model.approval == asked)
                if asked is not None and asked.kind == "plan":
                    await until(pilot, lambda: app.workspace.query_one("#plan").editable)
                written = run.journal.completion(run.id)
                if written is not None:
                    await until(pilot, lambda: app.workspace.completion == written)
                if asked is not None and asked.kind == "save":
                    await until(pilot, lambda: _has_keys(app, SaveQuestion))
                    await pilot.pause(0.2)
            else:
                await until(pilot, lambda: app.is_painted)
            app.clock = lambda: 100 + GRACE_SECONDS
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
                await until(pilot, lambda: not getattr(app.screen, "is_reading", False))
            for area in app.screen.query("Input, TextArea"):
                area.cursor_blink = False
            await _still(pilot)

        app = make(run.id if attach else None)
        return snap_compare(app, terminal_size=size, run_before=settle)

    return run, compare


@pytest.fixture
def by_model(picture):
    """The same for a run whose agents ask a language model."""
    run, compare = picture
    config = dict(run.record.config) | {"agents": "llm"}
    run.journal.set_config(run.id, config)
    return run, compare


async def _still(pilot, quiet=3, most=200):
    """Wait until some looks in a row saw the same picture: a loaded machine draws late."""
    last, same = None, 0
    for _ in range(most):
        await pilot.pause(0.1)
        drawn = pilot.app.export_screenshot()
        same = same + 1 if drawn == last else 0
        if same == quiet:
            return
        last = drawn


def _has_keys(app, kind):
    """True when the keyboard is in a widget of that kind."""
    return app.focused is not None and any(
        isinstance(node, kind) for node in app.focused.ancestors_with_self
    )


@pytest.mark.parametrize("size", SIZES)
def test_empty_studio(frozen, picture, size):
    run, compare = picture
    from sqlalchemy import text

    with run.database.engine.begin() as connection:
        connection.execute(text("DELETE FROM runs"))
    assert compare(size, attach=False)


@pytest.mark.parametrize("size", SIZES)
def test_plan_editing(picture, size):
    run, compare = picture
    run.ask_plan()
    assert compare(size, "j", "j", "m")


@pytest.mark.parametrize("size", SIZES)
def test_plan_form(picture, size):
    run, compare = picture
    run.ask_plan()
    assert compare(size, "j", "e")


@pytest.mark.parametrize("size", SIZES)
def test_code_review_with_diff(picture, kit, size):
    run, compare = picture
    second_version(run, kit)
    assert compare(size)


@pytest.mark.parametrize("size", SIZES)
def test_training(picture, kit, size):
    run, compare = picture
    training(run, kit)
    assert compare(size)


@pytest.mark.parametrize("size", SIZES)
def test_save_question(picture, kit, size):
    run, compare = picture
    evaluation(run, kit)
    run.ask_save()
    assert compare(size, "j", "space")


@pytest.mark.parametrize("size", SIZES)
def test_quit_dialog(picture, kit, size):
    run, compare = picture
    training(run, kit)
    assert compare(size, "q")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scene", [writing, writing_code, failing, learning])
def test_by_a_model(by_model, kit, scene, size):
    run, compare = by_model
    scene(run, kit)
    spending(run, kit)
    assert compare(size)


@pytest.mark.parametrize("size", SIZES)
def test_learning_edited(by_model, kit, size):
    run, compare = by_model
    learning(run, kit)
    assert compare(size, "e")


@pytest.mark.parametrize("size", SIZES)
def test_iterations(by_model, kit, size):
    run, compare = by_model
    kit.iterate(run)
    assert compare(size, "i")


@pytest.mark.parametrize("size", SIZES)
def test_calls(by_model, kit, size):
    run, compare = by_model
    kit.call(run.journal, run.id)
    spending(run, kit)
    assert compare(size, "c", "G")


def test_without_colour(picture, kit, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    run, compare = picture
    second_version(run, kit)
    assert compare((80, 24))
