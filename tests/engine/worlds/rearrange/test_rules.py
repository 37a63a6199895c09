"""What each action needs and does, each threshold from both sides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from engine.worlds.rearrange.episode import Episode, Placed
from engine.worlds.rearrange.goals import And, Atom, Exists
from engine.worlds.rearrange.layout import OPEN_AIR, generate, spots, start_pose
from engine.worlds.rearrange.names import (
    ACTIONS,
    ENTITIES,
    FRIDGE_HANDLE,
    HANDLES,
)
from engine.worlds.rearrange.rules import act
from engine.worlds.rearrange.state import GRIPPER_HEIGHT, NOTHING, REACH, allocate, joined, state_of

NORTH = math.pi / 2


def from_south(hand: Any, name: str, distance: float, turned: float = 0.0) -> tuple[float, ...]:
    """A pose at a distance south of an entity, turned away from it."""
    x, y, _ = hand.where(name)
    return (x, y - distance, NORTH + turned)


def test_nav_goes_to_the_stand_of_every_entity(hand: Any) -> None:
    state = hand.state(hand.episode())
    for index, name in enumerate(ENTITIES):
        assert hand.do(state, f"nav({name})") == [True]
        assert state.pose[0].tolist() == hand.layout.stands[index].tolist()


@pytest.mark.parametrize(("distance", "able"), [(1.499, True), (1.501, False)])
def test_pick_reaches_1_5_m(hand: Any, distance: float, able: bool) -> None:
    start = from_south(hand, "sofa", distance)
    state = hand.state(hand.episode([("apple", "sofa")], start=start))
    assert hand.do(state, "pick_apple") == [able]
    assert state.held[0] == (0 if able else NOTHING)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize(("turned", "able"), [(0.999, True), (1.001, False)])
def test_pick_sees_1_rad_to_each_side(hand: Any, turned: float, able: bool, side: int) -> None:
    start = from_south(hand, "sofa", 1.0, side * turned)
    state = hand.state(hand.episode([("apple", "sofa")], start=start))
    assert hand.do(state, "pick_apple") == [able]


def test_pick_measures_on_the_floor(hand: Any) -> None:
    x, y, _ = hand.where("sofa")
    start = from_south(hand, "sofa", 1.4)
    state = hand.state(hand.episode([("apple", (x, y, 9.0))], start=start))
    assert hand.do(state, "pick_apple") == [True]


def test_pick_needs_its_category_and_an_empty_gripper(hand: Any) -> None:
    start = from_south(hand, "sofa", 1.0)
    state = hand.state(hand.episode([("apple", "sofa"), ("pear", "sofa")], start=start))
    assert hand.do(state, "pick_plum", "pick_apple") == [False, True]
    before = state.take(np.zeros(1, np.int64))
    assert hand.do(state, "pick_pear", "pick_apple") == [False, False]
    assert state.held[0] == 0
    assert state.positions.tolist() == before.positions.tolist()


def test_pick_takes_the_first_that_can_be_had_in_entity_order(hand: Any) -> None:
    x, y, z = hand.where("sofa")
    objects = [("apple", "sink"), ("apple", (x + 0.4, y, z)), ("apple", (x, y - 0.4, z))]
    state = hand.state(hand.episode(objects, start=from_south(hand, "sofa", 1.0)))
    assert hand.do(state, "pick_apple") == [True]
    assert state.held[0] == 1


@pytest.mark.parametrize("handle", range(len(HANDLES)))
def test_a_closed_cabinet_hides_what_is_in_it_and_the_fridge_does_not(
    hand: Any, handle: int
) -> None:
    name = HANDLES[handle].name
    state = hand.state(hand.episode([("apple", name)], start=from_south(hand, name, 1.0)))
    cabinet = handle != FRIDGE_HANDLE
    assert hand.do(state, "pick_apple") == [not cabinet]
    if cabinet:
        assert hand.do(state, f"open_cab({name})", "pick_apple") == [True, True]


def test_another_closed_cabinet_hides_nothing(hand: Any) -> None:
    first, second = HANDLES[0].name, HANDLES[1].name
    joints = (HANDLES[0].opened, 0.0, 0.0, 0.0, 0.0)
    objects = [("apple", first), ("apple", second)]
    start = from_south(hand, first, 1.0)
    state = hand.state(hand.episode(objects, start=start, joints=joints))
    assert hand.do(state, f"nav({second})", "pick_apple", f"nav({first})", "pick_apple") == [
        True, False, True, True,
    ]  # fmt: skip


def test_what_is_held_moves_along(hand: Any) -> None:
    state = hand.state(hand.episode([("apple", "sofa"), ("pear", "sofa")]))
    assert all(hand.do(state, "nav(sofa)", "pick_apple"))
    x, y, _ = hand.where("sofa")
    assert state.positions[0, 0] == pytest.approx((x, y - 1 + REACH, GRIPPER_HEIGHT))
    hand.do(state, "nav(chair)")
    x, y, _ = hand.where("chair")
    assert state.positions[0, 0] == pytest.approx((x, y - 1 + REACH, GRIPPER_HEIGHT))
    assert state.positions[0, 1] == pytest.approx(hand.where("sofa"))


@pytest.mark.parametrize(
    ("distance", "turned", "able"),
    [(1.999, 0, True), (2.001, 0, False), (1.0, 1.569, True), (1.0, 1.571, False),
     (1.0, -1.569, True), (1.0, -1.571, False)],
)  # fmt: skip
def test_place_needs_the_robot_at_the_receptacle(
    hand: Any, distance: float, turned: float, able: bool
) -> None:
    state = hand.state(hand.episode([("apple", "sofa")]))
    assert all(hand.do(state, "nav(sofa)", "pick_apple"))
    state.pose[0] = from_south(hand, "chair", distance, turned)
    assert hand.do(state, "place(chair)") == [able]
    assert bool(state.held[0] == NOTHING) is able


def test_place_needs_something_held(hand: Any) -> None:
    state = hand.state(hand.episode([("apple", "sofa")], start=from_south(hand, "sofa", 1.0)))
    assert hand.do(state, "place(sofa)") == [False]


def test_place_puts_down_evenly_within_0_8_of_the_box(hand: Any) -> None:
    receptacle = hand.receptacle("chair")
    low, high = hand.layout.surfaces[receptacle]
    shares = []
    for number in range(400):
        state = hand.state(hand.episode([("apple", "sofa")], id=f"episode {number}"))
        assert all(hand.do(state, "nav(sofa)", "pick_apple", "nav(chair)", "place(chair)"))
        spot = state.positions[0, 0]
        assert spot[2] == pytest.approx(low[2] + 0.05)
        shares.append((spot[:2] - low[:2]) / (high - low)[:2])
    found = np.array(shares)
    assert found.min() >= 0.1
    assert found.max() <= 0.9
    # 400 draws: a tenth of the range holds 40 on average; 15 or 70 are more than 4 sigma away.
    for axis in range(2):
        counts, _ = np.histogram(found[:, axis], bins=10, range=(0.1, 0.9))
        assert counts.min() > 15
        assert counts.max() < 70
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.2


def test_the_same_episode_ends_the_same_and_each_step_has_a_spot_of_its_own(hand: Any) -> None:
    actions = ("nav(sofa)", "pick_apple", "place(sofa)", "pick_apple", "place(sofa)")
    ends, firsts = [], []
    for _ in range(2):
        state = hand.state(hand.episode([("apple", "sofa")]))
        assert all(hand.do(state, *actions[:3]))
        firsts.append(state.positions[0, 0].tolist())
        assert all(hand.do(state, *actions[3:]))
        ends.append(state.positions[0, 0].tolist())
    assert ends[0] == ends[1]
    assert firsts[0] == firsts[1] != ends[0]


def skill_name(skill: str, handle: int) -> str:
    return f"{skill}_fridge" if handle == FRIDGE_HANDLE else f"{skill}_cab({HANDLES[handle].name})"


@pytest.mark.parametrize("handle", range(len(HANDLES)))
def test_open_and_close_take_turns(hand: Any, handle: int) -> None:
    name = HANDLES[handle].name
    state = hand.state(hand.episode(start=from_south(hand, name, 1.0)))
    opening, closing = skill_name("open", handle), skill_name("close", handle)
    assert hand.do(state, closing, opening, opening) == [False, True, False]
    assert state.joints[0, handle] == np.float32(HANDLES[handle].opened)
    assert hand.do(state, closing, closing) == [True, False]
    assert state.joints[0].tolist() == [0.0] * len(HANDLES)


@pytest.mark.parametrize(
    ("handle", "joint", "may_open", "may_close"),
    [(0, 0.149, True, False), (0, 0.151, False, False), (0, 0.349, False, False),
     (0, 0.351, False, True), (4, 0.149, True, False), (4, 0.151, False, False),
     (4, 1.069, False, False), (4, 1.071, False, True)],
)  # fmt: skip
def test_a_joint_between_is_neither_open_nor_closed(
    hand: Any, handle: int, joint: float, may_open: bool, may_close: bool
) -> None:
    for skill, able in (("open", may_open), ("close", may_close)):
        joints = [0.0] * len(HANDLES)
        joints[handle] = joint
        start = from_south(hand, HANDLES[handle].name, 1.0)
        state = hand.state(hand.episode(start=start, joints=tuple(joints)))
        assert hand.do(state, skill_name(skill, handle)) == [able]
        row = Atom("opened", place=handle), Atom("closed", place=handle)
        if not able:
            assert [hand.holds(state, atom) for atom in row] == [may_close, may_open]


@pytest.mark.parametrize(
    ("distance", "turned", "able"),
    [(1.999, 0, True), (2.001, 0, False), (1.0, 1.569, True), (1.0, 1.571, False)],
)
@pytest.mark.parametrize("skill", ["open", "close"])
def test_open_and_close_need_the_robot_at_the_handle(
    hand: Any, skill: str, distance: float, turned: float, able: bool
) -> None:
    start = from_south(hand, "fridge_push_point", distance, turned)
    joints = (0.0, 0.0, 0.0, 0.0, 1.22 if skill == "close" else 0.0)
    state = hand.state(hand.episode(start=start, joints=joints))
    assert hand.do(state, f"{skill}_fridge") == [able]


def test_an_impossible_action_changes_only_the_count_of_steps(hand: Any) -> None:
    objects = [("apple", "sofa"), ("pear", "sink")]
    for index, action in enumerate(ACTIONS):
        if action.skill == "nav":
            continue
        state = hand.state(hand.episode(objects, start=(0.0, -9.0, 0.0)))
        before = state.take(np.zeros(1, np.int64))
        assert not act(state, np.zeros(1, np.int64), np.array([index]))[0]
        assert state.steps[0] == 1
        for field in ("pose", "held", "joints", "positions"):
            assert np.array_equal(getattr(state, field), getattr(before, field)), action.name


def a_full_flat(number: int) -> tuple[Episode, Any]:
    """A generated flat with 35 objects."""
    rng = np.random.default_rng(number)
    layout = generate(number % 5, number % 21)
    objects = []
    for receptacle in range(7):
        for spot in spots(layout, receptacle, 5, rng):
            position = tuple(float(value) for value in spot)
            objects.append(Placed(int(rng.integers(33)), 0, position))
    start = start_pose(layout, rng)
    return (
        Episode(str(number), "", "", "", 0, 0, start, (0.0,) * 5, tuple(objects), And(()), (), ()),
        layout,
    )


def test_many_rows_at_once_are_what_each_is_alone() -> None:
    flats = [a_full_flat(number) for number in range(12)]
    alone = []
    for episode, layout in flats:
        state = allocate(1, 40)
        state.begin(0, episode, layout)
        alone.append(state)
    together = joined(alone).take(np.arange(len(flats)))
    rng = np.random.default_rng(7)
    possible = np.zeros(len(ACTIONS), np.int64)
    for _ in range(300):
        actions = rng.integers(len(ACTIONS), size=len(flats))
        rows = rng.permutation(len(flats))[: rng.integers(1, len(flats) + 1)]
        valid = act(together, rows, actions[rows])
        for row, was_valid in zip(rows, valid, strict=True):
            one = act(alone[row], np.zeros(1, np.int64), actions[row : row + 1])
            assert one[0] == was_valid
            possible[actions[row]] += was_valid
    whole = joined(alone)
    for field in ("pose", "held", "joints", "positions", "steps"):
        assert np.array_equal(getattr(together, field), getattr(whole, field)), field
    skills = {ACTIONS[index].skill for index in np.flatnonzero(possible)}
    assert skills == {"nav", "pick", "place", "open", "close"}


@pytest.mark.parametrize("macro", range(5))
@pytest.mark.parametrize("corner", [(0.1, 0.1), (0.1, 0.9), (0.9, 0.1), (0.9, 0.9)])
def test_what_has_been_put_down_in_a_corner_can_be_picked_again(
    hand: Any, macro: int, corner: tuple[float, float]
) -> None:
    layout = generate(macro, 0)
    for receptacle in OPEN_AIR:
        low, high = layout.surfaces[receptacle].tolist()
        x, y = (low[n] + (high[n] - low[n]) * corner[n] for n in range(2))
        state = state_of(hand.episode([("ball", (x, y, low[2]))]), layout)
        assert hand.do(state, f"nav({ENTITIES[receptacle]})", "pick_ball") == [True, True]


def test_on_top_is_true_over_a_receptacle_even_while_held(hand: Any) -> None:
    goal = Exists((("a", hand.category("apple")),), Atom("on_top", "a", hand.receptacle("sofa")))
    state = hand.state(hand.episode([("apple", "sofa")]))
    assert hand.holds(state, goal)
    hand.do(state, "nav(sofa)", "pick_apple")
    # The gripper is 0.5 m from the middle of the sofa, within its box.
    assert hand.holds(state, goal)
    assert not hand.holds(state, And((goal, Atom("not_holding"))))
    hand.do(state, "nav(chair)")
    assert not hand.holds(state, goal)
