"""A policy behind a gate: what it may choose, what it is paid, and what it learns from.

The gate is "x >= 3", the critic's value of a state is the player's column, the discount and
lambda are 1/2. Elsewhere a driver with a single wish acts.
"""

from __future__ import annotations

import numpy as np
import pytest

import engine.rl.ppo as ppo_module
from engine.errors import ConfigError
from engine.rl.decisions import Rechoice
from engine.rl.plan_features import FEATURE_WEIGHT
from engine.rl.reflex import Choices, Guide, Reflex, follows_plan

NOOP, LEFT, RIGHT, UP, DOWN, TAKE, CODED, OTHER = range(8)
GATE = "x >= 3"


class Driver:
    """Takes the first of its wishes that is not masked, and notes what it was asked."""

    name = "driver"
    rechoice = Rechoice()

    def __init__(self, *wishes):
        self.wishes = wishes
        self.began = []
        self.gave_way = []
        self.asked = []

    def begin_episode(self, place, seed):
        self.began.append((place, seed))

    def give_way(self, places):
        self.gave_way.append(places.tolist())

    def choose(self, places, observations, players, masks):
        self.asked += [
            (place, player.term("x"))
            for place, player in zip(places.tolist(), players, strict=True)
        ]
        return np.array([next(wish for wish in self.wishes if mask[wish]) for mask in masks])


@pytest.fixture
def behind(begun):
    """A batch, begun, whose policy is behind the gate; its guide and driver."""

    def make(*actions, wishes=(NOOP,), reward=None, choices=(), gate=GATE, **settings):
        batch = begun(*actions, rechoice=Rechoice(alert=gate), **settings)
        driver = Driver(*wishes)
        reflex = Reflex(gate, reward or {}, choices)
        return batch, Guide(reflex, batch, driver), driver

    return make


def learnt(model):
    """Chosen actions, values and advantages of the rollout."""
    buffer = model.decisions
    return (
        buffer.actions.tolist(),
        pytest.approx(buffer.values.tolist(), abs=1e-6),
        pytest.approx(buffer.advantages.tolist(), abs=1e-6),
    )


def plan(*rows, coded):
    """Observations that say (running, comes_next) of the coded actions; None for none."""
    observations = np.zeros((len(rows), 6 + 4 * coded), np.float32)
    for row, numbers in enumerate(rows):
        for block, number in zip((-2 * coded, -coded), numbers, strict=True):
            if number is not None:
                observations[row, observations.shape[1] + block + number] = FEATURE_WEIGHT
    return observations


def test_following_the_plan_is_what_code_alone_would_do():
    rows = plan((None, 0), (None, 1), (1, 1), (1, 0), (0, None), (None, None), coded=2)
    for action, expected in (
        (TAKE, [0, 0, 0, 0, 0, 0]),
        (CODED, [1, 0, 0, 1, 0, 0]),
        (OTHER, [0, 1, 1, 0, 0, 0]),
    ):
        assert follows_plan(rows, np.full(6, action), 8, 2).tolist() == expected
    mixed = follows_plan(rows, np.array([CODED, OTHER, CODED, OTHER, NOOP, CODED]), 8, 2)
    assert mixed.tolist() == [1, 1, 0, 0, 0, 0]


def test_without_code_nothing_follows_the_plan():
    assert follows_plan(np.ones((2, 6), np.float32), np.array([NOOP, TAKE]), 6, 0).tolist() == [
        False,
        False,
    ]


def test_choices_are_those_of_the_reflex_and_the_plans():
    names = ("noop", "left", "right", "one", "two", "three")
    rows = plan((None, None), (None, 1), (2, 1), (2, 2), coded=3)
    choices = Choices(names, 3, ("left", "one"))
    masks = np.ones((4, 6), np.bool_)
    expected = [
        [0, 1, 0, 1, 0, 0],
        [0, 1, 0, 1, 1, 0],
        [0, 1, 0, 1, 1, 1],
        [0, 1, 0, 1, 0, 1],
    ]
    assert choices.narrow(masks, rows).tolist() == expected
    masks[:, 3] = False
    expected = [[*row[:3], 0, *row[4:]] for row in expected]
    assert choices.narrow(masks, rows).tolist() == expected, "never more than the masks"
    assert masks.sum() == 20, "which stay as they are"


