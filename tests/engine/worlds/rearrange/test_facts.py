"""Each predicate, its thresholds from both sides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from engine.worlds.rearrange import facts
from engine.worlds.rearrange.goals import Atom, Exists, Goal
from engine.worlds.rearrange.names import ENTITIES, HANDLES, RECEPTACLE_NAMES

NORTH = math.pi / 2


def of_apple(hand: Any, relation: Any, place: int = -1) -> Goal:
    return Exists((("a", hand.category("apple")),), Atom(relation, "a", place))


@pytest.mark.parametrize("name", ENTITIES)
@pytest.mark.parametrize(
    ("distance", "turned", "at"),
    [(1.999, 0, True), (2.001, 0, False), (1.0, 1.569, True), (1.0, 1.571, False),
     (1.0, -1.569, True), (1.0, -1.571, False), (0.0, 3.0, True)],
)  # fmt: skip
def test_robot_at_an_entity(hand: Any, name: str, distance: float, turned: float, at: bool) -> None:
    x, y, _ = hand.where(name)
    state = hand.state(hand.episode(start=(x, y - distance, NORTH + turned)))
    found = [hand.holds(state, Atom("robot_at", place=n)) for n in range(len(ENTITIES))]
    assert found == [at and other == name for other in ENTITIES]


@pytest.mark.parametrize(
    ("distance", "turned", "at"),
    [(1.999, 0, True), (2.001, 0, False), (1.0, 1.569, True), (1.0, 1.571, False)],
)
def test_robot_at_an_object(hand: Any, distance: float, turned: float, at: bool) -> None:
    x, y, _ = hand.where("sofa")
    start = (x, y - distance, NORTH + turned)
    state = hand.state(hand.episode([("pear", "sink"), ("apple", "sofa")], start=start))
    assert hand.holds(state, of_apple(hand, "robot_at")) is at


def test_headings_wrap_around(hand: Any) -> None:
    x, y, _ = hand.where("sofa")
    for turns in (-2, -1, 1, 2):
        state = hand.state(hand.episode(start=(x, y - 1, NORTH + 2 * math.pi * turns)))
        assert hand.holds(state, Atom("robot_at", place=hand.receptacle("sofa")))


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("beyond", "on"), [(-0.001, True), (0.001, False)])
@pytest.mark.parametrize("name", ["sofa", "fridge", "left_drawer"])
def test_on_top_is_within_the_box(
    hand: Any, name: str, axis: int, side: int, beyond: float, on: bool
) -> None:
    position = list(hand.where(name))
    border = hand.layout.surfaces[hand.receptacle(name)][side][axis]
    position[axis] = float(border) + (beyond if side else -beyond)
    state = hand.state(hand.episode([("apple", tuple(position))]))
    found = [hand.holds(state, of_apple(hand, "on_top", n)) for n in range(len(RECEPTACLE_NAMES))]
    assert found == [on and other == name for other in RECEPTACLE_NAMES]


@pytest.mark.parametrize("handle", range(len(HANDLES)))
@pytest.mark.parametrize(("beyond", "inside"), [(-0.001, True), (0.001, False)])
def test_in_is_within_what_the_handle_opens(
    hand: Any, handle: int, beyond: float, inside: bool
) -> None:
    _, y, z = hand.where(HANDLES[handle].name)
    border = float(hand.layout.insides[handle][1][0])
    state = hand.state(hand.episode([("apple", (border + beyond, y, z))]))
    found = [hand.holds(state, of_apple(hand, "in", n)) for n in range(len(HANDLES))]
    assert found == [inside and n == handle for n in range(len(HANDLES))]


@pytest.mark.parametrize(
    ("handle", "joint", "opened", "closed"),
    [(0, 0.351, True, False), (0, 0.349, False, False), (0, 0.151, False, False),
     (0, 0.149, False, True), (3, 0.45, True, False), (4, 1.071, True, False),
     (4, 1.069, False, False), (4, 0.151, False, False), (4, 0.149, False, True)],
)  # fmt: skip
def test_opened_and_closed(
    hand: Any, handle: int, joint: float, opened: bool, closed: bool
) -> None:
    joints = [0.25] * len(HANDLES)
    joints[handle] = joint
    state = hand.state(hand.episode(joints=tuple(joints)))
    for other in range(len(HANDLES)):
        found = [hand.holds(state, Atom(r, place=other)) for r in ("opened", "closed")]
        assert found == ([opened, closed] if other == handle else [False, False])


def test_holding_is_of_the_held_object_alone(hand: Any) -> None:
    state = hand.state(hand.episode([("apple", "sink"), ("apple", "sofa"), ("pear", "sofa")]))
    pear = Exists((("p", hand.category("pear")),), Atom("holding", "p"))
    assert hand.holds(state, Atom("not_holding"))
    assert not hand.holds(state, of_apple(hand, "holding"))
    hand.do(state, "nav(sofa)", "pick_apple")
    assert hand.holds(state, of_apple(hand, "holding"))
    assert not hand.holds(state, pear)
    assert not hand.holds(state, Atom("not_holding"))
    table = facts.facts(state, np.zeros(1, np.int64))[0]
    assert [table[facts.object_bit(n, facts.HOLDING)] for n in range(3)] == [False, True, False]


def test_packed_facts_have_the_columns_as_bits() -> None:
    table = np.random.default_rng(0).random((7, 203)) < 0.4
    for row, number in zip(table, facts.packed(table), strict=True):
        assert [bool(number >> bit & 1) for bit in range(203)] == row.tolist()
        assert number >> 203 == 0
