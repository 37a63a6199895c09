from __future__ import annotations

from engine.agents.plan import CodeProposal, Critique, Outcome, SubAction, Trial
from engine.agents.protocols import TaskContext
from engine.agents.rules.critic import RulesCritic, dead_loop
from engine.worlds.registry import get_world

WORLD = get_world("crafter")
CONTEXT = TaskContext(WORLD.tasks()[0], WORLD, 1000)
ACTION = SubAction(
    name="chop",
    mode="code",
    reason="known",
    instruction="chop",
    success="wood >= 1",
    precondition="seen(tree)",
    budget=100,
)
PROPOSAL = CodeProposal(
    sub_action="chop", version=2, instruction="chop", code="def run() -> str: ...", author="rules"
)


def trial(outcome: Outcome, detail: str = "", frames: int = 10, **fields: object) -> Trial:
    return Trial.model_validate(
        {
            "sub_action": "chop",
            "version": 2,
            "index": 0,
            "seed": 0,
            "outcome": outcome,
            "detail": detail,
            "frames": frames,
            "actions": (),
            "gained": {},
            **fields,
        }
    )


def judge(*trials: Trial, pass_rate: float = 0.6) -> Critique:
    return RulesCritic().judge(CONTEXT, ACTION, PROPOSAL, trials, pass_rate)


def test_the_rate_decides() -> None:
    good = [trial("success", frames=n) for n in (3, 5, 7)]
    verdict = judge(*good, trial("failed", "no tree"), trial("died"))
    assert verdict.works
    assert verdict.success_rate == 0.6
    assert "3 of 5 trials (median 7 frames)" in verdict.text
    assert verdict.suggestion == ""
    assert not judge(*good, trial("failed"), trial("died"), pass_rate=0.61).works
    assert (verdict.sub_action, verdict.version, verdict.author) == ("chop", 2, "rules")


def test_the_typical_failure_is_the_most_frequent() -> None:
    verdict = judge(trial("died"), trial("failed", "no tree"), trial("failed", "no tree"))
    assert not verdict.works
    assert verdict.typical_failure == "returned without success: no tree"
    assert "look elsewhere" in verdict.suggestion


def test_trials_that_never_started_say_nothing_about_the_code() -> None:
    verdict = judge(trial("success"), trial("failed", started=False))
    assert (verdict.success_rate, verdict.trials, verdict.works) == (1.0, 1, True)
    assert "1 more could not start" in verdict.text
    none = judge(trial("failed", started=False))
    assert (none.success_rate, none.trials, none.works) == (0.0, 0, False)
    assert "never tried" in none.text
    assert "`seen(tree)`" in none.text


def test_a_dead_loop_is_named() -> None:
    steps = (("move_left", 1), ("move_right", 1)) * 8
    looping = trial("stuck", actions=(("do", 3), *steps))
    assert dead_loop(looping) == "move_left -> move_right"
    assert "Dead loop in 1 of them" in judge(looping).text
    assert dead_loop(trial("success", actions=steps)) == ""
    assert dead_loop(trial("failed", actions=(("do", 300),))) == ""
