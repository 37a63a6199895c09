"""Flats as environments: tasks in an order that can be kept, played by the batch's rules."""

from __future__ import annotations

import numpy as np
import pytest

from engine.llarp.controls import OraclePolicy
from engine.llarp.evaluation import evaluate
from engine.llarp.flats import Flats, TrainingTasks
from engine.worlds.rearrange.batch import RearrangeBatch
from engine.worlds.rearrange.generator import TaskGenerator


@pytest.fixture(scope="module")
def generator() -> TaskGenerator:
    return TaskGenerator()


def drawn(tasks: TrainingTasks, count: int) -> list[str]:
    return [tasks.next().id for _ in range(count)]


def test_the_order_goes_on_where_it_was_kept(generator: TaskGenerator) -> None:
    tasks = TrainingTasks(generator, count=50, kinds=(), seed=1)
    drawn(tasks, 3)
    kept = tasks.state
    after = drawn(tasks, 5)
    again = TrainingTasks(generator, count=50, kinds=(), seed=9)
    again.state = kept
    assert drawn(again, 5) == after
    assert len(set(after)) > 1


def test_only_the_kinds_that_are_asked_for_are_drawn(generator: TaskGenerator) -> None:
    tasks = TrainingTasks(generator, count=60, kinds=("go_to", "find"), seed=0)
    assert {tasks.next().kind for _ in range(12)} <= {"go_to", "find"}


def test_flats_begin_the_tasks_of_their_source_and_leave_the_others_alone(
    generator: TaskGenerator,
) -> None:
    tasks = TrainingTasks(generator, count=20, kinds=(), seed=0)
    steps: list[tuple[int, ...]] = []
    batch = RearrangeBatch(3, picture=32)
    flats = Flats(batch, tasks, on_step=lambda _, envs: steps.append(tuple(envs)))
    told = [flats.begin(env) for env in range(3)]
    assert told == [batch.instruction(env) for env in range(3)]
    assert flats.observe([0, 2]).shape == (2, 32, 32, 3)
    first = batch.episode(2).solution[0]
    outcome = flats.step([2], np.array([first]))
    assert steps == [(2,)]
    assert outcome.rewards.shape == (1,)
    assert batch.progress[0] == 0


def test_without_a_source_nothing_can_begin() -> None:
    with pytest.raises(ValueError, match="no source"):
        Flats(RearrangeBatch(1, picture=32)).begin(0)


def test_the_oracle_solves_what_is_generated(generator: TaskGenerator) -> None:
    flats = Flats(RearrangeBatch(4, picture=32))
    episodes = generator.split("conditional_instructions")[:8]
    oracle = OraclePolicy(lambda env: flats.episode(env).solution, 70)
    results = evaluate(oracle, flats, episodes, None)
    assert all(result.success for result in results)
    assert [result.steps for result in results] == [len(e.solution) for e in episodes]
