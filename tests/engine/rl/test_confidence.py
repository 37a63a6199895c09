"""Wilson's interval against published values."""

from __future__ import annotations

import pytest

from engine.rl.confidence import lower_bound, wilson


@pytest.mark.parametrize(
    ("successes", "episodes", "low", "high"),
    [
        # Newcombe 1998, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # The half of the best is the best's mirror.
        (28, 29, 1 - 0.1718, 1 - 0.0061),
        (20, 20, 1 - 0.1611, 1.0),
        (50, 100, 0.4038, 0.5962),
    ],
)
def test_known_intervals(successes, episodes, low, high):
    assert wilson(successes, episodes) == (
        pytest.approx(low, abs=5e-5),
        pytest.approx(high, abs=5e-5),
    )
    assert lower_bound(successes, episodes) == wilson(successes, episodes)[0]


def test_bounds_stay_between_nothing_and_all():
    for episodes in range(1, 200):
        for successes in (0, episodes):
            low, high = wilson(successes, episodes)
            assert 0.0 <= low < high <= 1.0


def test_nothing_played_says_nothing():
    assert wilson(0, 0) == (0.0, 1.0)
    assert lower_bound(0, 0) == 0.0


def test_more_episodes_make_it_surer():
    bounds = [lower_bound(9 * n, 10 * n) for n in (1, 2, 10, 100)]
    assert bounds == sorted(bounds)
    assert 0.59 < bounds[0] < bounds[-1] < 0.9
