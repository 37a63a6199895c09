"""Episodes from begin to end: reward by hand, progress, invalid actions, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.errors import PredicateError
from engine.worlds.rearrange.batch import LEAVE, RearrangeBatch, Step
from engine.worlds.rearrange.episode import Episode
from engine.worlds.rearrange.goals import And, Atom, Exists, Goal, Nand
from engine.worlds.rearrange.names import ACTION_INDEX


def batch_of(hand: Any, *episodes: Episode, **settings: Any) -> RearrangeBatch:
    batch = RearrangeBatch(len(episodes), flats=lambda macro, variant: hand.layout, **settings)
    for index, episode in enumerate(episodes):
        batch.begin(index, episode)
    return batch


def take(batch: RearrangeBatch, *names: str) -> Step:
    """One action by name in each place; `""` leaves it alone."""
    return batch.step(np.array([ACTION_INDEX[name] if name else LEAVE for name in names]))


def move(hand: Any, **settings: Any) -> Episode:
    """Apple from the sofa to the sink, with a subgoal for each of the four actions."""
    apple = (("a", hand.category("apple")),)
    sofa, sink = hand.receptacle("sofa"), hand.receptacle("sink")
    goal = Exists(apple, And((Atom("on_top", "a", sink), Atom("not_holding"))))
    subgoals = (
        Atom("robot_at", place=sofa),
        Exists(apple, And((Atom("holding", "a"), Atom("robot_at", place=sofa)))),
        Exists(apple, And((Atom("holding", "a"), Atom("robot_at", place=sink)))),
        goal,
    )
    return hand.episode([("pear", "sofa"), ("apple", "sofa")], goal, subgoals, **settings)


def test_a_solution_is_worth_15(hand: Any) -> None:
    batch = batch_of(hand, move(hand))
    seen = [take(batch, name) for name in ("nav(sofa)", "pick_apple", "nav(sink)", "place(sink)")]
    assert [step.rewards[0] for step in seen] == [1.25, 1.25, 1.25, 11.25]
    assert [step.progress[0] for step in seen] == [0.25, 0.5, 0.75, 1.0]
    assert [bool(step.done[0]) for step in seen] == [False, False, False, True]
    assert [bool(step.success[0]) for step in seen] == [False, False, False, True]
    assert not any(step.invalid[0] for step in seen)


def test_progress_is_latched_and_paid_once(hand: Any) -> None:
    batch = batch_of(hand, move(hand))
    rewards = [
        take(batch, name).rewards[0]
        for name in ("nav(sofa)", "nav(chair)", "nav(sofa)", "pick_apple", "place(sofa)",
                     "pick_apple", "nav(chair)", "nav(sink)")
    ]  # fmt: skip
    assert rewards == [1.25, 0, 0, 1.25, 0, 0, 0, 1.25]


def test_what_is_reached_at_the_start_is_worth_nothing(hand: Any) -> None:
    x, y, _ = hand.where("sofa")
    batch = batch_of(hand, move(hand, start=(x, y - 1, 1.57)))
    step = take(batch, "nav(sofa)")
    assert (step.rewards[0], step.progress[0]) == (0, 0.25)


def test_a_step_may_reach_several_subgoals(hand: Any) -> None:
    sofa = Atom("robot_at", place=hand.receptacle("sofa"))
    goal = Atom("robot_at", place=hand.receptacle("sink"))
    batch = batch_of(hand, hand.episode(goal=goal, subgoals=[sofa, sofa, goal, goal]))
    assert take(batch, "nav(sofa)").rewards[0] == 2.5
    assert take(batch, "nav(sink)").rewards[0] == 12.5


def test_success_without_the_subgoals_is_worth_its_10(hand: Any) -> None:
    goal = Atom("robot_at", place=hand.receptacle("sink"))
    other = Atom("robot_at", place=hand.receptacle("sofa"))
    batch = batch_of(hand, hand.episode(goal=goal, subgoals=[other, goal]), hand.episode(goal=goal))
    step = take(batch, "nav(sink)", "nav(sink)")
    assert step.rewards.tolist() == [12.5, 10]
    assert step.progress.tolist() == [0.5, 0]


@pytest.mark.parametrize("penalty", [0.0, 0.05])
def test_an_impossible_action_costs_the_penalty_and_a_step(hand: Any, penalty: float) -> None:
    batch = batch_of(hand, move(hand), move(hand), penalty=penalty)
    step = take(batch, "pick_apple", "nav(sofa)")
    assert step.invalid.tolist() == [True, False]
    assert step.rewards.tolist() == [-penalty, 1.25]
    assert step.progress.tolist() == [0, 0.25]
    assert not step.done.any()


def test_an_episode_ends_after_32_actions_possible_or_not(hand: Any) -> None:
    batch = batch_of(hand, move(hand), move(hand))
    for _ in range(31):
        assert not take(batch, "nav(chair)", "pick_plum").done.any()
    step = take(batch, "nav(chair)", "pick_plum")
    assert step.done.all()
    assert not step.success.any()


def test_success_on_the_last_action_counts(hand: Any) -> None:
    batch = batch_of(hand, move(hand), length=4)
    for name in ("nav(sofa)", "pick_apple", "nav(sink)"):
        assert not take(batch, name).done[0]
    step = take(batch, "place(sink)")
    assert step.done[0]
    assert step.success[0]


def test_a_goal_that_holds_from_the_start_is_success_after_any_action(hand: Any) -> None:
    batch = batch_of(hand, hand.episode(), hand.episode())
    step = take(batch, "pick_plum", "nav(sofa)")
    assert step.success.all()
    assert step.rewards.tolist() == [10, 10]


def test_places_begin_anew_on_their_own(hand: Any) -> None:
    batch = batch_of(hand, move(hand), move(hand))
    take(batch, "nav(sofa)", "nav(sofa)")
    take(batch, "pick_apple", "pick_apple")
    batch.begin(0, move(hand, id="another"))
    step = take(batch, "nav(sofa)", "nav(sink)")
    assert step.progress.tolist() == [0.25, 0.75]
    assert batch.episode(0).id == "another"
    step = take(batch, "place(sofa)", "place(sink)")
    assert step.invalid.tolist() == [True, False]


def test_places_left_alone_stay_as_they_are(hand: Any) -> None:
    batch = batch_of(hand, move(hand), move(hand))
    goal = [("nav(sofa)",), ("pick_apple",), ("nav(sink)",), ("place(sink)",)]
    for (name,) in goal:
        step = take(batch, name, "")
    assert step.done.tolist() == [True, False]
    for (name,) in goal:
        step = take(batch, "", name)
    assert step.done.tolist() == step.success.tolist() == [True, True]
    assert step.rewards.tolist() == [0, 11.25]


def test_take_off_is_a_nand(hand: Any) -> None:
    apple = (("a", hand.category("apple")),)
    sofa = hand.receptacle("sofa")
    none_there: Goal = Nand((Exists(apple, Atom("on_top", "a", sofa)),))
    goal = And((none_there, Atom("not_holding")))
    batch = batch_of(hand, hand.episode([("apple", "sofa")], goal))
    for name in ("nav(sofa)", "pick_apple", "nav(chair)"):
        assert not take(batch, name).success[0]
    assert take(batch, "place(chair)").success[0]


def test_more_objects_than_there_was_room_for(hand: Any) -> None:
    many = [("pear", "sink")] * 99 + [("apple", "sofa")]
    batch = batch_of(hand, move(hand), hand.episode(many, Exists(
        (("a", hand.category("apple")),), Atom("holding", "a")
    )))  # fmt: skip
    take(batch, "nav(sofa)", "nav(sofa)")
    step = take(batch, "pick_apple", "pick_apple")
    assert step.success.tolist() == [False, True]
    assert step.progress.tolist() == [0.5, 0]


def test_a_begin_that_fails_leaves_what_goes_on(hand: Any) -> None:
    batch = batch_of(hand, move(hand))
    take(batch, "nav(sofa)")
    with pytest.raises(PredicateError, match="no variable"):
        batch.begin(0, hand.episode(goal=Atom("holding", "x")))
    assert batch.progress[0] == 0.25
    assert take(batch, "pick_apple").rewards[0] == 1.25


def test_progress_is_known_before_the_first_action(hand: Any) -> None:
    x, y, _ = hand.where("sofa")
    batch = batch_of(hand, move(hand), move(hand, start=(x, y - 1, 1.57)))
    assert batch.progress.tolist() == [0, 0.25]
    batch.begin(1, move(hand))
    assert batch.progress.tolist() == [0, 0]


def test_what_makes_no_sense_is_refused_and_changes_nothing(hand: Any) -> None:
    batch = batch_of(hand, move(hand), move(hand))
    for actions, said in (
        ([70, 0], r"no action \[70\]"),
        ([-2, 0], r"no action \[-2\]"),
        ([0], r"shape \(2,\), not \(1,\)"),
    ):
        with pytest.raises(ValueError, match=said):
            batch.step(np.array(actions))
    empty = RearrangeBatch(1)
    with pytest.raises(ValueError, match=r"at \[0\] are over or have not begun"):
        empty.step(np.array([0]))
    with pytest.raises(ValueError, match="No episode has begun at place 0"):
        empty.instruction(0)
    with pytest.raises(ValueError, match="have to be positive"):
        RearrangeBatch(0)
    assert batch.instruction(1) == "Tidy."
    take(batch, "nav(sofa)", "nav(sofa)")
    assert take(batch, "pick_apple", "pick_apple").progress.tolist() == [0.5, 0.5]


def test_an_episode_that_is_over_takes_no_more_actions(hand: Any) -> None:
    batch = batch_of(hand, hand.episode())
    take(batch, "nav(sofa)")
    with pytest.raises(ValueError, match="call `begin` there"):
        take(batch, "nav(sofa)")
