from __future__ import annotations

import re
from collections import Counter
from string import Formatter

import numpy as np
import pytest

from engine.worlds.rearrange.layout import generate
from engine.worlds.rearrange.names import CATEGORIES, RECEPTACLES
from engine.worlds.rearrange.new_phrasings import (
    BY_LOOK,
    BY_PLACE,
    BY_PURPOSE,
    GATHER,
    GATHER_FROM,
    IF_FRIDGE,
    THREE,
)
from engine.worlds.rearrange.phrasings import IRRELEVANT, PLATE, REPHRASED, TRAIN, plural, spoken

HELD_OUT = [
    *(text for texts in REPHRASED.values() for text in texts),
    *IRRELEVANT,
    PLATE,
    *(text for by in (BY_LOOK, BY_PURPOSE, BY_PLACE) for texts in by.values() for text in texts),
    *GATHER,
    *GATHER_FROM,
    *THREE,
    *IF_FRIDGE,
]
TRAINED = [text for texts in TRAIN.values() for text in texts]


def plain(phrasing: str) -> str:
    """What is left of a phrasing when nobody looks at capitals, punctuation and slots."""
    return " ".join(re.findall(r"[a-z']+|_", re.sub(r"\{\w+\}", "_", phrasing.lower())))


def slots(phrasing: str) -> set[str]:
    return {slot for _, slot, _, _ in Formatter().parse(phrasing) if slot}


class TestCounts:
    def test_training_has_as_many_per_kind_as_the_original(self) -> None:
        assert {kind: len(texts) for kind, texts in TRAIN.items()} == {
            "move": 12,
            "fetch": 11,
            "take_off": 11,
            "put_two": 11,
            "set_table": 11,
            "swap": 11,
            "close_fridge": 11,
            "open_fridge": 11,
            "go_to": 11,
            "find": 11,
        }

    def test_evaluation_has_as_many_per_kind_as_the_original(self) -> None:
        assert {kind: len(texts) for kind, texts in REPHRASED.items()} == {
            "move": 3,
            "fetch": 3,
            "take_off": 3,
            "put_two": 3,
            "set_table": 1,
            "swap": 3,
            "close_fridge": 3,
            "open_fridge": 3,
        }
        assert len(IRRELEVANT) == 3
        assert {name: len(texts) for name, texts in BY_LOOK.items()} == dict.fromkeys(
            ("plum", "lemon", "banana", "apple"), 11
        )
        assert {name: len(texts) for name, texts in BY_PURPOSE.items()} == dict.fromkeys(
            ("ball", "screwdriver", "scissors", "cleanser", "mug"), 11
        )
        assert sum(len(texts) for texts in BY_PLACE.values()) == 4
        assert [len(texts) for texts in (GATHER, GATHER_FROM, THREE, IF_FRIDGE)] == [11, 10, 4, 11]

    def test_there_are_287_with_the_conditional_ones_counted_for_either_state(self) -> None:
        assert len(TRAINED) + len(HELD_OUT) + len(IF_FRIDGE) == 287


class TestWording:
    def test_no_two_are_the_same(self) -> None:
        twice = [text for text, n in Counter(map(plain, TRAINED + HELD_OUT)).items() if n > 1]
        assert twice == []

    def test_none_of_evaluation_is_in_training(self) -> None:
        assert not set(map(plain, HELD_OUT)) & set(map(plain, TRAINED))

    @pytest.mark.parametrize(
        ("phrasings", "told"),
        [
            ((*TRAIN["move"], *REPHRASED["move"]), {"object", "source", "target"}),
            ((*TRAIN["fetch"], *REPHRASED["fetch"], *IRRELEVANT), {"object", "target"}),
            ((*TRAIN["take_off"], *REPHRASED["take_off"]), {"object", "source"}),
            ((*TRAIN["put_two"], *REPHRASED["put_two"]), {"first", "second", "target"}),
            ((*TRAIN["swap"], *REPHRASED["swap"]), {"first", "second", "source", "target"}),
            ((*TRAIN["go_to"], *TRAIN["set_table"], *REPHRASED["set_table"], PLATE), {"target"}),
            (TRAIN["find"], {"object"}),
            (THREE, {"first", "second", "third", "target", "target2", "target3"}),
            (IF_FRIDGE, {"first", "second", "target"}),
            ((*BY_PLACE["sink"], *BY_PLACE["sofa"]), {"object"}),
        ],
    )
    def test_each_tells_what_its_task_needs(
        self, phrasings: tuple[str, ...], told: set[str]
    ) -> None:
        assert [text for text in phrasings if slots(text) != told] == []

    @pytest.mark.parametrize("name", [*BY_LOOK, *BY_PURPOSE])
    def test_a_description_names_no_object_and_no_other_place(self, name: str) -> None:
        words = [receptacle.spoken for receptacle in RECEPTACLES]
        words += [word for n in range(len(CATEGORIES)) for word in (spoken(n), plural(n))]
        named = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)
        texts = (BY_LOOK | BY_PURPOSE)[name]
        assert [text for text in texts if named.search(text)] == []
        assert all(slots(text) == {"target"} for text in texts)

    @pytest.mark.parametrize("name", BY_PLACE)
    def test_a_relation_does_not_name_its_receptacle(self, name: str) -> None:
        assert [text for text in BY_PLACE[name] if name in text.lower()] == []

    def test_categories_have_words(self) -> None:
        assert spoken(CATEGORIES.index("toy_airplane")) == "toy airplane"
        assert spoken(CATEGORIES.index("rubriks_cube")) == "Rubik's cube"
        assert [
            plural(CATEGORIES.index(name)) for name in ("box", "knife", "strawberry", "cup")
        ] == [
            "boxes",
            "knives",
            "strawberries",
            "cups",
        ]
        assert not any("_" in spoken(n) + plural(n) for n in range(len(CATEGORIES)))


class TestRelations:
    """What `BY_PLACE` says is true of all flats that evaluation uses."""

    @pytest.mark.parametrize("variant", range(21))
    def test_the_sink_lies_between_the_counters(self, variant: int) -> None:
        places = generate(3, variant).positions
        names = [receptacle.name for receptacle in RECEPTACLES]
        left, sink, right = (
            places[names.index(name), :2] for name in ("left_counter", "sink", "right_counter")
        )
        share = float((sink - left) @ (right - left) / ((right - left) @ (right - left)))
        assert 0.2 < share < 0.8

    @pytest.mark.parametrize("variant", range(21))
    def test_the_sofa_is_nearest_the_middle_but_for_the_chair(self, variant: int) -> None:
        layout = generate(3, variant)
        gaps = ((layout.positions[:11, :2] - [side / 2 for side in layout.size]) ** 2).sum(axis=1)
        gaps[[receptacle.name for receptacle in RECEPTACLES].index("chair")] = np.inf
        assert RECEPTACLES[int(gaps.argmin())].name == "sofa"
