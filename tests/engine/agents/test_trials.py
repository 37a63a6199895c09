"""The trial runner on the real world, with cheap sub-actions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.agents.plan import CodeProposal, Plan, SubAction, Subtask, Trial
from engine.agents.trials import TrialRunner, coded_action
from engine.rl.options import CodedAction
from engine.sandbox.pool import Sandbox
from engine.worlds.base import WorldEnv
from engine.worlds.registry import get_world

WORLD = get_world("crafter")

GATHER = """
def run() -> str:
    while count("wood") < 3:
        step = approach("tree") or explore()
        if step is None:
            return "no tree"
        act(step)
    return "three wood"
"""
TABLE = """
def run() -> str:
    while not unlocked("place_table"):
        step = step_to_place("table")
        if step is None:
            return "no place"
        act(step)
    return "done"
"""
IDLE = """
def run() -> str:
    for _ in range(40):
        act("noop")
    return "waited"
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    functions = frozenset({WORLD.primitive_function, *WORLD.queries})
    with Sandbox(WORLD.stub(), functions) as made:
        yield made


def sub_action(name: str, success: str, **fields: object) -> SubAction:
    return SubAction.model_validate(
        {
            "name": name,
            "mode": "code",
            "reason": "",
            "instruction": name,
            "success": success,
            "budget": 150,
            **fields,
        }
    )


CHOP = sub_action("chop", "wood >= 3")
SET_UP = sub_action("set_up", "unlocked(place_table)", precondition="wood >= 3")
PLAN = Plan(
    task="a table",
    world="crafter",
    author="test",
    subtasks=(
        Subtask(name="all", goal="", success="unlocked(place_table)", sub_actions=(CHOP, SET_UP)),
    ),
)


def proposal(action: SubAction, code: str, version: int = 1) -> CodeProposal:
    return CodeProposal(
        sub_action=action.name, version=version, instruction="", code=code, author="test"
    )


def chop() -> CodedAction:
    return coded_action(CHOP, proposal(CHOP, GATHER))


def test_one_trial_per_seed_with_what_was_gained(sandbox: Sandbox) -> None:
    captions: list[str] = []

    def see(env: WorldEnv, caption: str) -> None:
        captions.append(caption)

    runner = TrialRunner(WORLD, sandbox, PLAN, seeds=(3, 4), on_frame=see)
    trials = list(runner.run(CHOP, proposal(CHOP, GATHER), ()))
    assert [(trial.index, trial.seed) for trial in trials] == [(0, 3), (1, 4)]
    for trial in trials:
        assert (trial.outcome, trial.detail) == ("success", "three wood")
        assert trial.gained["wood"] == 3
        assert "frames" not in trial.gained
        assert sum(times for _, times in trial.actions) == trial.frames > 0
    assert captions == ["chop"] * sum(trial.frames for trial in trials)
    assert trials == list(runner.run(CHOP, proposal(CHOP, GATHER), ()))


def test_the_end_of_each_trial_is_told_with_the_world_as_it_left_it(sandbox: Sandbox) -> None:
    seen: list[tuple[Trial, int, bytes]] = []
    last = b""

    def see(env: WorldEnv, caption: str) -> None:
        nonlocal last
        last = env.frame(63).tobytes()

    def end(env: WorldEnv, trial: Trial) -> None:
        assert env.frame(63).tobytes() == last
        seen.append((trial, env.episode_frames, last))

    runner = TrialRunner(WORLD, sandbox, PLAN, seeds=(3, 4), on_frame=see, on_end=end)
    trials = list(runner.run(CHOP, proposal(CHOP, IDLE), ()))
    assert [trial for trial, _, _ in seen] == trials
    assert [frames for _, frames, _ in seen] == [40, 40]
    assert len({frame for _, _, frame in seen}) == 2
    assert trials == list(
        TrialRunner(WORLD, sandbox, PLAN, seeds=(3, 4)).run(CHOP, proposal(CHOP, IDLE), ())
    ), "drawing changes nothing"


def test_a_trial_that_could_not_start_has_no_end_to_look_at(sandbox: Sandbox) -> None:
    never = sub_action("never", "wood >= 9", precondition="diamond >= 9")
    ends: list[Trial] = []
    runner = TrialRunner(
        WORLD, sandbox, PLAN, seeds=(3,), on_end=lambda _env, trial: ends.append(trial)
    )
    (trial,) = runner.run(never, proposal(never, IDLE), ())
    assert not trial.started
    assert ends == []


def test_the_precondition_is_brought_about_by_approved_actions(sandbox: Sandbox) -> None:
    captions: list[str] = []

    def see(env: WorldEnv, caption: str) -> None:
        captions.append(caption)

    runner = TrialRunner(WORLD, sandbox, PLAN, seeds=(3,), on_frame=see)
    (trial,) = runner.run(SET_UP, proposal(SET_UP, TABLE), (chop(),))
    assert (trial.outcome, trial.started) == ("success", True)
    assert trial.gained["wood"] == -2
    assert set(captions) == {"prologue: chop", "set_up"}
    captions.clear()
    (again,) = runner.run(SET_UP, proposal(SET_UP, IDLE, version=2), (chop(),))
    assert (again.outcome, again.detail, again.version) == ("failed", "waited", 2)
    assert set(captions) == {"set_up"}, "the way there is remembered"
    changed = chop().__class__(**{**_fields(chop()), "code": GATHER + "# other\n"})
    captions.clear()
    list(runner.run(SET_UP, proposal(SET_UP, TABLE), (changed,)))
    assert "prologue: chop" in captions, "other code is another way there"


