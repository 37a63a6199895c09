from __future__ import annotations

import numpy as np
from opensimplex import internals

from engine.worlds.crafter.terrain import _seed_noise, lay_out


def test_noise_tables_are_those_of_opensimplex():
    seeds = np.random.default_rng(0).integers(2**31 - 1, size=100).tolist()
    for seed in (0, 1, 2**31 - 2, *seeds):
        for ours, theirs in zip(_seed_noise(seed), internals._init(seed), strict=True):
            assert np.array_equal(ours, theirs)


def test_the_layout_depends_on_the_stream_alone():
    first, second = (np.zeros((64, 64), np.uint8) for _ in range(2))
    second[:] = 9
    creatures = [lay_out(np.random.RandomState(5), map_) for map_ in (first, second)]
    assert np.array_equal(first, second)
    assert np.array_equal(*creatures)
    assert (first > 0).all()
