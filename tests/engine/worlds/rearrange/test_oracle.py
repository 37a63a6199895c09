"""Solutions: played, found, and cut into subgoals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.worlds.rearrange.batch import RearrangeBatch
from engine.worlds.rearrange.episode import Episode, Placed
from engine.worlds.rearrange.goals import And, Atom, Exists, ForAll, Goal, Nand
from engine.worlds.rearrange.layout import OPEN_AIR, generate, spots, start_pose
from engine.worlds.rearrange.names import ACTION_INDEX, ACTIONS, CATEGORIES
from engine.worlds.rearrange.oracle import play, search, solve


def names(actions: Any) -> list[str]:
    return [ACTIONS[action].name for action in actions]


def numbers(*actions: str) -> list[int]:
    return [ACTION_INDEX[name] for name in actions]


def move_goal(hand: Any, **to: str) -> Goal:
    """Each object on its receptacle, with empty hands."""
    variables = tuple((name, hand.category(name)) for name in to)
    on = tuple(Atom("on_top", name, hand.receptacle(to[name])) for name in to)
    return Exists(variables, And((*on, Atom("not_holding"))))


MOVE = ("nav(sofa)", "pick_apple", "nav(sink)", "place(sink)")


def test_the_search_finds_a_shortest_move(hand: Any) -> None:
    episode = hand.episode([("pear", "chair"), ("apple", "sofa")], move_goal(hand, apple="sink"))
    assert names(search(episode, hand.layout)) == list(MOVE)


def test_the_search_swaps_two_objects(hand: Any) -> None:
    objects = [("apple", "sofa"), ("pear", "sink")]
    goal = move_goal(hand, apple="sink", pear="sofa")
    solved = solve(hand.episode(objects, goal), hand.layout)
    assert solved is not None
    # There is no need to walk between putting one down and picking the other up.
    assert len(solved.solution) == 7
    assert names(solved.solution)[3:5] in (
        ["place(sink)", "pick_pear"], ["place(sofa)", "pick_apple"],
    )  # fmt: skip


def test_the_search_takes_off_and_puts_anywhere(hand: Any) -> None:
    none = Nand((Exists((("a", hand.category("apple")),), Atom("on_top", "a", 6)),))
    episode = hand.episode([("apple", "sofa")], And((none, Atom("not_holding"))))
    found = names(search(episode, hand.layout))
    assert found[:2] == ["nav(sofa)", "pick_apple"]
    assert found[3].startswith("place(")
    assert len(found) == 4


def test_the_search_moves_all(hand: Any) -> None:
    goal = And((ForAll("c", hand.category("can"), Atom("on_top", "c", 3)), Atom("not_holding")))
    episode = hand.episode([("can", "sofa"), ("can", "chair"), ("can", "sink")], goal)
    found = names(search(episode, hand.layout))
    assert len(found) == 8
    assert found.count("pick_can") == found.count("place(sink)") == 2


def test_the_search_opens_the_fridge(hand: Any) -> None:
    episode = hand.episode(goal=Atom("opened", place=4))
    assert names(search(episode, hand.layout)) == ["nav(fridge_push_point)", "open_fridge"]
    opened = replace(episode, joints=(0.0, 0.0, 0.0, 0.0, 1.22), goal=Atom("closed", place=4))
    assert names(search(opened, hand.layout))[-1] == "close_fridge"


def test_the_search_finds_an_object(hand: Any) -> None:
    goal = Exists((("a", hand.category("apple")),), Atom("robot_at", "a"))
    assert names(search(hand.episode([("apple", "sink")], goal), hand.layout)) == ["nav(sink)"]


def test_what_cannot_be_done_has_no_solution(hand: Any) -> None:
    goal = move_goal(hand, apple="sink")
    assert search(hand.episode([("pear", "sofa")], goal), hand.layout) is None
    assert search(hand.episode([("apple", "sofa")], goal), hand.layout, depth=3) is None
    assert solve(hand.episode([("pear", "sofa")], goal), hand.layout) is None


def test_what_is_done_already_is_no_task(hand: Any) -> None:
    episode = hand.episode([("apple", "sink")], move_goal(hand, apple="sink"))
    assert search(episode, hand.layout) == ()
    assert solve(episode, hand.layout) is None
    assert solve(episode, hand.layout, numbers(*MOVE)) is None


def test_a_template_is_played_up_to_success(hand: Any) -> None:
    episode = hand.episode([("apple", "sofa")], move_goal(hand, apple="sink"))
    solved = solve(episode, hand.layout, numbers(*MOVE, "nav(chair)"))
    assert solved is not None
    assert names(solved.solution) == list(MOVE)
    assert solve(episode, hand.layout, numbers(*MOVE[:3])) is None
    assert solve(episode, hand.layout, numbers("pick_apple", *MOVE)) is None
    played = play(episode, hand.layout, numbers("pick_apple", *MOVE))
    assert played.valid == (False, True, True, True, True)
    assert played.success


def test_subgoals_by_hand(hand: Any) -> None:
    # The pear is no part of the task, so nothing is said of it.
    objects = [("pear", "sofa"), ("apple", "sofa")]
    episode = hand.episode(objects, move_goal(hand, apple="sink"))
    solved = solve(episode, hand.layout, numbers(*MOVE))
    assert solved is not None
    apple = (("object_1", hand.category("apple")),)
    sofa, sink = (Atom("robot_at", place=hand.receptacle(name)) for name in ("sofa", "sink"))
    near, held = Atom("robot_at", "object_1"), Atom("holding", "object_1")
    # The held apple is still within the sofa's box, as at the start; over the sink it is new.
    over_sink = Atom("on_top", "object_1", hand.receptacle("sink"))
    assert solved.subgoals == (
        Exists(apple, And((sofa, near))),
        Exists(apple, And((sofa, near, held))),
        Exists(apple, And((sink, over_sink, near, held))),
        Exists(apple, And((sink, over_sink, near))),
    )


def test_subgoals_include_what_comes_about_by_the_way(hand: Any) -> None:
    layout = replace(hand.layout, positions=hand.layout.positions.copy())
    sofa, chair = hand.receptacle("sofa"), hand.receptacle("chair")
    layout.positions[chair] = layout.positions[sofa] + (1.0, 0.0, 0.0)
    at_sofa, at_chair = Atom("robot_at", place=sofa), Atom("robot_at", place=chair)
    solved = solve(hand.episode(goal=at_sofa), layout)
    assert solved is not None
    assert solved.subgoals == (And((at_sofa, at_chair)),)


def test_where_the_robot_starts_does_not_shorten_subgoals(hand: Any) -> None:
    x, y, _ = hand.where("sofa")
    start = (x, y - 1.0, 1.57)
    episode = hand.episode([("apple", "sofa")], move_goal(hand, apple="sink"), start=start)
    solved = solve(episode, hand.layout, numbers(*MOVE))
    assert solved is not None
    assert len(solved.subgoals) == 4
    assert names(search(episode, hand.layout)) == list(MOVE[1:])


def test_handles_are_tracked_only_where_the_goal_speaks_of_them(hand: Any) -> None:
    solved = solve(hand.episode(goal=Atom("opened", place=4)), hand.layout)
    assert solved is not None
    at = Atom("robot_at", place=15)
    assert solved.subgoals == (And((at,)), And((at, Atom("opened", place=4))))
    layout = replace(hand.layout, positions=hand.layout.positions.copy())
    layout.positions[15] = layout.positions[8]
    plain = solve(hand.episode(goal=Atom("robot_at", place=8)), layout)
    assert plain is not None
    assert plain.subgoals == (And((Atom("robot_at", place=8),)),)


def crowded(number: int) -> Episode:
    """A generated flat with an object of each category, and two of them to be moved."""
    rng = np.random.default_rng(number)
    macro, variant = number % 5, number % 21
    layout = generate(macro, variant)
    homes = rng.permutation(np.arange(len(CATEGORIES)) % len(OPEN_AIR))
    objects: list[Placed] = []
    for receptacle in OPEN_AIR:
        for category, spot in zip(
            np.flatnonzero(homes == receptacle),
            spots(layout, receptacle, int((homes == receptacle).sum()), rng),
            strict=True,
        ):
            x, y, z = spot.tolist()
            objects.append(Placed(int(category), 0, (x, y, z)))
    first, second = rng.choice(len(CATEGORIES), 2, replace=False).tolist()
    goals = [n for n in OPEN_AIR if n not in (homes[first], homes[second])]
    on = tuple(Atom("on_top", name, int(rng.choice(goals))) for name in ("first", "second"))
    goal = Exists((("first", first), ("second", second)), And((*on, Atom("not_holding"))))
    start = start_pose(layout, rng)
    return Episode(
        f"crowded {number}", "", "", "Tidy.", macro, variant, start, (0.0,) * 5,
        tuple(objects), goal, (), (),
    )  # fmt: skip


@pytest.mark.parametrize("number", range(20))
def test_a_template_solves_generated_flats_and_the_batch_agrees(number: int) -> None:
    episode = crowded(number)
    layout = generate(episode.macro, episode.variant)
    template: list[int] = []
    assert isinstance(episode.goal, Exists)
    assert isinstance(episode.goal.body, And)
    for (_, category), atom in zip(episode.goal.variables, episode.goal.body.parts, strict=False):
        assert isinstance(atom, Atom)
        spot = next(thing.position for thing in episode.objects if thing.category == category)
        source = next(
            n for n in OPEN_AIR
            if (layout.surfaces[n][0] <= spot).all() and (spot <= layout.surfaces[n][1]).all()
        )  # fmt: skip
        pick = ACTION_INDEX[f"pick_{CATEGORIES[category]}"]
        place = next(
            n for n, action in enumerate(ACTIONS)
            if action.skill == "place" and action.target == atom.place
        )  # fmt: skip
        template += [source, pick, atom.place, place]
    solved = solve(episode, layout, template)
    assert solved is not None
    batch = RearrangeBatch(1)
    batch.begin(0, solved)
    total = 0.0
    first = batch.progress[0]
    for action in solved.solution:
        step = batch.step(np.array([action]))
        total += step.rewards[0]
    assert step.success[0]
    assert step.progress[0] == 1.0
    assert total == pytest.approx(10 + 5 * (1 - first))


@pytest.mark.parametrize("number", range(3))
def test_the_search_is_no_longer_than_the_template_on_generated_flats(number: int) -> None:
    episode = crowded(number)
    solved = solve(episode, generate(episode.macro, episode.variant))
    assert solved is not None
    assert 4 <= len(solved.solution) <= 8