def test_without_choices_all_is_left():
    names = ("noop", "left", "one", "two")
    masks = np.array([[True, False, True, False], [False, True, True, True]])
    rows = plan((None, None), (0, 1), coded=2)
    assert np.array_equal(Choices(names, 2, ()).narrow(masks, rows), masks)
    bare = Choices(("noop", "left"), 0, ("left",))
    assert bare.narrow(np.ones((2, 2), np.bool_), rows[:, :6]).tolist() == [[0, 1], [0, 1]]


def test_something_may_always_be_chosen():
    names = ("noop", "left", "one", "two")
    rows = plan((None, None), (None, 1), coded=2)
    masks = np.array([[True, True, False, True]] * 2)
    narrowed = Choices(names, 2, ("one",)).narrow(masks, rows)
    # Where the plan has nothing to do, code would take any primitive.
    assert narrowed.tolist() == [[1, 1, 0, 0], [0, 0, 0, 1]]


def test_unknown_names_are_refused(behind, make_action):
    with pytest.raises(ConfigError, match="cannot choose fly, sleep") as caught:
        behind(make_action(), choices=("sleep", "left", "fetch_gem", "fly"))
    assert "fetch_gem" in caught.value.hint
    with pytest.raises(ConfigError, match="names health, wealth, which") as caught:
        behind(make_action(), reward={"wealth": 1.0, "x": 1.0, "off_plan": -1.0, "health": 2.0})
    assert "off_plan" in caught.value.hint
    assert "unlocked(take_gem)" in caught.value.hint


def test_only_decisions_behind_the_gate_are_learnt_from(behind, collect):
    batch, guide, driver = behind(at=(1, 0), wishes=(RIGHT,), reward={"x": 1.0})
    model = collect(batch, LEFT, frames=6, guide=guide)
    # x: 1 2 3 | 2 3 | 2 3. To go left closes the gate, and that is over: -1 and nothing after.
    assert learnt(model) == ([LEFT, LEFT], [3, 3], [-1 - 3, -1 - 3])
    assert driver.asked == [(0, 1), (0, 2), (0, 2), (0, 2)]
    assert model.num_timesteps == 6, "whoever acts"
    assert batch.usage.tolist() == [0, 2, 4, 0, 0, 0]
    assert model.decisions.samples.observations[:, 3].tolist() == pytest.approx([0.6, 0.6])


def test_what_stays_behind_the_gate_goes_on(behind, collect):
    batch, guide, driver = behind(at=(3, 0), reward={"x": 1.0, "frames": 0.25})
    model = collect(batch, RIGHT, frames=3, guide=guide)
    last = 0.25 + 0.5 * 5 - 5
    second = 1.25 + 0.5 * 5 - 4 + 0.25 * last
    first = 1.25 + 0.5 * 4 - 3 + 0.25 * second
    assert learnt(model) == ([RIGHT] * 3, [3, 4, 5], [first, second, last])
    assert driver.asked == []


def test_one_that_was_over_is_no_part_of_what_comes_when_the_gate_opens_again(behind, collect):
    batch, guide, _ = behind(at=(4, 0), wishes=(RIGHT,), reward={"frames": 1.0})
    model = collect(batch, LEFT, frames=5, guide=guide)
    # x: 4 | 3 | 2 | 3 | 2, then the driver's; the value of the end is nobody's.
    over = 1 - 3
    assert learnt(model) == ([LEFT] * 3, [4, 3, 3], [1 + 0.5 * 3 - 4 + 0.25 * over, over, over])


