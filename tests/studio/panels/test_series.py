from __future__ import annotations

import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from studio.widgets.series import Series


def filled(values: list[float | None], capacity: int = 1024) -> Series:
    series = Series(capacity)
    for index, value in enumerate(values):
        series.add(index * 10.0, value)
    return series


def test_few_points_are_kept_as_they_are() -> None:
    series = filled([1.0, None, 3.0])
    assert [bucket.is_gap for bucket in series.buckets] == [False, True, False]
    assert [bucket.x0 for bucket in series.buckets] == [0.0, 10.0, 20.0]
    assert series.latest == 3.0


def test_a_missing_value_does_not_hide_the_latest_one() -> None:
    assert filled([1.0, None, math.nan, math.inf]).latest == 1.0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=1, max_size=400),
    st.integers(4, 40),
)
def test_memory_is_bounded_and_no_extreme_is_lost(
    values: list[float | None], capacity: int
) -> None:
    series = filled(values, capacity)
    known = [value for value in values if value is not None]
    assert len(series) <= capacity
    assert series.points == len(known)
    bounds = series.bounds()
    if not known:
        assert bounds is None
        return
    assert bounds is not None
    assert (bounds.y_low, bounds.y_high) == (min(known), max(known))
    assert (bounds.x_low, bounds.x_high) == (0.0, (len(values) - 1) * 10.0)
    xs = [x for bucket in series.buckets for x in (bucket.x0, bucket.x1)]
    assert xs == sorted(xs)


def test_buckets_hold_equally_many_points_however_long_it_lasts() -> None:
    series = filled([random.Random(index).random() for index in range(5000)], capacity=64)
    sizes = [bucket.points for bucket in series.buckets]
    assert set(sizes[:-1]) == {128}
    assert sum(sizes) == 5000


def test_the_mean_of_merged_buckets_is_the_mean_of_their_points() -> None:
    values = [float(index) for index in range(200)]
    series = filled(values, capacity=8)
    total = sum(bucket.mean * bucket.points for bucket in series.buckets)
    assert math.isclose(total, sum(values))


def test_going_back_drops_the_work_that_was_lost() -> None:
    series = filled([1.0, 2.0, 3.0, 4.0])
    series.add(20.0, 9.0)
    assert [(bucket.x0, bucket.last) for bucket in series.buckets] == [
        (0.0, 1.0),
        (10.0, 2.0),
        (20.0, 9.0),
    ]


def test_clear_starts_anew() -> None:
    series = filled([1.0] * 100, capacity=8)
    series.clear()
    assert len(series) == 0
    assert series.latest is None
    series.add(0.0, 5.0)
    assert series.buckets[0].points == 1
