"""Goals mean what they say: by hand, and against a direct reading of the expression."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import product

import pytest

from engine.errors import PredicateError
from engine.worlds.rearrange import facts
from engine.worlds.rearrange.goals import (
    And,
    Atom,
    Exists,
    ForAll,
    Goal,
    Nand,
    Or,
    categories_of,
)
from engine.worlds.rearrange.grounding import ground

CUP, CAN = 27, 19
SOFA, SINK = 6, 3


def known(*bits: int) -> int:
    return sum(1 << bit for bit in set(bits))


def on(index: int, receptacle: int) -> int:
    return facts.object_bit(index, facts.ON + receptacle)


def on_top(variable: str, receptacle: int) -> Atom:
    return Atom("on_top", variable, receptacle)


def test_exists_needs_one_object_for_the_whole_body() -> None:
    goal = Exists((("x", CUP),), And((on_top("x", SOFA), Atom("holding", "x"))))
    check = ground(goal, [CUP, CAN, CUP])
    held = [facts.object_bit(n, facts.HOLDING) for n in range(3)]
    assert check(known(on(2, SOFA), held[2]))
    assert not check(known(on(0, SOFA), held[2]))
    assert not check(known(on(1, SOFA), held[1]))
    assert not check(0)


def test_distinct_variables_bind_distinct_objects() -> None:
    goal = Exists((("x", CUP), ("y", CUP)), And((on_top("x", SOFA), on_top("y", SOFA))))
    check = ground(goal, [CUP, CUP, CAN])
    assert not check(known(on(0, SOFA)))
    assert not check(known(on(0, SOFA), on(2, SOFA)))
    assert check(known(on(0, SOFA), on(1, SOFA)))
    assert not ground(goal, [CUP])(known(on(0, SOFA)))


def test_an_inner_quantifier_leaves_out_what_is_bound_outside() -> None:
    inner = Exists((("y", CUP),), on_top("y", SOFA))
    check = ground(Exists((("x", CUP),), And((on_top("x", SOFA), inner))), [CUP, CUP])
    assert not check(known(on(0, SOFA)))
    assert check(known(on(0, SOFA), on(1, SOFA)))


def test_a_name_bound_outside_keeps_its_object() -> None:
    inner = Exists((("x", CUP),), on_top("x", SINK))
    check = ground(Exists((("x", CUP),), And((on_top("x", SOFA), inner))), [CUP, CUP])
    assert not check(known(on(0, SOFA), on(1, SINK)))
    assert check(known(on(0, SOFA), on(0, SINK)))
    other = Exists((("x", CAN),), on_top("x", SINK))
    never = ground(Exists((("x", CUP),), And((on_top("x", SOFA), other))), [CUP, CAN])
    assert not never(known(on(0, SOFA), on(0, SINK), on(1, SINK)))


def test_nand_of_exists_says_there_is_none() -> None:
    goal = And((Atom("not_holding"), Nand((Exists((("x", CUP),), on_top("x", SOFA)),))))
    check = ground(goal, [CUP, CUP])
    assert check(known(facts.NOT_HOLDING))
    assert check(known(facts.NOT_HOLDING, on(0, SINK)))
    assert not check(known(facts.NOT_HOLDING, on(1, SOFA)))
    assert not check(0)


def test_nand_of_several_needs_one_of_them_false() -> None:
    check = ground(Nand((Atom("opened", place=0), Atom("closed", place=1))), [])
    first, second = facts.OPENED, facts.CLOSED + 1
    assert [check(known(*bits)) for bits in ((), (first,), (second,), (first, second))] == [
        True, True, True, False,
    ]  # fmt: skip


def test_for_all_is_of_every_object_of_the_category() -> None:
    check = ground(ForAll("x", CAN, on_top("x", SINK)), [CAN, CUP, CAN])
    assert not check(known(on(0, SINK)))
    assert not check(known(on(0, SINK), on(1, SINK)))
    assert check(known(on(0, SINK), on(2, SINK)))
    assert ground(ForAll("x", CAN, on_top("x", SINK)), [CUP])(0)


def test_empty_expressions() -> None:
    assert ground(And(()), [])(0)
    assert not ground(Or(()), [])(0)
    assert not ground(Nand(()), [])(0)
    assert not ground(Exists((("x", CUP),), And(())), [CAN])(0)
    assert ground(Exists((("x", CUP),), And(())), [CUP])(0)


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        (on_top("x", SOFA), "'x' is no variable"),
        (Exists((("x", CUP),), on_top("y", SOFA)), "those are: x"),
        (Exists((("x", CUP),), on_top("x", 11)), "from 0 to 10"),
        (Exists((("x", CUP),), Atom("in", "x", 5)), "from 0 to 4"),
        (Atom("robot_at"), "from 0 to 15"),
        (Atom("opened", place=-1), "from 0 to 4"),
        (Atom("holding"), "'' is no variable"),
        (Exists((("x", CUP),), Atom("opened", "x", 1)), "`opened` takes no object"),
        (Exists((("x", 33),), And(())), "no category 33"),
        (Exists((("x", CUP),), ForAll("x", CUP, on_top("x", SOFA))), "bound outside"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused(goal: Goal, said: str) -> None:
    with pytest.raises(PredicateError, match=said):
        ground(goal, [CUP, CAN])


def test_a_goal_with_too_many_bindings_is_refused() -> None:
    variables = tuple((f"x{n}", CUP) for n in range(6))
    different = And(tuple(on_top(name, n) for n, (name, _) in enumerate(variables)))
    with pytest.raises(PredicateError, match="ways to bind"):
        ground(Exists(variables, different), [CUP] * 14)


def test_of_equal_variables_only_the_number_matters() -> None:
    variables = tuple((f"x{n}", CUP) for n in range(7))
    same = And(tuple(on_top(name, SOFA) for name, _ in variables))
    check = ground(Exists(variables, same), [CUP] * 9)
    assert not check(known(*(on(n, SOFA) for n in range(6))))
    assert check(known(*(on(n, SOFA) for n in range(2, 9))))


def test_categories_in_order_of_appearance() -> None:
    goal = And(
        (ForAll("x", CAN, on_top("x", 1)), Nand((Exists((("y", CUP), ("z", CAN)), And(())),)))
    )
    assert categories_of(goal) == (CAN, CUP)


def read(goal: Goal, bits: int, categories: Sequence[int], bound: Mapping[str, int]) -> bool:
    """What an expression says, read as it stands."""
    match goal:
        case Atom("on_top", name, place):
            return bool(bits >> on(bound[name], place) & 1)
        case Atom("holding", name, _):
            return bool(bits >> facts.object_bit(bound[name], facts.HOLDING) & 1)
        case Atom("robot_at", "", place):
            return bool(bits >> place & 1)
        case And(parts):
            return all(read(part, bits, categories, bound) for part in parts)
        case Or(parts):
            return any(read(part, bits, categories, bound) for part in parts)
        case Nand(parts):
            return not all(read(part, bits, categories, bound) for part in parts)
        case ForAll(name, category, body):
            return all(
                read(body, bits, categories, {**bound, name: n})
                for n, other in enumerate(categories)
                if other == category
            )
        case Exists(variables, body):
            for objects in product(range(len(categories)), repeat=len(variables)):
                new = {name: n for (name, _), n in zip(variables, objects, strict=True)}
                fits = all(categories[new[name]] == category for name, category in variables)
                fresh = [n for name, n in new.items() if name not in bound]
                kept = all(new.get(name, n) == n for name, n in bound.items())
                distinct = len({*fresh, *bound.values()}) == len(fresh) + len({*bound.values()})
                everyone = {**bound, **new}
                if fits and kept and distinct and read(body, bits, categories, everyone):
                    return True
            return False
    raise AssertionError(goal)


def some_goal(rng: random.Random, depth: int, names: tuple[str, ...]) -> Goal:
    kind = rng.choice(["atom", "and", "or", "nand", "exists", "all"]) if depth else "atom"
    fresh = f"v{len(names)}", f"v{len(names) + 1}"
    if kind == "exists":
        count = rng.choice([1, 2])
        variables = tuple((name, rng.choice([CUP, CAN])) for name in fresh[:count])
        return Exists(variables, some_goal(rng, depth - 1, names + fresh[:count]))
    if kind == "all":
        return ForAll(
            fresh[0], rng.choice([CUP, CAN]), some_goal(rng, depth - 1, names + fresh[:1])
        )
    if kind == "atom":
        if not names or rng.random() < 0.2:
            return Atom("robot_at", place=rng.randrange(3))
        if rng.random() < 0.3:
            return Atom("holding", rng.choice(names))
        return on_top(rng.choice(names), rng.randrange(3))
    parts = tuple(some_goal(rng, depth - 1, names) for _ in range(rng.choice([1, 2, 3])))
    return {"and": And, "or": Or, "nand": Nand}[kind](parts)


def some_conjunction(rng: random.Random) -> Goal:
    """Many variables, of which often the same is said."""
    variables = tuple((f"v{n}", rng.choice([CUP, CAN])) for n in range(rng.choice([2, 3, 4])))
    atoms = [
        on_top(name, rng.randrange(2)) for name, _ in variables for _ in range(rng.randrange(3))
    ]
    return Exists(variables, And(tuple(atoms)))


def test_grounded_goals_agree_with_a_direct_reading() -> None:
    rng = random.Random(1)
    outcomes = {True: 0, False: 0}
    for _ in range(600):
        goal = some_goal(rng, 4, ()) if rng.random() < 0.7 else some_conjunction(rng)
        categories = [rng.choice([CUP, CAN]) for _ in range(rng.randrange(5))]
        check = ground(goal, categories)
        for _ in range(8):
            bits = known(*(n for n in range(3) if rng.random() < 0.5))
            for index in range(len(categories)):
                bits |= known(*(on(index, n) for n in range(3) if rng.random() < 0.6))
                if rng.random() < 0.5:
                    bits |= known(facts.object_bit(index, facts.HOLDING))
            said = read(goal, bits, categories, {})
            assert check(bits) == said, goal
            outcomes[said] += 1
    assert min(outcomes.values()) > 1000