def test_leaving_the_plan_has_its_price(behind, collect, make_action):
    reward = {"x": 1.0, "off_plan": -0.25}
    for chosen, expected in ((UP, -0.25 + 0.5 * 3 - 3), (CODED, 1 + 0.5 * 4 - 3)):
        action = make_action(code="east", success="false")
        batch, guide, _ = behind(action, at=(3, 0), reward=reward)
        model = collect(batch, chosen, frames=1, guide=guide)
        assert learnt(model) == ([chosen], [3], [expected])


def test_the_worlds_own_reward_and_bonuses_count_nothing(behind, collect):
    batch, guide, _ = behind(
        at=(3, 0), gem=(3, 0), reward={"gems": 3.0}, goals={"one": "gems >= 1"}
    )
    told = []
    model = collect(batch, NOOP, frames=1, guide=guide)
    assert learnt(model) == ([NOOP], [3], [0.5 * 3 - 3])
    batch, guide, _ = behind(at=(3, 0), gem=(3, 0), reward={"gems": 3.0})
    batch_model = collect(batch, TAKE, frames=1, guide=guide)
    assert learnt(batch_model) == ([TAKE], [3], [3 + 0.5 * 3 - 3])
    batch_model.collect(batch, told.append, guide)
    assert told[0].rewards.tolist() == [0.0], "the listener is told of the world's"
    assert batch.returns.tolist() == [1.0]


def test_who_dies_loses_what_there_was(behind, collect):
    reward = {"x": 2.0, "gems": 10.0, "off_plan": -0.5}
    batch, guide, _ = behind(starts=[((4, 5), (0, 0))], reward=reward)
    batch.batch.envs[0]._starts.append(((4, 0), (0, 0)))
    batch.batch.envs[0].gems = 1
    batch.batch.terms[0, 1] = 1
    model = collect(batch, RIGHT, frames=2, guide=guide)
    # Off the plan in both; four columns and a gem are lost, and nothing follows.
    died = -0.5 - 2 * 4 - 10 - 4
    after = -0.5 + 2 + 0.5 * 5 - 4
    assert learnt(model) == ([RIGHT, RIGHT], [4, 4], [died, after])


def test_who_runs_out_of_frames_keeps_what_there_was(behind, collect):
    batch, guide, _ = behind(
        starts=[((4, 0), (0, 0))], reward={"x": 2.0, "off_plan": -0.5}, length=1
    )
    batch.batch.envs[0]._starts.append(((3, 0), (0, 0)))
    model = collect(batch, RIGHT, frames=1, guide=guide)
    assert learnt(model) == ([RIGHT], [4], [-0.5 - 4])


def test_who_has_done_the_task_keeps_what_there_was(behind, collect):
    batch, guide, _ = behind(
        starts=[((4, 0), (4, 0))],
        reward={"x": 2.0},
        task_success="gems >= 1",
        end_on_success=True,
    )
    batch.batch.envs[0]._starts.append(((3, 0), (0, 0)))
    model = collect(batch, TAKE, frames=1, guide=guide)
    assert learnt(model) == ([TAKE], [4], [0.0 - 4])


def test_each_frame_behind_the_gate_is_a_decision(behind, collect, make_action, sandbox):
    action = make_action(code="east", success="false")
    batch, guide, driver = behind(action, at=(1, 0), wishes=(CODED,), reward={"x": 1.0})
    model = collect(batch, CODED, frames=4, guide=guide)
    # The driver's walk goes on as the policy's, which is asked in columns 3 and 4.
    last = 1 + 0.5 * 5 - 4
    assert learnt(model) == ([CODED] * 2, [3, 4], [1 + 0.5 * 4 - 3 + 0.25 * last, last])
    assert driver.asked == [(0, 1)]
    assert sandbox.programs[0].started == 1
    assert model.decisions.samples.action_masks[:, CODED].tolist() == [1, 1]


