"""The training budget stays the person's, whatever the slow agent's shares add up to."""

from __future__ import annotations

import pytest

from engine.agents.plan import Plan, SubAction, Subtask
from engine.agents.two_loop import with_training_frames


def _plan(*budgets: int) -> Plan:
    actions = tuple(
        SubAction(
            name=f"learn_{i}", mode="rl", reason="r", instruction="i", success="true", budget=b
        )
        for i, b in enumerate(budgets)
    )
    coded = SubAction(
        name="coded", mode="code", reason="r", instruction="i", success="true", budget=77
    )
    subtask = Subtask(name="s", goal="g", success="true", sub_actions=(*actions, coded))
    return Plan(task="t", world="w", author="rules", subtasks=(subtask,))


@pytest.mark.parametrize("budgets", [(100,), (50, 50), (33_333, 100_000, 66_667), (1, 1, 10**6)])
@pytest.mark.parametrize("frames", [1_000, 100_000])
def test_shares_are_scaled_to_the_budget(budgets, frames):
    plan = with_training_frames(_plan(*budgets), frames)
    assert plan.training_frames == frames
    assert plan.sub_actions("code")[0].budget == 77


def test_proportions_are_kept():
    plan = with_training_frames(_plan(100, 300), 100_000)
    assert [a.budget for a in plan.sub_actions("rl")] == [25_000, 75_000]


def test_a_plan_without_rl_is_left_alone():
    plan = _plan()
    assert with_training_frames(plan, 100_000) is plan
