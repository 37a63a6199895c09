from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from engine.worlds.rearrange.batch import LEAVE, RearrangeBatch
from engine.worlds.rearrange.generator import TaskGenerator
from engine.worlds.rearrange.goals import Atom, Exists, ForAll, categories_of, walk
from engine.worlds.rearrange.layout import generate
from engine.worlds.rearrange.names import (
    ACTIONS,
    CATEGORIES,
    FRIDGE_HANDLE,
    HELD_OUT_CATEGORIES,
    RECEPTACLES,
)
from engine.worlds.rearrange.new_phrasings import IF_FRIDGE
from engine.worlds.rearrange.oracle import play
from engine.worlds.rearrange.phrasings import TRAIN, plural, spoken
from engine.worlds.rearrange.splits import EVALUATION, train_validation

NAMES = (
    "new_scenes",
    "rephrasing",
    "referring_expressions",
    "spatial_relationships",
    "context",
    "irrelevant_text",
    "multiple_rearrangements",
    "novel_objects",
    "multiple_objects",
    "conditional_instructions",
)
HELD_OUT = {CATEGORIES.index(name) for name in HELD_OUT_CATEGORIES}
WORDS = "|".join(
    re.escape(word)
    for word in (
        *(receptacle.spoken for receptacle in RECEPTACLES),
        *(spoken(n) for n in range(len(CATEGORIES))),
        *(plural(n) for n in range(len(CATEGORIES))),
    )
)


@pytest.fixture(scope="module")
def tasks():
    return TaskGenerator(0)


@pytest.fixture(scope="module")
def splits(tasks):
    return tasks.evaluation


def matcher(phrasings) -> re.Pattern[str]:
    """Matches what any of the phrasings can say, whatever fills its slots."""
    return re.compile(
        "|".join(
            re.sub(r"\\\{\w+\\\}", lambda _: f"(?:{WORDS})", re.escape(phrasing))
            for phrasing in phrasings
        ),
        re.IGNORECASE,
    )


SAID_IN_TRAINING = matcher(text for texts in TRAIN.values() for text in texts)


class TestAll:
    def test_there_are_ten_of_a_hundred(self, splits) -> None:
        assert tuple(splits) == NAMES
        assert {len(found) for found in splits.values()} == {100}

    @pytest.mark.parametrize("name", NAMES)
    def test_the_oracle_solves_all(self, splits, name: str) -> None:
        solved = [
            play(task, generate(task.macro, task.variant), task.solution) for task in splits[name]
        ]
        assert sum(played.success and not played.at_start for played in solved) == 100
        assert all(all(played.valid) for played in solved)

    @pytest.mark.parametrize("name", NAMES)
    def test_flats_are_of_an_arrangement_that_training_has_not(self, splits, name: str) -> None:
        assert {task.macro for task in splits[name]} == {3}
        assert len({task.variant for task in splits[name]}) > 15

    @pytest.mark.parametrize("name", NAMES[1:])
    def test_no_instruction_can_be_said_in_training(self, splits, name: str) -> None:
        assert [
            task.instruction
            for task in splits[name]
            if SAID_IN_TRAINING.fullmatch(task.instruction)
        ] == []

    @pytest.mark.parametrize("name", [name for name in NAMES if name != "novel_objects"])
    def test_held_out_objects_are_not_asked_for(self, splits, name: str) -> None:
        asked = {n for task in splits[name] for n in categories_of(task.goal)}
        assert asked & HELD_OUT == ({CATEGORIES.index("mug")} if name == "context" else set())

    def test_always_the_same_action_solves_next_to_nothing(self, splits) -> None:
        found = [task for tasks in splits.values() for task in tasks[::20]]
        batch = RearrangeBatch(len(found))
        solved = np.zeros(len(ACTIONS), np.int64)
        for action in range(len(ACTIONS)):
            for index, task in enumerate(found):
                batch.begin(index, task)
            # A second time changes nothing: it goes to the same place or is impossible.
            solved[action] = batch.step(np.full(len(found), action)).success.sum()
        assert solved.max() <= 1, solved

    def test_actions_by_chance_solve_next_to_nothing(self, splits) -> None:
        rng = np.random.default_rng(5)
        found = [task for tasks in splits.values() for task in tasks]
        batch = RearrangeBatch(len(found))
        for index, task in enumerate(found):
            batch.begin(index, task)
        solved = np.zeros(len(found), np.bool_)
        done = np.zeros(len(found), np.bool_)
        for _ in range(32):
            step = batch.step(np.where(done, LEAVE, rng.integers(len(ACTIONS), size=len(found))))
            solved |= step.success & ~done
            done |= step.done
        assert done.all()
        assert solved.sum() <= 40, solved.sum()


