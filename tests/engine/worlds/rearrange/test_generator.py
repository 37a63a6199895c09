from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import pytest

from engine.worlds.rearrange.generator import MOST, TaskGenerator
from engine.worlds.rearrange.goals import categories_of
from engine.worlds.rearrange.layout import OPEN_AIR, generate
from engine.worlds.rearrange.names import CATEGORIES, FRIDGE_HANDLE, INSTANCES, TRAIN_CATEGORIES
from engine.worlds.rearrange.oracle import play, search
from engine.worlds.rearrange.phrasings import TRAIN

MANY = 250


@pytest.fixture(scope="module")
def training():
    tasks = TaskGenerator(3)
    return [tasks.training(index) for index in range(MANY)]


class TestSeeds:
    def test_a_number_gives_the_same_task_in_any_order(self) -> None:
        first, second = TaskGenerator(7), TaskGenerator(7)
        there = [first.training(index) for index in range(12)]
        back = [second.training(index) for index in reversed(range(12))]
        assert there == back[::-1]

    def test_a_split_is_the_same_whatever_came_before(self) -> None:
        fresh, used = TaskGenerator(7), TaskGenerator(7)
        used.training(5)
        assert fresh.split("context") == used.split("context")

    def test_seeds_differ(self) -> None:
        first, second = TaskGenerator(1), TaskGenerator(2)
        assert [first.training(n) for n in range(9)] != [second.training(n) for n in range(9)]

    def test_tasks_differ(self, training) -> None:
        assert len({(task.instruction, task.objects) for task in training}) == MANY

    def test_evaluation_does_not_depend_on_the_rule_for_training(self) -> None:
        assert TaskGenerator(7).split("new_scenes") == TaskGenerator(7, "paper").split("new_scenes")


class TestRefusals:
    def test_negative_seed(self) -> None:
        with pytest.raises(ValueError, match="not -1"):
            TaskGenerator(-1)

    def test_unknown_rule(self) -> None:
        with pytest.raises(ValueError, match="'strict' or 'paper', not 'loose'"):
            TaskGenerator(0, "loose")  # type: ignore[arg-type]

    def test_negative_number(self) -> None:
        with pytest.raises(ValueError, match="not -3"):
            TaskGenerator().training(-3)

    def test_unknown_split(self) -> None:
        with pytest.raises(ValueError, match=r"no split 'tests'.*'new_scenes'"):
            TaskGenerator().split("tests")


class TestTraining:
    def test_flats_are_of_three_arrangements_and_all_variants(self, training) -> None:
        assert {task.macro for task in training} == {0, 1, 2}
        assert {task.variant for task in training} == set(range(21))

    def test_kinds_come_by_weight(self, training) -> None:
        kinds = Counter(task.kind for task in training)
        assert set(kinds) == set(TRAIN)
        heavy = sum(kinds[kind] for kind in ("move", "fetch", "take_off", "put_two", "swap"))
        assert heavy == pytest.approx(MANY * 20 / 25, rel=0.15)

    def test_the_oracle_solves_each_with_every_one_of_its_actions(self, training) -> None:
        for task in training:
            played = play(task, generate(task.macro, task.variant), task.solution)
            assert (played.at_start, played.success) == (False, True), task.id
            assert played.actions == task.solution
            assert all(played.valid), task.id

    def test_each_action_has_a_subgoal(self, training) -> None:
        assert [task.id for task in training if len(task.subgoals) != len(task.solution)] == []

    def test_taking_off_is_as_short_as_can_be(self, training) -> None:
        found = [task for task in training if task.kind == "take_off"]
        assert {len(task.solution) for task in found} == {3, 4}
        for task in found:
            outside = replace(task, start=(-50.0, -50.0, 0.0))
            shortest = search(outside, generate(task.macro, task.variant))
            assert shortest is not None
            assert len(task.solution) <= len(shortest)

    def test_generation_is_quick(self) -> None:
        tasks = TaskGenerator(11)
        tasks.training(0)
        began = time.process_time()
        for index in range(1, 101):
            tasks.training(index)
        assert (time.process_time() - began) / 100 < 0.020


class TestObjects:
    def test_strict_shows_nothing_that_is_held_out(self, training) -> None:
        shown = {placed.category for task in training for placed in task.objects}
        assert shown == set(range(len(TRAIN_CATEGORIES)))

    def test_paper_shows_all_and_asks_for_held_out_ones_in_three_kinds(self) -> None:
        tasks = TaskGenerator(3, "paper")
        asked: dict[str, set[int]] = {}
        for index in range(MANY):
            task = tasks.training(index)
            assert {placed.category for placed in task.objects} == set(range(len(CATEGORIES)))
            asked.setdefault(task.kind, set()).update(categories_of(task.goal))
        leaky = {kind for kind, found in asked.items() if max(found, default=0) >= 28}
        assert leaky == {"take_off", "put_two", "swap"}

    def test_they_lie_on_open_air_receptacles_as_in_the_original(self, training) -> None:
        counts: Counter[int] = Counter()
        for task in training:
            low, high = generate(task.macro, task.variant).surfaces.transpose(1, 0, 2)
            on: Counter[int] = Counter()
            for placed in task.objects:
                inside = ((low <= placed.position) & (placed.position <= high)).all(axis=1)
                (place,) = inside.nonzero()[0].tolist()
                on[place] += 1
            assert set(on) <= set(OPEN_AIR)
            counts.update(on.values())
        assert max(counts) <= MOST

    def test_no_object_is_there_twice(self, training) -> None:
        for task in training:
            found = [(placed.category, placed.instance) for placed in task.objects]
            assert len(set(found)) == len(found)
            assert all(instance < INSTANCES[CATEGORIES[n]] for n, instance in found)

    def test_what_is_asked_for_is_there_once(self, training) -> None:
        for task in training:
            there = Counter(placed.category for placed in task.objects)
            assert [there[n] for n in categories_of(task.goal)] == [1] * len(
                categories_of(task.goal)
            )

    def test_the_fridge_is_shut_unless_it_is_to_be_closed(self, training) -> None:
        for task in training:
            assert (task.joints[FRIDGE_HANDLE] > 0) == (task.kind == "close_fridge")
            assert sum(task.joints) == task.joints[FRIDGE_HANDLE]
