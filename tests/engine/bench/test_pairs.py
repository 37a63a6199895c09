"""Gains within the same worlds: hand-computed, and narrower where worlds differ."""

from __future__ import annotations

import numpy as np
import pytest

from engine.bench.pairs import gain
from engine.bench.statistics import summarise

NAMES = ("a", "b")


def mean_score(success):
    """Points of percent, so that the gain can be worked out by hand."""
    return 50 * (success["a"] + success["b"])


def test_a_gain_is_the_difference_of_the_means(episode):
    mine = [[episode(1, "a", "b", reward=3.0), episode(2, "a", reward=1.0)],
            [episode(1, "a", reward=2.0), episode(2, "b", reward=2.0)]]  # fmt: skip
    other = [[episode(1, "a", reward=1.0, frames=50), episode(2, reward=0.0, task_success=True)]]
    found = gain(mine, other, NAMES, mean_score)
    assert found is not None
    assert found.worlds == 2
    assert found.success["a"].value == pytest.approx(0.75 - 0.5)
    assert found.success["b"].value == pytest.approx(0.5 - 0.0)
    assert found.score.value == pytest.approx(50 * 1.25 - 50 * 0.5)
    assert found.reward.value == pytest.approx(2.0 - 0.5)
    assert found.frames.value == pytest.approx(100 - 75)
    assert found.task_success.value == pytest.approx(-0.5)


def test_only_worlds_that_all_have_played_count(episode):
    mine = [[episode(1, "a"), episode(2, "a")], [episode(2), episode(3, "b")]]
    other = [[episode(2, "b"), episode(9, "a")]]
    found = gain(mine, other, NAMES, mean_score)
    assert found is not None
    assert found.worlds == 1
    assert found.success["a"].value == pytest.approx(0.5)
    assert found.success["b"].value == pytest.approx(-1.0)
    assert gain(mine, [[episode(9)]], NAMES, mean_score) is None
    assert gain([], other, NAMES, mean_score) is None


def test_what_worlds_have_in_common_does_not_widen_the_interval(episode):
    """Half of the worlds are hard for both; mine does one more thing in every fifth."""
    rng = np.random.default_rng(0)
    hard, more = rng.random(200) < 0.5, rng.random(200) < 0.2
    other = [[episode(w, *(() if hard[w] else ("a",))) for w in range(200)]]
    mine = [[episode(w, *(("a",) if more[w] or not hard[w] else ())) for w in range(200)]]
    found = gain(mine, other, NAMES, mean_score)
    alone = [summarise(side, NAMES, mean_score).success["a"] for side in (mine, other)]
    assert found is not None
    assert not alone[0].is_apart_from(alone[1])
    assert found.success["a"].low > 0
    assert found.success["b"].low == found.success["b"].high == 0.0
