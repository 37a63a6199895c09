"""Bootstrap intervals: known cases, coverage, degenerate samples, and the score on resamples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.bench.statistics import (
    Estimate,
    interval,
    resampled_means,
    success_rates,
    summarise,
)
from engine.worlds.crafter.world import CrafterWorld

NAMES = ("a", "b")


def plain_score(success):
    """The official formula over two achievements."""
    return math.expm1(sum(math.log1p(100 * success[name]) for name in NAMES) / len(NAMES))


def binomial_episodes(episode, rng, chances, count):
    drawn = rng.random((count, len(chances))) < chances
    return [
        episode(seed, *(name for name, hit in zip(NAMES, row, strict=True) if hit))
        for seed, row in enumerate(drawn)
    ]


def test_a_bootstrap_of_means_has_the_known_spread():
    rng = np.random.default_rng(0)
    sample = rng.normal(5.0, 2.0, (150, 1))
    draws = resampled_means(sample, 20_000, rng)
    assert draws.shape == (20_000, 1)
    assert draws.mean() == pytest.approx(sample.mean(), abs=0.01)
    # The standard error of the mean, with the sample's own (biased) deviation.
    assert draws.std() == pytest.approx(sample.std() / math.sqrt(150), rel=0.02)


def test_draws_are_cut_into_batches_without_changing_their_number(monkeypatch):
    monkeypatch.setattr("engine.bench.statistics._BATCH", 50)
    draws = resampled_means(np.arange(20.0)[:, None], 7, np.random.default_rng(0))
    assert draws.shape == (7, 1)
    assert np.all((draws >= 0) & (draws <= 19))
    assert len(np.unique(draws)) > 1


def test_an_interval_takes_the_quantiles():
    found = interval(0.5, np.linspace(0, 1, 1001), confidence=0.9)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.05, 0.95))


@pytest.mark.parametrize("chance", [0.3, 0.8])
def test_intervals_of_binomials_cover_the_truth_about_as_often_as_they_say(chance):
    """Three strata of 70 episodes, as three training seeds would give; 40 x 20 experiments."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(40):
        strata = [(rng.random((70, 20)) < chance).astype(float) for _ in range(3)]
        draws = np.mean([resampled_means(stratum, 400, rng) for stratum in strata], axis=0)
        for column in range(20):
            found = interval(0.0, draws[:, column])
            hits += found.low <= chance <= found.high
    # 800 nearly independent experiments: two standard errors are 1.5 %.
    assert 0.92 <= hits / 800 <= 0.97


def test_the_score_is_computed_for_each_stratum_and_then_averaged(episode):
    rng = np.random.default_rng(2)
    strata = [binomial_episodes(episode, rng, (0.9, 0.2), 80) for _ in range(3)]
    found = summarise(strata, NAMES, plain_score)
    by_hand = [plain_score(success_rates(stratum, NAMES)) for stratum in strata]
    assert found.score.value == pytest.approx(sum(by_hand) / 3)
    assert found.score.low < found.score.value < found.score.high
    assert found.episodes == 240
    # A bootstrap of the score by hand, with other draws, ends at about the same places.
    again = []
    for _ in range(2_000):
        drawn = [[stratum[i] for i in rng.integers(0, 80, 80)] for stratum in strata]
        again.append(np.mean([plain_score(success_rates(one, NAMES)) for one in drawn]))
    low, high = np.quantile(again, (0.025, 0.975))
    assert found.score.low == pytest.approx(low, rel=0.03)
    assert found.score.high == pytest.approx(high, rel=0.03)


def test_strata_are_resampled_apart_from_each_other(episode):
    """Two seeds, one that always succeeds and one that never does: no draw can mix them."""
    strata = [[episode(i, "a") for i in range(50)], [episode(i) for i in range(50)]]
    found = summarise(strata, ("a",), lambda success: 100 * success["a"])
    assert found.success["a"] == Estimate(value=0.5, low=0.5, high=0.5)
    pooled = summarise([strata[0] + strata[1]], ("a",), lambda success: 100 * success["a"])
    assert pooled.success["a"].low < 0.45
    assert pooled.success["a"].high > 0.55


@pytest.mark.parametrize(("achievements", "share", "score"), [((), 0, 0), (NAMES, 1, 100)])
def test_where_all_episodes_agree_the_interval_is_one_point(episode, achievements, share, score):
    found = summarise([[episode(i, *achievements) for i in range(25)]] * 2, NAMES, plain_score)
    assert found.success["a"] == Estimate(value=share, low=share, high=share)
    assert (found.score.low, found.score.value, found.score.high) == pytest.approx((score,) * 3)
    assert found.reward == Estimate(value=1, low=1, high=1)


def test_one_seed_and_one_episode_are_enough(episode):
    found = summarise([[episode(7, "a", reward=3.5, frames=42, task_success=True)]], NAMES,
                      plain_score)  # fmt: skip
    assert found.reward.value == found.reward.low == 3.5
    assert found.frames.value == 42
    assert found.task_success.value == 1
    assert found.success["b"].value == 0


def test_strata_of_different_sizes_count_the_same(episode):
    strata = [[episode(i, "a") for i in range(10)], [episode(i) for i in range(40)]]
    assert summarise(strata, NAMES, plain_score).success["a"].value == 0.5


def test_the_same_episodes_give_the_same_intervals(episode):
    strata = [binomial_episodes(episode, np.random.default_rng(3), (0.5, 0.5), 60)]
    first = summarise(strata, NAMES, plain_score, resamples=300)
    assert first == summarise(strata, NAMES, plain_score, resamples=300)
    assert first != summarise(strata, NAMES, plain_score, resamples=300, seed=1)


@pytest.mark.parametrize("strata", [[], [[]]])
def test_nothing_played_has_no_figures(strata):
    with pytest.raises(ValueError, match="at least one episode"):
        summarise(strata, NAMES, plain_score)


def test_the_world_scores_by_the_official_formula(episode):
    """Against values computed by hand from arXiv 2109.06780, section 3."""
    world = CrafterWorld()
    half = [episode(i, *world.achievements[:11]) for i in range(4)]
    found = summarise([half], world.achievements, world.score, resamples=10)
    assert found.score.value == pytest.approx(math.sqrt(101) - 1)
    every = [episode(i, *world.achievements) for i in range(4)]
    assert summarise([every], world.achievements, world.score, resamples=10).score.value == (
        pytest.approx(100)
    )


def test_intervals_are_apart_only_when_they_do_not_touch():
    low, high = Estimate(value=1, low=0, high=2), Estimate(value=4, low=3, high=5)
    touching = Estimate(value=2.5, low=2, high=3)
    assert low.is_apart_from(high)
    assert high.is_apart_from(low)
    assert not low.is_apart_from(touching)
    assert not touching.is_apart_from(high)
    assert not low.is_apart_from(low)
