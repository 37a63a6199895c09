"""Advantages over decisions of different lengths, checked by hand and against plain PPO."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from engine.rl.smdp_buffer import SmdpRolloutBuffer

GAMMA, LAMBDA = 0.9, 0.8


def filled(rewards, values, starts, discounts, kind=SmdpRolloutBuffer):
    """A buffer of these columns, each of shape (steps, envs)."""
    rewards = np.asarray(rewards, dtype=np.float32)
    steps, envs = rewards.shape
    buffer = kind(
        steps,
        gymnasium.spaces.Box(-1, 1, (2,), np.float32),
        gymnasium.spaces.Discrete(3),
        "cpu",
        gae_lambda=LAMBDA,
        gamma=GAMMA,
        n_envs=envs,
    )
    for step in range(steps):
        extra = {} if discounts is None else {"discounts": np.asarray(discounts[step])}
        buffer.add(
            np.zeros((envs, 2), np.float32),
            np.zeros((envs, 1)),
            rewards[step],
            np.asarray(starts[step], dtype=np.float32),
            torch.tensor(values[step], dtype=torch.float32).reshape(envs, 1),
            torch.zeros(envs),
            **extra,
        )
    return buffer


def test_options_of_different_lengths():
    buffer = filled(
        rewards=[[1.0], [0.0], [2.0]],
        values=[[0.5], [1.0], [0.2]],
        starts=[[1], [0], [0]],
        discounts=[[GAMMA**5], [GAMMA], [GAMMA**3]],
    )
    buffer.compute_returns_and_advantage(torch.tensor([2.0]), np.array([False]))
    third = 2.0 + 0.9**3 * 2.0 - 0.2
    second = 0.0 + 0.9 * 0.2 - 1.0 + 0.9 * 0.8 * third
    first = 1.0 + 0.9**5 * 1.0 - 0.5 + 0.9**5 * 0.8 * second
    expected = [first, second, third]
    assert buffer.advantages[:, 0] == pytest.approx(expected, rel=1e-6)
    assert buffer.returns[:, 0] == pytest.approx([first + 0.5, second + 1.0, third + 0.2], rel=1e-6)


def test_an_episode_that_ends_inside_an_option_bootstraps_nothing():
    buffer = filled(
        rewards=[[1.0], [3.0], [4.0]],
        values=[[0.5], [1.0], [0.2]],
        starts=[[1], [0], [1]],
        discounts=[[GAMMA**2], [GAMMA**7], [GAMMA]],
    )
    buffer.compute_returns_and_advantage(torch.tensor([9.0]), np.array([True]))
    second = 3.0 - 1.0
    first = 1.0 + 0.9**2 * 1.0 - 0.5 + 0.9**2 * 0.8 * second
    assert buffer.advantages[:, 0] == pytest.approx([first, second, 4.0 - 0.2], rel=1e-6)


def test_an_option_of_no_frames_does_not_discount():
    buffer = filled([[0.0], [1.0]], [[0.4], [0.4]], [[1], [0]], [[1.0], [GAMMA]])
    buffer.compute_returns_and_advantage(torch.tensor([0.0]), np.array([True]))
    assert buffer.advantages[:, 0] == pytest.approx([0.8 * 0.6, 0.6], rel=1e-6)


def test_environments_do_not_mix():
    columns = ([[1.0, 5.0]], [[0.5, 0.1]], [[1, 1]], [[GAMMA**4, GAMMA]])
    buffer = filled(*columns)
    buffer.compute_returns_and_advantage(torch.tensor([2.0, 3.0]), np.array([False, False]))
    expected = [1.0 + 0.9**4 * 2.0 - 0.5, 5.0 + 0.9 * 3.0 - 0.1]
    assert buffer.advantages[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("said", [True, False])
def test_one_frame_each_is_plain_gae_to_the_last_bit(said):
    chance = np.random.default_rng(0)
    columns = (
        chance.normal(size=(64, 5)),
        chance.normal(size=(64, 5)),
        chance.random((64, 5)) < 0.1,
    )
    last, dones = torch.tensor(chance.normal(size=5), dtype=torch.float32), chance.random(5) < 0.5
    ours = filled(*columns, np.full((64, 5), GAMMA) if said else None)
    theirs = filled(*columns, None, MaskableRolloutBuffer)
    for buffer in (ours, theirs):
        buffer.compute_returns_and_advantage(last, dones)
    assert np.array_equal(ours.advantages, theirs.advantages)
    assert np.array_equal(ours.returns, theirs.returns)


def test_reset_forgets_the_discounts():
    buffer = filled([[1.0]], [[0.5]], [[1]], [[GAMMA**5]])
    buffer.reset()
    assert buffer.discounts.tolist() == [[GAMMA]]
