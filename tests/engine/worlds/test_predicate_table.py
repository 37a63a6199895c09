"""The stack machine says what the predicates themselves say."""

from __future__ import annotations

import numpy as np
import pytest

from engine.worlds.base import Vocabulary
from engine.worlds.predicate import parse
from engine.worlds.predicate_table import PredicateTable, term_names, term_values

WORDS = Vocabulary(
    numbers=frozenset({"wood", "health"}),
    flags=frozenset({"asleep"}),
    tests={"near": frozenset({"table", "tree"}), "seen": frozenset({"tree"})},
)
TEXTS = (
    "true",
    "false",
    "asleep",
    "not asleep",
    "wood >= 2",
    "2 < wood <= 4",
    "health != wood",
    "wood == 3 or health < 2 and not near(table)",
    "(wood > 1 or health > 1) and (near(tree) or seen(tree))",
    "not (near(table) and near(tree)) or asleep",
    "1 < 2",
)


class Player:
    def __init__(self, values):
        self._values = values

    def term(self, name, argument=None):
        return self._values[name if argument is None else f"{name}({argument})"]


def test_names_are_written_as_predicates_write_them():
    assert term_names(WORDS) == (
        "health", "wood", "asleep", "near(table)", "near(tree)", "seen(tree)",
    )  # fmt: skip


def test_values_come_in_the_order_of_the_names():
    player = Player({name: float(index) for index, name in enumerate(term_names(WORDS))})
    assert list(term_values(player, WORDS)) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("text", TEXTS)
def test_it_agrees_with_the_predicate(text):
    names = term_names(WORDS)
    rng = np.random.default_rng(1)
    terms = rng.integers(0, 5, (200, len(names))).astype(np.float64)
    terms[:, 2:] = terms[:, 2:] > 2
    predicate = parse(text, WORDS)
    out = np.zeros((200, 3), np.bool_)
    others = [parse("wood > 3", WORDS), predicate, parse("false", WORDS)]
    PredicateTable(others, names).evaluate(terms, out)
    players = [Player(dict(zip(names, row, strict=True))) for row in terms]
    assert out[:, 1].tolist() == [predicate.holds(player) for player in players]
    assert not out[:, 2].any()


def test_no_predicates_are_no_columns():
    out = np.zeros((2, 0), np.bool_)
    PredicateTable([], term_names(WORDS)).evaluate(np.zeros((2, 6)), out)
    assert out.shape == (2, 0)
