"""Rollouts of coded actions as PPO sees them, with a critic whose values one can read off."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.rl.decisions import Bonus, Rechoice

NOOP, LEFT, RIGHT, UP, DOWN, TAKE, CODED, OTHER = range(8)
EACH_CELL = {
    "goals": {"one": "x >= 1", "two": "x >= 2", "three": "x >= 3"},
    "bonus": Bonus(goal=1.0),
}


def found(model):
    """Chosen actions, values and advantages of the rollout."""
    buffer = model.decisions
    assert buffer.returns == pytest.approx(buffer.advantages + buffer.values)
    return (
        buffer.actions.tolist(),
        pytest.approx(buffer.values.tolist(), abs=1e-6),
        pytest.approx(buffer.advantages.tolist(), abs=1e-6),
    )


def test_one_that_ends_by_itself_and_one_cut_by_the_end_of_the_rollout(collect, begun, make_action):
    batch = begun(make_action(code="hop"), **EACH_CELL)
    second = 0.0 + 0.5 * 4 - 3
    first = 1.75 + 0.125 * 3 - 0 + 0.125 * 0.5 * second
    assert (first, second) == (2.0625, -1.0)
    model = collect(batch, CODED, frames=4)
    assert found(model) == ([CODED, CODED], [0, 3], [first, second])
    assert model.num_timesteps == 4
    assert batch.waiting.tolist() == [0]


def test_death_is_worth_nothing(collect, begun, make_action):
    batch = begun(make_action(code="east"), at=(3, 5))
    assert found(collect(batch, CODED, frames=2)) == ([CODED], [3], [-0.5 - 3])


def test_an_episode_out_of_frames_is_worth_what_it_would_have_gone_on_with(
    collect, begun, make_action
):
    batch = begun(make_action(code="east"), length=2, **EACH_CELL)
    assert found(collect(batch, CODED, frames=2)) == ([CODED], [0], [1.5 + 0.25 * 2 - 0])


def test_what_follows_an_episode_is_not_its_future(collect, begun, make_action):
    # Both episodes begin in column 1, so a value that leaked over the border would show.
    batch = begun(make_action(code="east"), starts=[((1, 0), (5, 5))], length=2)
    batch.batch.envs[0]._starts.append(((1, 0), (5, 5)))
    cut = 0.25 * 3 - 1
    last = 0.5 * 2 - 1
    assert found(collect(batch, CODED, frames=3)) == ([CODED, CODED], [1, 1], [cut, last])


def test_an_interrupted_one_goes_on_as_another_decision(collect, begun, make_action):
    batch = begun(make_action(code="east", interrupt="x >= 2"), **EACH_CELL)
    second = 1 + 0.5 * 3 - 2
    first = 1.5 + 0.25 * 2 - 0 + 0.25 * 0.5 * second
    assert (first, second) == (2.0625, 0.5)
    assert found(collect(batch, CODED, frames=3)) == ([CODED, CODED], [0, 2], [first, second])


@pytest.mark.parametrize(
    ("rechoice", "values"),
    [
        (Rechoice("level"), [0, 2, 3, 4]),
        (Rechoice("edge", 1), [0, 1, 2, 3, 4]),
        (Rechoice("edge", 4), [0, 2]),
    ],
)
def test_rechoice_says_where_decisions_begin(collect, begun, make_action, rechoice, values):
    batch = begun(make_action(code="east", interrupt="x >= 2"), rechoice=rechoice)
    actions, seen, _ = found(collect(batch, CODED, frames=5))
    assert (actions, seen) == ([CODED] * len(values), values)


def test_one_that_takes_no_frame_is_followed_by_another_choice(collect, begun, make_action):
    batch = begun(make_action(code="nothing"), **EACH_CELL)
    fourth = 1 + 0.5 * 2 - 1
    third = 0 + 1 * 1 - 1 + 1 * 0.5 * fourth
    second = 1 + 0.5 * 1 - 0 + 0.5 * 0.5 * third
    first = 0 + 1 * 0 - 0 + 1 * 0.5 * second
    assert (first, second, third, fourth) == (0.8125, 1.625, 0.5, 1.0)
    model = collect(batch, CODED, RIGHT, frames=2)
    assert found(model) == ([CODED, RIGHT] * 2, [0, 0, 1, 1], [first, second, third, fourth])
    assert model.num_timesteps == 2, "frames, not decisions"


def test_places_with_options_of_different_lengths(collect, begun, make_action):
    batch = begun(
        make_action(code="hop", precondition="x <= 1"), starts=[((0, 0), (5, 5)), ((1, 0), (5, 5))]
    )
    left = [0.125 * 3 - 0, 0.5 * 3 - 3]
    left[0] += 0.125 * 0.5 * left[1]
    right = [0.125 * 4 - 1, 0.5 * 4 - 4]
    right[0] += 0.125 * 0.5 * right[1]
    model = collect(batch, CODED, NOOP, frames=4)
    assert found(model) == ([CODED, NOOP] * 2, [0, 3, 1, 4], [*left, *right])
    assert model.num_timesteps == 8


def test_the_listener_is_told_of_every_frame(collect, begun, make_action):
    batch = begun(make_action(code="hop"), length=4)
    model = collect(batch, CODED, frames=4)
    told = []
    model.collect(batch, told.append)
    assert len(told) == 4
    assert [len(finished.summaries) for finished in told] == [0, 0, 0, 1]
    assert model.num_timesteps == 8


def plan_share(collect, begun, make_action, preferred, *dues):
    actions = [
        make_action(f"a{index}", "east", due=due, success="false", max_frames=1)
        for index, due in enumerate(dues)
    ]
    return collect(begun(*actions), preferred, frames=4).plan_share


def test_plan_share_is_of_the_decisions_the_plan_says_something_of(collect, begun, make_action):
    # In columns 0 to 3 the plan says: nothing, nothing, a0, a0.
    assert plan_share(collect, begun, make_action, CODED, "x >= 2") == 1.0
    assert plan_share(collect, begun, make_action, RIGHT, "x >= 2") == 0.0
    # a0, a1, a1, a1
    assert plan_share(collect, begun, make_action, CODED, "x == 0", "x >= 1") == 0.25
    assert plan_share(collect, begun, make_action, OTHER, "x == 0", "x >= 1") == 0.75
    assert plan_share(collect, begun, make_action, CODED, "false") is None
    assert plan_share(collect, begun, make_action, RIGHT) is None


def test_against_the_plan_only_its_choices_are_taken(collect, begun, make_action):
    """In column 0 the plan wants `wished`; beyond it, it has nothing to say."""
    wished = make_action("wished", "east", success="false", precondition="x == 0")
    other = make_action("open", "east", success="false", due="false")
    barred = make_action("barred", "idle", success="false", due="false")

    def played(*preferred, **how):
        batch = begun(wished, other, barred)
        model = collect(batch, *preferred, frames=2, **how)
        masks = model.decisions.samples.action_masks.numpy()
        return model.decisions.actions.tolist(), [np.flatnonzero(row).tolist() for row in masks]

    last = OTHER + 1
    allowed = [UP, CODED, OTHER]
    assert played(last, LEFT, UP, choices=("up", "open")) == ([UP, UP], [allowed, allowed])
    assert played(last, LEFT, CODED, choices=("up", "open")) == ([CODED], [allowed])
    primitives = [NOOP, LEFT, RIGHT, UP, DOWN, TAKE]
    actions, masks = played(RIGHT, last, OTHER, choices=("right",))
    assert (actions, masks[1]) == ([RIGHT, RIGHT], primitives)
    everything = [*primitives, CODED, OTHER, last]
    assert played(last) == ([last], [everything])


def test_an_unknown_choice_is_refused(collect, begun):
    with pytest.raises(ConfigError, match="cannot choose fly"):
        collect(begun(), NOOP, frames=1, choices=("fly",))
