"""Rewards divided by the spread of the return."""

from __future__ import annotations

import numpy as np
import pytest

from engine.rl.reward_scale import CLIP, RewardScale


def scaled(scale, rewards, discounts, over=None):
    places = np.arange(len(rewards))
    ends = np.array(over if over is not None else [False] * len(rewards))
    return scale.scaled(places, np.array(rewards, float), np.array(discounts, float), ends)


def test_by_hand():
    scale = RewardScale(1)
    assert scaled(scale, [4.0], [0.5]).tolist() == [4.0], "one return has no spread"
    # The return is 4 * 0.5 + 6 = 8; of 4 and 8 the deviation is 2.
    assert scaled(scale, [6.0], [0.5]).tolist() == [3.0]
    assert scale.moments.tolist() == [2.0, 6.0, 8.0]


def test_an_episode_begins_at_nothing():
    scale = RewardScale(2)
    scaled(scale, [3.0, 5.0], [1.0, 1.0], over=[True, False])
    assert scale.returns.tolist() == [0.0, 5.0]
    assert scale.deviation == 1.0
    scaled(scale, [3.0, 5.0], [1.0, 1.0])
    assert scale.returns.tolist() == [3.0, 10.0]


def test_the_deviation_is_that_of_all_returns():
    rng = np.random.default_rng(0)
    scale, seen = RewardScale(1), []
    for reward in rng.normal(100.0, 7.0, 500):
        scaled(scale, [reward], [1.0], over=[True])
        seen.append(reward)
    assert scale.deviation == pytest.approx(np.std(seen))


def test_nothing_is_too_far_out():
    scale = RewardScale(1)
    for _ in range(200):
        scaled(scale, [0.0], [1.0], over=[True])
    assert scaled(scale, [1e6], [1.0]).tolist() == [CLIP]