def test_a_choice_that_takes_no_frame_is_followed_by_another(behind, collect, make_action):
    batch, guide, driver = behind(
        make_action(code="nothing", success="false"),
        at=(2, 0),
        wishes=(CODED, RIGHT),
        reward={"x": 1.0, "off_plan": -0.5},
    )
    model = collect(batch, CODED, RIGHT, frames=2, guide=guide)
    assert driver.asked == [(0, 2), (0, 2)]
    last = 1 - 0.5 + 0.5 * 4 - 3
    assert learnt(model) == ([CODED, RIGHT], [3, 3], [0.0 + 3 - 3 + 0.5 * last, last])


def test_masks_behind_the_gate(behind, collect, make_action):
    actions = (
        make_action("ready", "east", success="false"),
        make_action("wished", "idle", success="false", precondition="x >= 4"),
        make_action("later", "idle", success="false"),
    )
    batch, guide, _ = behind(*actions, at=(3, 0), choices=("up", "wished"))
    model = collect(batch, CODED, frames=2, guide=guide)
    masks = model.decisions.samples.action_masks
    up_and_ready = [0, 0, 0, 1, 0, 0, 1, 0, 0]
    assert masks.tolist() == [up_and_ready, [0, 0, 0, 1, 0, 0, 1, 1, 0]]


def test_places_are_led_one_by_one(behind, collect):
    starts = [((0, 0), (5, 5)), ((3, 0), (5, 5)), ((2, 0), (5, 5))]
    batch, guide, driver = behind(starts=starts, wishes=(RIGHT,), reward={"x": 1.0})
    model = collect(batch, UP, frames=2, guide=guide)
    stays = [0.5 * 3 - 3 + 0.25 * -1.5, -1.5]
    assert learnt(model) == ([UP] * 3, [3] * 3, [*stays, -1.5])
    assert driver.asked == [(0, 0), (2, 2), (0, 1)]
    assert driver.began == [(place, batch.seed(place)) for place in range(3)]
    assert model.num_timesteps == 6


def test_it_plays_on_until_the_gate_has_opened(behind, collect):
    batch, guide, driver = behind(at=(0, 0), wishes=(RIGHT,))
    model = collect(batch, UP, frames=2, guide=guide)
    assert learnt(model) == ([UP], [3], [0.5 * 3 - 3])
    assert (model.num_timesteps, len(driver.asked)) == (4, 3)
    assert len(driver.began) == 1, "in one go"
    model.collect(batch, guide=guide)
    assert (len(model.decisions), model.num_timesteps) == (2, 6)


def test_a_gate_that_never_opens_ends_the_rollout(behind, collect, monkeypatch):
    monkeypatch.setattr(ppo_module, "PATIENCE", 40)
    batch, guide, driver = behind(gate="false", length=1000)
    with pytest.raises(ConfigError, match="did not open in 40 frames"):
        collect(batch, UP, frames=8, guide=guide)
    assert len(driver.asked) == 40


def test_the_driver_is_told_of_each_episode(behind, collect):
    batch, guide, driver = behind(starts=[((0, 0), (5, 5))], length=3, wishes=(UP,))
    batch.batch.envs[0]._starts += [((0, 0), (5, 5))] * 2 + [((3, 0), (5, 5))]
    first = batch.seed(0)
    collect(batch, UP, frames=10, guide=guide)
    assert [place for place, _ in driver.began] == [0] * 4
    assert driver.began[0][1] == first
    assert driver.began[-1][1] == batch.seed(0)
    assert len({seed for _, seed in driver.began}) == 4


def test_what_the_driver_runs_at_the_end_of_a_rollout_is_not_learnt_from(
    behind, collect, make_action, sandbox
):
    action = make_action(code="idle", success="false", max_frames=100)
    batch, guide, _ = behind(action, at=(3, 0), wishes=(CODED,))
    model = collect(batch, LEFT, frames=3, guide=guide)
    assert learnt(model) == ([LEFT], [3], [-3.0])
    assert batch.usage[[LEFT, CODED]].tolist() == [1, 2]
    assert batch.waiting.tolist() == [0]
    assert sandbox.programs[0].aborted == 1
