from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.widgets.half_blocks import (
    Rows,
    block_strips,
    fit,
    half_block_strips,
    rows_of,
    scale,
)

RED, BLUE, BLACK = (255, 0, 0), (0, 0, 255), (0, 0, 0)


def colours(rows: Rows) -> list[list[tuple[object, object]]]:
    """What a terminal would draw, cell by cell: (upper, lower) pixel."""
    drawn = []
    for strip in half_block_strips(rows):
        line: list[tuple[object, object]] = []
        for segment in strip:
            style = segment.style
            assert style is not None
            upper = tuple(style.color.triplet) if style.color else None
            lower = tuple(style.bgcolor.triplet) if style.bgcolor else None
            assert set(segment.text) == {"▀"}
            line += [(upper, lower)] * len(segment.text)
        drawn.append(line)
    return drawn


pictures = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(
    lambda size: st.lists(
        st.lists(st.sampled_from([RED, BLUE, BLACK]), min_size=size[0], max_size=size[0]),
        min_size=size[1],
        max_size=size[1],
    )
)


@settings(max_examples=80, deadline=None)
@given(pictures)
def test_every_pixel_is_drawn_in_its_own_colour(rows: Rows) -> None:
    drawn = colours(rows)
    for y, row in enumerate(rows):
        assert [cell[y % 2] for cell in drawn[y // 2]] == row
    if len(rows) % 2:
        assert all(lower is None for _, lower in drawn[-1])


def test_equal_neighbours_are_one_segment() -> None:
    rows = [[RED] * 30 + [BLUE] * 30, [BLACK] * 60]
    (strip,) = half_block_strips(rows)
    assert [len(segment.text) for segment in strip] == [30, 30]
    assert strip.cell_length == 60


def test_ascii_draws_a_pixel_on_two_cells() -> None:
    (strip,) = block_strips([[RED, RED, BLUE]])
    assert [segment.text for segment in strip] == ["    ", "  "]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ((63, 63), (63, 63)),
        ((130, 200), (126, 126)),
        ((46, 100), (42, 42)),
        ((37, 37), (36, 36)),
        ((0, 5), (0, 0)),
        ((1, 1), (1, 1)),
    ],
)
def test_fit(place: tuple[int, int], expected: tuple[int, int]) -> None:
    assert fit(63, 63, *place) == expected


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 99), st.integers(1, 99), st.integers(1, 150), st.integers(1, 150))
def test_fit_never_leaves_its_place(width: int, height: int, columns: int, lines: int) -> None:
    new_width, new_height = fit(width, height, columns, lines)
    assert 1 <= new_width <= max(1, columns)
    assert 1 <= new_height <= max(1, lines)


def test_scaling_down_is_the_area_average() -> None:
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (63, 63, 3), dtype=np.uint8)
    rows = scale(rows_of(picture.tobytes(), 63, 63), 21, 21)
    expected = picture.reshape(21, 3, 21, 3, 3).mean(axis=(1, 3))
    assert np.abs(np.array(rows) - expected).max() <= 1.0


def test_scaling_down_by_a_broken_factor_keeps_the_mean() -> None:
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (63, 63, 3), dtype=np.uint8)
    rows = scale(rows_of(picture.tobytes(), 63, 63), 40, 40)
    assert np.array(rows).shape == (40, 40, 3)
    assert np.abs(np.array(rows).mean() - picture.mean()) < 1.0


def test_scaling_up_repeats_pixels() -> None:
    assert scale([[RED, BLUE]], 4, 2) == [[RED, RED, BLUE, BLUE]] * 2


def test_bytes_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(ValueError, match="needs 12 bytes, got 5"):
        rows_of(b"12345", 2, 2)