class TestEach:
    def test_new_scenes_uses_words_of_training(self, splits) -> None:
        for task in splits["new_scenes"]:
            assert matcher(TRAIN[task.kind]).fullmatch(task.instruction)

    def test_new_scenes_has_the_kinds_of_the_original(self, splits) -> None:
        assert Counter(task.kind for task in splits["new_scenes"]) == {
            "fetch": 25,
            "move": 19,
            "put_two": 18,
            "take_off": 14,
            "swap": 14,
            "close_fridge": 5,
            "open_fridge": 5,
        }

    def test_rephrasing_has_kinds_of_training_alone(self, splits) -> None:
        kinds = {task.kind for task in splits["rephrasing"]}
        assert kinds == set(TRAIN) - {"go_to", "find"}

    @pytest.mark.parametrize(
        ("name", "asked", "each"),
        [
            ("referring_expressions", {"plum", "lemon", "banana", "apple"}, 25),
            ("context", {"ball", "screwdriver", "scissors", "cleanser", "mug"}, 20),
        ],
    )
    def test_descriptions_are_of_the_original_s_objects(
        self, splits, name: str, asked: set[str], each: int
    ) -> None:
        found = Counter(CATEGORIES[categories_of(task.goal)[0]] for task in splits[name])
        assert found == dict.fromkeys(asked, each)

    def test_spatial_relationships_tells_sink_and_sofa(self, splits) -> None:
        targets = Counter(
            RECEPTACLES[part.place].name
            for task in splits["spatial_relationships"]
            for part in walk(task.goal)
            if isinstance(part, Atom) and part.relation == "on_top"
        )
        assert targets == {"sink": 70, "sofa": 30}

    def test_irrelevant_text_is_long(self, splits) -> None:
        assert min(len(task.instruction.split()) for task in splits["irrelevant_text"]) >= 12

    def test_multiple_rearrangements_is_about_several_objects(self, splits) -> None:
        kinds = Counter(task.kind for task in splits["multiple_rearrangements"])
        assert kinds == {"gather_from": 60, "gather": 40}
        for task in splits["multiple_rearrangements"]:
            assert isinstance(task.goal, ForAll)
            there = [placed for placed in task.objects if placed.category == task.goal.category]
            assert 2 <= len(there) <= 3
            assert 45 <= len(task.objects) <= 54
            assert 3 <= len(task.solution) <= 8

    def test_gathering_from_a_place_leaves_none_elsewhere_but_on_the_target(self, splits) -> None:
        for task in splits["multiple_rearrangements"]:
            if task.kind == "gather_from":
                surfaces = generate(task.macro, task.variant).surfaces
                on = Counter(
                    int(((low <= placed.position) & (placed.position <= high)).all())
                    for placed in task.objects
                    if placed.category == task.goal.category
                    for low, high in [surfaces[ACTIONS[task.solution[0]].target]]
                )
                assert on[1] == 2

    def test_novel_objects_asks_for_held_out_ones_alone(self, splits) -> None:
        asked = [categories_of(task.goal) for task in splits["novel_objects"]]
        assert {n for found in asked for n in found} == HELD_OUT
        assert Counter(task.kind for task in splits["novel_objects"]) == {"move": 53, "fetch": 47}

    def test_multiple_objects_moves_three(self, splits) -> None:
        for task in splits["multiple_objects"]:
            assert isinstance(task.goal, Exists)
            assert len({category for _, category in task.goal.variables}) == 3
            assert len(task.solution) == 12

    def test_conditions_say_the_same_whichever_way_it_is(self, splits) -> None:
        found = splits["conditional_instructions"]
        assert Counter(task.kind for task in found) == {"if_closed": 53, "if_open": 47}
        said = matcher(IF_FRIDGE)
        for task in found:
            assert said.fullmatch(task.instruction)
            assert (task.joints[FRIDGE_HANDLE] > 0) == (task.kind == "if_open")

    def test_conditions_are_about_the_object_of_their_branch(self, splits) -> None:
        for task in splits["conditional_instructions"]:
            (_, first), (_, second) = task.goal.variables
            picked = next(ACTIONS[n].target for n in task.solution if ACTIONS[n].skill == "pick")
            assert picked == (first if task.kind == "if_open" else second)
            at = [task.instruction.lower().find(spoken(n).lower()) for n in (first, second)]
            assert at[0] < at[1]

    @pytest.mark.parametrize("name", ["if_open", "if_closed"])
    def test_the_other_branch_is_no_success(self, splits, name: str) -> None:
        tasks = [task for task in splits["conditional_instructions"] if task.kind == name]
        for task in tasks:
            layout = generate(task.macro, task.variant)
            (_, first), (_, second) = task.goal.variables
            wrong = second if name == "if_open" else first
            pick = next(n for n, a in enumerate(ACTIONS) if a.skill == "pick" and a.target == wrong)
            where = next(placed.position for placed in task.objects if placed.category == wrong)
            low, high = layout.surfaces.transpose(1, 0, 2)
            source = int(((low <= where) & (where <= high)).all(axis=1).argmax())
            played = play(task, layout, [source, pick, *task.solution[2:]])
            assert all(played.valid)
            assert not played.success


class TestTrainValidation:
    def test_flats_and_words_are_those_of_training(self, tasks) -> None:
        for task in tasks.split("train_validation"):
            assert task.macro == 0
            assert SAID_IN_TRAINING.fullmatch(task.instruction)
            assert not {placed.category for placed in task.objects} & HELD_OUT

    def test_it_has_a_hundred(self) -> None:
        assert train_validation().size == 100
        assert {split.size for split in EVALUATION.values()} == {100}
