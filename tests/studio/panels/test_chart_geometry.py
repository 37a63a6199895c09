from __future__ import annotations

import pytest

from studio.widgets.chart_geometry import (
    Plot,
    ascii_rows,
    braille_rows,
    line_spans,
    mean_spans,
    nice_range,
)
from studio.widgets.series import Series


def series(*points: tuple[float, float | None], capacity: int = 1024) -> Series:
    made = Series(capacity)
    for x, y in points:
        made.add(x, y)
    return made


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, (0.0, 1.0)),
        (0.13, 0.87, (0.0, 1.0)),
        (1480.0, 1533.0, (1480.0, 1540.0)),
        (-0.3, 4.7, (-1.0, 5.0)),
        (5.0, 5.0, (4.4, 5.6)),
        (0.0, 0.0, (0.0, 1.0)),
    ],
)
def test_nice_range(low: float, high: float, expected: tuple[float, float]) -> None:
    assert nice_range(low, high) == pytest.approx(expected)


def test_fixed_ends_give_way_to_values_beyond_them() -> None:
    assert nice_range(0.2, 0.4, 0.0, 1.0) == (0.0, 1.0)
    low, high = nice_range(-3.0, 0.9, -1.0, 1.0)
    assert low <= -3.0
    assert high == 1.0


@pytest.mark.parametrize("value", [0.0, 0.4, 1.0])
def test_a_constant_between_fixed_ends_leaves_them_alone(value: float) -> None:
    assert nice_range(value, value, 0.0, 1.0) == (0.0, 1.0)


def test_a_rising_line_touches_each_dot_of_the_diagonal() -> None:
    points = series((0, 0.0), (7, 7.0))
    spans = line_spans(points.buckets, Plot((0, 7), (0, 7), columns=8, dots=8))
    for column, span in enumerate(spans):
        assert span is not None
        assert span[0] <= column <= span[1]
        assert span[1] - span[0] == 0


def test_a_jump_is_joined_without_a_hole() -> None:
    points = series((0, 0.0), (1, 7.0))
    spans = line_spans(points.buckets, Plot((0, 1), (0, 7), columns=2, dots=8))
    assert spans[0] is not None
    assert spans[1] is not None
    assert spans[0][0] == 0
    assert spans[1][1] == 7
    assert spans[1][0] - spans[0][1] <= 1


def test_gaps_break_the_line() -> None:
    points = series((0, 1.0), (3, None), (7, 1.0))
    spans = line_spans(points.buckets, Plot((0, 7), (0, 2), columns=8, dots=8))
    assert [span is None for span in spans] == [False, *[True] * 6, False]


def test_many_points_make_the_band_of_their_extremes() -> None:
    many = series(*[(x, float(x % 2)) for x in range(1000)])
    spans = line_spans(many.buckets, Plot((0, 999), (0, 1), columns=10, dots=8))
    assert spans == [(0, 7)] * 10
    assert mean_spans(many.buckets, Plot((0, 999), (0, 1), columns=10, dots=9)) == [(4, 4)] * 10


def test_one_spike_among_thousands_is_seen() -> None:
    many = series(*[(x, 1.0 if x == 7777 else 0.0) for x in range(20_000)])
    spans = line_spans(many.buckets, Plot((0, 19_999), (0, 1), columns=40, dots=16))
    assert max(span[1] for span in spans if span) == 15


def test_values_outside_the_plot_are_clipped_to_its_edge() -> None:
    points = series((0, -5.0), (1, 50.0))
    spans = line_spans(points.buckets, Plot((0, 1), (0, 1), columns=2, dots=4))
    assert all(span is not None and 0 <= span[0] <= span[1] <= 3 for span in spans)


def test_braille_cells_have_the_right_dots() -> None:
    assert braille_rows([(0, 0), None], 1) == ["\u2840"]
    assert braille_rows([None, (3, 3)], 1) == ["\u2808"]
    assert braille_rows([(0, 7), (4, 4)], 2) == ["\u28c7", "\u2847"]
    assert braille_rows([None, None], 2) == [" ", " "]
    assert braille_rows([(0, 3)], 1) == ["\u2847"]


def test_ascii_cells() -> None:
    assert ascii_rows([(0, 0), (1, 1), (0, 1), None], 1) == [".'| "]
    assert ascii_rows([(1, 2)], 2) == [".", "'"]


def test_an_empty_plot_is_no_error() -> None:
    assert line_spans(series((0, 1.0)).buckets, Plot((0, 0), (0, 0), columns=0, dots=0)) == []
