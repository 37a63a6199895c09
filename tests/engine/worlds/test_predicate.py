from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import PredicateError
from engine.worlds.base import Answer, Vocabulary
from engine.worlds.predicate import (
    AllOf,
    AnyOf,
    Compare,
    Constant,
    Node,
    Not,
    Number,
    Term,
    parse,
)

WORDS = Vocabulary(
    numbers=frozenset({"wood", "stone", "health", "daylight", "threat"}),
    flags=frozenset({"sleeping", "enclosed"}),
    tests={
        "unlocked": frozenset({"collect_wood", "place_table"}),
        "near": frozenset({"table", "water"}),
    },
)


class Player:
    def __init__(self, **terms: float) -> None:
        self._terms = terms

    def term(self, name: str, argument: str | None = None) -> float:
        return self._terms.get(name if argument is None else f"{name}_{argument}", 0.0)

    def answer(self, function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Answer:
        raise AssertionError("a predicate never calls the stub")

    def terms(self) -> Mapping[str, float]:
        return self._terms


PLAYER = Player(
    wood=3, health=4, daylight=0.25, threat=99, sleeping=1, near_table=1, unlocked_place_table=1
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("false", False),
        ("True", True),
        ("wood >= 3", True),
        ("wood > 3", False),
        ("3 == wood", True),
        ("wood != stone", True),
        ("0 < daylight < 0.3", True),
        ("1 < daylight < 2", False),
        ("stone > -1", True),
        ("sleeping", True),
        ("enclosed", False),
        ("near(table)", True),
        ("not near(water)", True),
        ("unlocked(place_table) and not unlocked(collect_wood)", True),
        ("wood >= 9 or (health <= 4 and threat > 2)", True),
        ("wood >= 9 or health <= 4 and enclosed", False),
        ("  wood >= 1\n", True),
    ],
)
def test_holds(text: str, expected: bool) -> None:
    assert parse(text, WORDS).holds(PLAYER) is expected


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "is empty", "`true`"),
        ("   ", "is empty", "`true`"),
        ("woodd >= 2", "column 1: unknown number 'woodd'", "did you mean `wood`?"),
        ("wood", "`wood` is a number", "`wood >= 1`"),
        ("slepping", "unknown word 'slepping'", "did you mean `sleeping`?"),
        ("near", "`near` needs a name in brackets", "`near(table)`"),
        ("near(tabel)", "column 6: unknown name in `near(...)` 'tabel'", "did you mean `table`?"),
        ("has(wood)", "unknown test 'has'", "known: near, unlocked"),
        ("near(table, water)", "takes exactly one bare name", "`near(table)`"),
        ("near(what=table)", "takes exactly one bare name", "`near(table)`"),
        ("near(near(table))", "takes exactly one bare name", "`near(table)`"),
        ("sleeping == 1", "`sleeping` is true or false and cannot be compared", "by itself"),
        ("near(table) >= 1", "'near(table)' is not a number", "`wood >= 2`"),
        ("wood + stone > 2", "'wood + stone' is not a number", "`wood >= 2`"),
        ("wood in stone", "this comparison is not known", "<="),
        ("wood is stone", "this comparison is not known", "<="),
        ("wood >=", "cannot read the predicate 'wood >='", "and, or, not"),
        ("wood >= 2 and", "cannot read the predicate", "and, or, not"),
        ("wood >= 10000000000", "the number is too big", "1000000000"),
        ("wood >= 1e999", "the number is too big", "1000000000"),
        ("wood >= true", "unknown number 'true'", "known: daylight"),
        ("'wood' == 'wood'", 'column 1: "\'" has no meaning here', "written bare"),
        ("-near(table)", "is neither true nor false", "and, or, not"),
        ("1", "'1' is neither true nor false", "and, or, not"),
    ],
)
def test_refuses_with_the_place_and_the_way_out(text: str, message: str, hint: str) -> None:
    with pytest.raises(PredicateError) as caught:
        parse(text, WORDS)
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "wood.__class__",
        "__import__('os').system('true')",
        "open(table)",
        "().__class__.__bases__",
        "wood.real >= 1",
        "(lambda: 1)()",
        "near(table)()",
        "unlocked.near(table)",
        "[wood >= 1]",
        "wood >= 1 if sleeping else wood < 1",
        "(wood := 1) >= 1",
        "f'{wood}'",
        "wood >= 2 ** 2 ** 2 ** 2",
        "wood >= 9" + "9" * 900,
        "wood >= " + "9" * 5000,
        "(" * 400 + "true" + ")" * 400,
        "not " * 200 + "true",
        "- " * 200 + "1",
        "true and (" * 60 + "true" + ")" * 60,
        "true\x00",
        "true; false",
        "true # comment",
        "wood\u0301 >= 1",
        "true\nfalse",
        "*near(table)",
        "yield",
        "await near(table)",
    ],
)
def test_hostile_text_is_refused(text: str) -> None:
    with pytest.raises(PredicateError):
        parse(text, WORDS)


def test_a_predicate_is_its_text() -> None:
    predicate = parse(" wood >= 2 and near(table) and wood < 9 ", WORDS)
    assert predicate.text == "wood >= 2 and near(table) and wood < 9"
    assert predicate == parse(predicate.text, WORDS)
    assert predicate.terms() == (Term("wood"), Term("near", "table"))
    with pytest.raises(AttributeError):
        predicate.text = "true"  # type: ignore[misc]


def _operands() -> st.SearchStrategy[Term | Number]:
    constants = st.floats(-1e9, 1e9, allow_nan=False).map(Number)
    return st.one_of(st.sampled_from(sorted(WORDS.numbers)).map(Term), constants)


def _leaves() -> st.SearchStrategy[Node]:
    tests = [Term(name, word) for name, words in WORDS.tests.items() for word in sorted(words)]
    return st.one_of(
        st.booleans().map(Constant),
        st.sampled_from([*(Term(flag) for flag in sorted(WORDS.flags)), *tests]),
        st.builds(
            Compare,
            _operands(),
            st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
            _operands(),
        ),
    )


def _nodes() -> st.SearchStrategy[Node]:
    return st.recursive(
        _leaves(),
        lambda inner: st.one_of(
            inner.map(Not),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: AllOf(tuple(parts))),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: AnyOf(tuple(parts))),
        ),
        max_leaves=8,
    )


@settings(max_examples=150, deadline=None)
@given(_nodes())
def test_text_and_tree_are_the_same(node: Node) -> None:
    assert parse(str(node), WORDS).root == node


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        predicate = parse(text, WORDS)
    except PredicateError as error:
        reason = (error.message, error.hint)
    else:
        reason = ("reads", str(predicate.holds(PLAYER)))
    assert all(reason)
