"""Advantages over decisions of different lengths, checked by hand and against plain PPO."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from engine.rl.decision_buffer import DecisionBuffer

GAMMA, LAMBDA = 0.5, 0.5
OBSERVATIONS = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
ACTIONS = gymnasium.spaces.Discrete(3)


def empty(**changes):
    settings = {"gae_lambda": LAMBDA, "gamma": GAMMA, **changes}
    return DecisionBuffer(0, OBSERVATIONS, ACTIONS, "cpu", **settings)


def take(buffer, values, marks=None):
    """A decision at each of the places of `values`; `marks` tells the rows apart."""
    places = np.array(list(values))
    marks = np.array(list(values) if marks is None else marks)
    buffer.open(
        places,
        np.stack([marks, places], axis=1).astype(np.float32),
        marks % 3,
        np.array(list(values.values()), np.float32),
        -marks.astype(np.float32),
        np.stack([marks % 2 == 0, marks >= 0, marks < 0], axis=1),
    )


def end(buffer, place, reward, frames, over=False):
    """The decision at a place has ended after so many frames."""
    buffer.close(np.array([place]), np.array([reward]), np.array([GAMMA**frames]), np.array([over]))


def test_decisions_of_different_lengths():
    buffer = empty()
    for value, reward, frames in ((1.0, 4.0, 2), (8.0, 0.0, 1), (2.0, 6.0, 3)):
        take(buffer, {0: value})
        end(buffer, 0, reward, frames)
    buffer.finish(np.array([16.0], np.float32))
    third = 6.0 + 0.125 * 16.0 - 2.0
    second = 0.0 + 0.5 * 2.0 - 8.0 + 0.5 * 0.5 * third
    first = 4.0 + 0.25 * 8.0 - 1.0 + 0.25 * 0.5 * second
    assert (third, second, first) == (6.0, -5.5, 4.3125)
    assert buffer.advantages.tolist() == [first, second, third]
    assert buffer.returns.tolist() == [first + 1.0, second + 8.0, third + 2.0]


def test_an_episode_that_ends_inside_a_decision_bootstraps_nothing():
    buffer = empty()
    for value, reward, frames, over in (
        (1.0, 4.0, 2, False),
        (2.0, 3.0, 7, True),
        (5.0, 9.0, 1, 0),
    ):
        take(buffer, {0: value})
        end(buffer, 0, reward, frames, over)
    buffer.finish(np.array([2.0], np.float32))
    third = 9.0 + 0.5 * 2.0 - 5.0
    second = 3.0 - 2.0
    first = 4.0 + 0.25 * 2.0 - 1.0 + 0.25 * 0.5 * second
    assert buffer.advantages.tolist() == [first, second, third] == [3.625, 1.0, 5.0]


def test_the_last_decision_of_a_rollout_may_have_ended_the_episode():
    buffer = empty()
    take(buffer, {0: 3.0})
    end(buffer, 0, 1.0, 1, over=True)
    buffer.finish(np.array([100.0], np.float32))
    assert buffer.advantages.tolist() == [-2.0]


def test_a_decision_without_a_frame_does_not_discount():
    buffer = empty()
    take(buffer, {0: 4.0})
    take(buffer, {0: 4.0})
    end(buffer, 0, 1.0, 1)
    buffer.finish(np.array([8.0], np.float32))
    second = 1.0 + 0.5 * 8.0 - 4.0
    assert buffer.advantages.tolist() == [0.0 + 4.0 - 4.0 + 0.5 * second, second] == [0.5, 1.0]


def test_a_last_decision_without_a_frame_is_worth_what_follows():
    buffer = empty()
    take(buffer, {0: 4.0})
    buffer.finish(np.array([7.0], np.float32))
    assert buffer.advantages.tolist() == [3.0]


def test_places_take_as_many_decisions_as_they_like_and_do_not_mix():
    buffer = empty()
    take(buffer, {0: 1.0, 2: 2.0})
    end(buffer, 2, 5.0, 1)
    take(buffer, {2: 3.0, 1: 4.0})
    end(buffer, 1, 0.0, 2)
    end(buffer, 2, 6.0, 1)
    end(buffer, 0, 8.0, 3)
    buffer.finish(np.array([8.0, 16.0, 0.0], np.float32))
    zeroth = 8.0 + 0.125 * 8.0 - 1.0
    first = 0.0 + 0.25 * 16.0 - 4.0
    last = 6.0 - 3.0
    before = 5.0 + 0.5 * 3.0 - 2.0 + 0.25 * last
    assert buffer.advantages.tolist() == [zeroth, first, before, last] == [8.0, 0.0, 5.25, 3.0]


def test_samples_keep_their_columns_together():
    buffer = empty()
    take(buffer, {1: 10.0, 0: 20.0}, marks=[5, 6])
    take(buffer, {1: 30.0}, marks=[7])
    buffer.finish(np.zeros(2, np.float32))
    samples = buffer.samples
    assert samples.observations.tolist() == [[6, 0], [5, 1], [7, 1]], "place by place, in time"
    assert samples.actions.tolist() == [[0], [2], [1]]
    assert samples.old_values.tolist() == [20.0, 10.0, 30.0]
    assert samples.old_log_prob.tolist() == [-6.0, -5.0, -7.0]
    assert samples.action_masks.tolist() == [[1, 1, 0], [0, 1, 0], [0, 1, 0]]
    assert samples.advantages.tolist() == buffer.advantages.tolist()
    assert samples.returns.tolist() == buffer.returns.tolist()


@pytest.mark.parametrize(
    ("decisions", "batch_size", "sizes"),
    [
        (64, 16, [16] * 4),
        (64, 64, [64]),
        (70, 16, [18, 18, 17, 17]),
        (73, 16, [15, 15, 15, 14, 14]),
        (5, 64, [5]),
        (1, 8, [1]),
        (65, 32, [33, 32]),
    ],
)
def test_batches_hold_every_decision_once(decisions, batch_size, sizes):
    buffer = empty()
    take(buffer, dict.fromkeys(range(decisions), 0.0))
    buffer.finish(np.zeros(decisions, np.float32))
    np.random.seed(0)
    batches = list(buffer.get(batch_size))
    assert [len(batch.actions) for batch in batches] == sizes
    seen = torch.cat([batch.observations[:, 0] for batch in batches]).tolist()
    assert sorted(seen) == list(range(decisions))
    assert decisions < 10 or seen != sorted(seen), "in random order"


def filled(rewards, values, starts, last, dones):
    """Our buffer and Stable-Baselines3's of the same one-frame decisions, (steps, places) each."""
    steps, size = rewards.shape
    ours = empty(gamma=0.9, gae_lambda=0.8)
    theirs = MaskableRolloutBuffer(
        steps, OBSERVATIONS, ACTIONS, "cpu", gae_lambda=0.8, gamma=0.9, n_envs=size
    )
    over = np.concatenate((starts[1:], dones[None]))
    for step in range(steps):
        take(ours, dict(enumerate(values[step])))
        ours.close(np.arange(size), rewards[step], np.full(size, 0.9), over[step])
        theirs.add(
            np.zeros((size, 2), np.float32),
            np.zeros((size, 1)),
            rewards[step],
            starts[step].astype(np.float32),
            torch.tensor(values[step], dtype=torch.float32).reshape(size, 1),
            torch.zeros(size),
        )
    ours.finish(last)
    theirs.compute_returns_and_advantage(torch.tensor(last), dones)
    return ours, theirs


def test_one_frame_each_is_plain_gae_to_the_last_bit():
    chance = np.random.default_rng(0)
    rewards, values = chance.normal(size=(2, 64, 5))
    starts, last = chance.random((64, 5)) < 0.1, chance.normal(size=5).astype(np.float32)
    ours, theirs = filled(rewards, values, starts, last, chance.random(5) < 0.5)
    assert np.array_equal(ours.advantages, theirs.advantages.T.ravel())
    assert np.array_equal(ours.returns, theirs.returns.T.ravel())


def test_a_buffer_is_empty_after_reset_and_tells_when_it_is_not_finished():
    buffer = empty()
    take(buffer, {0: 1.0})
    assert len(buffer) == 1
    buffer.finish(np.zeros(1, np.float32))
    buffer.reset()
    assert len(buffer) == 0
    with pytest.raises(RuntimeError, match="after `finish`"):
        _ = buffer.samples