def test_a_trial_starts_when_code_alone_would_run_it(sandbox: Sandbox) -> None:
    starts: dict[str, float] = {}
    for due in ("frames >= 40", "false"):
        wait = sub_action("wait", "wood >= 9", precondition="frames >= 5", due=due, budget=1)
        frames: list[float] = []

        def see(env: WorldEnv, caption: str, frames: list[float] = frames) -> None:
            if caption == "wait":
                frames.append(env.player.term("frames") - 1)

        runner = TrialRunner(WORLD, sandbox, PLAN, seeds=(3,), on_frame=see)
        (trial,) = runner.run(wait, proposal(wait, IDLE), ())
        assert trial.started
        starts[due] = frames[0]
    assert starts == {"frames >= 40": 40, "false": 5}, "what is never due starts where it may"


def test_a_trial_that_cannot_start_says_why(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.agents.trials.PROLOGUE_FRAMES", 30)
    mine = sub_action("mine", "stone >= 1", precondition="wood_pickaxe >= 1")
    runner = TrialRunner(WORLD, sandbox, PLAN, seeds=(3,))
    (trial,) = runner.run(mine, proposal(mine, IDLE), (chop(),))
    assert not trial.started
    assert (trial.outcome, trial.frames, trial.seed) == ("failed", 0, 3)
    assert "`wood_pickaxe >= 1` could not be brought about" in trial.detail
    assert "seed 3: not within 30 frames; seed 4: " in trial.detail


def test_stopping_ends_the_trials(sandbox: Sandbox) -> None:
    runner = TrialRunner(WORLD, sandbox, PLAN, seeds=range(5), should_stop=lambda: True)
    idle = sub_action("idle", "wood >= 9")
    assert list(runner.run(idle, proposal(idle, IDLE), ())) == []


def test_an_interrupted_execution_goes_on(sandbox: Sandbox) -> None:
    wait = sub_action("wait", "drink <= 7", interrupt="energy <= 8 and frames <= 35", budget=150)
    runner = TrialRunner(WORLD, sandbox, PLAN, seeds=(3,))
    (trial,) = runner.run(wait, proposal(wait, IDLE), ())
    assert trial.outcome == "success"
    assert trial.detail == "waited (after 1 interruptions)"
    assert trial.frames > 40


def test_the_budget_counts_over_interruptions(sandbox: Sandbox) -> None:
    wait = sub_action("wait", "wood >= 9", interrupt="energy <= 8 and frames <= 35", budget=45)
    runner = TrialRunner(WORLD, sandbox, PLAN, seeds=(3,))
    (trial,) = runner.run(wait, proposal(wait, IDLE), ())
    assert (trial.outcome, trial.frames) == ("out_of_frames", 45)


def test_a_death_while_the_code_had_yielded_is_not_held_against_it(sandbox: Sandbox) -> None:
    drown = sub_action("into_lava", "false", precondition="frames >= 10")

    def kill(env: WorldEnv, caption: str) -> None:
        if caption.startswith("prologue") and env.player.term("frames") > 10:
            env.unwrapped.game.player.health = 0  # type: ignore[attr-defined]

    runner = TrialRunner(WORLD, sandbox, PLAN, seeds=(3,), on_frame=kill)
    wait = sub_action("wait", "drink <= 7", interrupt="frames >= 20 and frames <= 60", budget=150)
    (trial,) = runner.run(wait, proposal(wait, IDLE), (coded_action(drown, proposal(drown, IDLE)),))
    assert trial.outcome == "died"
    assert trial.detail.startswith("while it had yielded")
    assert not trial.started


def test_what_is_not_due_again_is_waited_for(sandbox: Sandbox) -> None:
    wait = sub_action(
        "wait",
        "drink <= 7",
        interrupt="frames == 20",
        due="frames <= 20 or frames >= 90",
        budget=150,
    )
    runner = TrialRunner(WORLD, sandbox, PLAN, seeds=(3,))
    (trial,) = runner.run(wait, proposal(wait, IDLE), ())
    assert trial.outcome == "success"
    assert trial.frames == 60, "20 before the interruption, 40 after it"
    assert trial.gained["drink"] == -6, "and 70 in between"


def test_code_that_fails_at_run_time_names_the_line(sandbox: Sandbox) -> None:
    code = "def run() -> str:\n    act('noop')\n    return str(1 // 0)\n"
    (trial,) = _one(sandbox, code)
    assert trial.outcome == "error"
    assert trial.detail.startswith("line 3: ")
    assert (trial.frames, trial.actions) == (1, (("noop", 1),))


def _one(sandbox: Sandbox, code: str) -> tuple[Trial, ...]:
    runner = TrialRunner(WORLD, sandbox, PLAN, seeds=(3,))
    return tuple(runner.run(CHOP, proposal(CHOP, code), ()))


def _fields(action: CodedAction) -> dict[str, object]:
    return {name: getattr(action, name) for name in action.__dataclass_fields__}
