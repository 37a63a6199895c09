"""The parts of a task: what they are, how rare they are, and what they pay in training."""

from __future__ import annotations

import numpy as np
import pytest

from engine.rl.decisions import Bonus
from engine.rl.task_parts import RECENT, PartRates, task_parts
from engine.worlds.predicate import parse

NOOP, RIGHT, TAKE = 0, 2, 5
TASK = "gems >= 1 and (x >= 1 or on_gem)"


@pytest.mark.parametrize(
    ("task", "parts"),
    [
        (TASK, ["gems >= 1", "x >= 1 or on_gem"]),
        ("gems >= 3", []),
        ("gems >= 1 or x >= 1", []),
        ("not (gems >= 1 and x >= 1)", []),
    ],
)
def test_parts_are_what_and_joins(world, task, parts):
    words = world.vocabulary()
    assert [part.text for part in task_parts(parse(task, words), words)] == parts


def test_rarity_is_one_minus_the_share_of_recent_episodes():
    rates = PartRates(2)
    assert rates.rarity.tolist() == [1.0, 1.0], "before any episode"
    rates.see(np.array([True, False]))
    assert rates.rarity.tolist() == [0.0, 1.0]
    for _ in range(3):
        rates.see(np.array([False, False]))
    assert rates.rarity.tolist() == [0.75, 1.0]


def test_old_episodes_are_forgotten():
    rates = PartRates(1)
    for _ in range(RECENT * 5):
        rates.see(np.array([False]))
    for _ in range(RECENT):
        rates.see(np.array([True]))
    assert rates.rates[0] == pytest.approx(1 - (1 - 1 / RECENT) ** RECENT)


def test_a_part_pays_by_its_rarity(begun, decide):
    batch = begun(
        starts=[((0, 0), (0, 0))],
        task_success=TASK,
        bonus=Bonus(part=8.0, task=100.0),
        length=2,
    )
    batch.batch.envs[0]._starts += [((0, 0), (5, 4)), ((0, 0), (0, 0))]
    assert decide(batch, TAKE).rewards.item() == 1.0 + 8.0, "the gem itself, and its part"
    finished = decide(batch, RIGHT)
    assert finished.rewards.item() == 8.0 + 100.0, "the other part, and with it the task"
    (summary,) = finished.summaries
    assert (summary.goals, summary.task_success, summary.episodic_return) == ((), True, 1.0)
    assert batch.part_rates.rates.tolist() == [1.0, 1.0]
    assert decide(batch, RIGHT).rewards.item() == 0.0, "every episode so far had it"
    decide(batch, NOOP)
    assert batch.part_rates.rates.tolist() == [0.5, 1.0]
    assert decide(batch, TAKE).rewards.item() == 1.0 + 4.0


def test_without_a_bonus_there_are_no_parts(begun):
    batch = begun(task_success=TASK, bonus=Bonus(task=1.0))
    assert batch.part_rates.rates.size == 0
    assert len(batch.goals.names) == 1
