"""The statistical comparison of `tests/benchmarks/bench_twin.py`, small, and its own honesty.

The official side plays other seeds than the twin, so that this is no comparison of equal episodes.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.worlds.crafter.codes import GRASS
from engine.worlds.crafter.official import OfficialGames
from engine.worlds.crafter.twin.twin import Twin

BENCHMARKS = Path(__file__).parents[4] / "benchmarks"
OFFICIAL, TWIN = range(1000, 1060), range(2000, 2400)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench_twin")


@pytest.mark.parametrize(
    ("policy", "official_count", "count"), [("random", 60, 400), ("gather", 30, 80)]
)
def test_episodes_of_other_seeds_have_the_same_statistics(
    bench: Any, policy: str, official_count: int, count: int
):
    make = bench.POLICIES[policy]
    official = bench.play(OfficialGames(20), make(20, 1), OFFICIAL[:official_count])
    ours = bench.play(Twin(64), make(64, 2), TWIN[:count])
    rows = bench.compare(official, ours)
    assert len(rows) == 26
    assert min(value for *_, value in rows) > bench.SIGNIFICANT, rows


def test_episodes_of_the_same_seeds_are_identical(bench: Any):
    assert bench.identical(bench.POLICIES["gather"], range(5), 300) == 5


def test_the_comparison_notices_rules_that_differ(bench: Any):
    make = bench.POLICIES["random"]
    honest, changed = Twin(64), Twin(64)
    changed._rules = changed._rules.copy()
    changed._rules["chance"][0, GRASS] = 0.2  # of finding a sapling; the package has 0.1
    changed._rules.flags.writeable = False  # as the rules are: else all would be compiled anew
    rows = bench.compare(*(bench.play(twin, make(64, 1), TWIN) for twin in (honest, changed)))
    differing = {name for name, _, _, value in rows if value < bench.SIGNIFICANT}
    assert {"collect_sapling", "place_plant"} <= differing


def test_two_samples_by_known_values(bench: Any):
    # 45 of 100 against 30 of 100: z = 2.19, p = 0.0285 (pooled, two-sided).
    first, second = np.arange(100) < 45, np.arange(100) < 30
    assert bench.two_proportions(first, second) == pytest.approx(0.0285, abs=5e-4)
    assert bench.two_proportions(first, first) == 1.0
    assert bench.two_proportions(first & False, first & False) == 1.0
    # Holm (1979): the smallest of m times m, the next times m - 1, never falling.
    assert bench.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    random = np.random.default_rng(0)
    same, other = random.normal(size=(2, 500))
    for test in (bench.welch, bench.kolmogorov_smirnov):
        assert test(same, other) > 0.05
        assert test(same, other + 0.5) < 1e-6
        assert test(same, same) == 1.0
    wide = 3 * other  # the same mean, which only one of them looks at
    assert bench.welch(same, wide) > 0.01
    assert bench.kolmogorov_smirnov(same, wide) < 1e-6
