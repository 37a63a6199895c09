from __future__ import annotations

import numpy as np
import pytest

from engine.worlds.crafter.twin.state import empty_places
from engine.worlds.crafter.twin.stream import below, load_stream, save_stream, uniform


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_the_draws_are_those_of_numpy(seed: int):
    official = np.random.RandomState(seed)
    place = empty_places(1).view(np.recarray)[0]
    save_stream(official, place)
    kinds = np.random.default_rng(seed)
    for _ in range(3000):  # several times through the 624 words of the state
        if kinds.random() < 0.5:
            assert uniform(place) == official.uniform()
        else:
            count = int(kinds.integers(1, 150))
            assert below(place, count) == official.randint(0, count)


def test_the_stream_goes_back_to_numpy_where_it_stands():
    official, other = np.random.RandomState(3), np.random.RandomState(4)
    place = empty_places(1).view(np.recarray)[0]
    official.uniform(size=700)
    save_stream(official, place)
    for _ in range(500):
        assert uniform(place) == official.uniform()
    load_stream(place, other)
    assert other.uniform() == official.uniform()
