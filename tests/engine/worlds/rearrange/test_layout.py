"""Flats: what is near what, that all can be reached and seen, and that they never change.

`python tests/engine/worlds/rearrange/test_layout.py` prints what is near what.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from engine.worlds.rearrange.geometry import CLEARANCE, WALL, clear
from engine.worlds.rearrange.layout import (
    OPEN_AIR,
    REST_HEIGHT,
    Layout,
    drop,
    generate,
    placing_box,
    robot_at,
    spots,
    start_pose,
)
from engine.worlds.rearrange.names import ENTITIES, HANDLES, RECEPTACLE_NAMES

FLATS = tuple(product(range(5), range(21)))
ALONE = ("sofa", "tv_stand", "black_table", "brown_table")
KITCHEN = ("left_counter", "sink", "right_counter")
# Report 2.6: where `nav` leads to (first), how often `robot_at` holds for another (second) too.
MEASURED = {
    ("left_counter", "left_drawer"): 1.00,
    ("left_counter", "sink"): 0.97,
    ("left_counter", "fridge"): 0.82,
    ("left_counter", "right_counter"): 0.21,
    ("sink", "left_counter"): 0.98,
    ("sink", "left_drawer"): 0.98,
    ("sink", "right_counter"): 0.91,
    ("sink", "right_drawer"): 0.90,
    ("right_counter", "right_drawer"): 1.00,
    ("right_counter", "sink"): 0.97,
    ("right_counter", "left_drawer"): 0.92,
    ("right_counter", "left_counter"): 0.22,
    ("sofa", "chair"): 0.23,
    ("tv_stand", "chair"): 0.29,
    ("tv_stand", "right_drawer"): 0.14,
    ("tv_stand", "black_table"): 0.09,
}


def flat(number: tuple[int, int]) -> Layout:
    return generate(*number)


def pose_at(layout: Layout, entity: str) -> tuple[float, float, float]:
    x, y, heading = layout.stands[ENTITIES.index(entity)]
    return float(x), float(y), float(heading)


def shares(macros: tuple[int, ...] = (0, 1, 2, 3, 4)) -> dict[tuple[str, str], float]:
    """How often each entity is near where `nav` to each leads, over flats."""
    near = np.array(
        [
            [robot_at(layout, pose_at(layout, name)) for name in ENTITIES]
            for layout in (flat(number) for number in FLATS if number[0] in macros)
        ]
    ).mean(0)
    return {
        (a, b): float(near[i, j])
        for i, a in enumerate(ENTITIES)
        for j, b in enumerate(RECEPTACLE_NAMES)
        if i != j
    }


@pytest.mark.parametrize("macros", [(0, 1, 2, 3, 4), (0,), (1,), (2,), (3,), (4,)])
def test_as_near_as_in_the_original(macros: tuple[int, ...]) -> None:
    found = shares(macros)
    for pair, measured in MEASURED.items():
        assert found[pair] == pytest.approx(measured, abs=0.07), pair


def test_what_is_alone_is_alone() -> None:
    found = shares()
    for name, other in product(ALONE, RECEPTACLE_NAMES):
        if name != other and (name, other) not in MEASURED:
            assert found[name, other] <= 0.07, (name, other)
    for name, other in product(KITCHEN, ALONE):
        assert found[name, other] <= 0.07, (name, other)


@pytest.mark.parametrize("macro", range(5))
def test_every_flat(macro: int) -> None:
    for number in product((macro,), range(21)):
        robot_stands_clear_and_is_where_it_went(number)
        whatever_is_placed_can_be_seen_and_picked_from_its_stand(number)
        furniture_stands_in_the_room_and_surfaces_apart(number)


def robot_stands_clear_and_is_where_it_went(number: tuple[int, int]) -> None:
    layout = flat(number)
    for entity, name in enumerate(ENTITIES):
        x, y, heading = pose_at(layout, name)
        assert clear(layout.solids, x, y, CLEARANCE), name
        assert CLEARANCE < x < layout.size[0] - CLEARANCE
        assert CLEARANCE < y < layout.size[1] - CLEARANCE
        assert robot_at(layout, (x, y, heading))[entity], name
        # Handles of one piece share its stand line; the entity is straight ahead or nearly.
        dx, dy = layout.positions[entity, :2] - (x, y)
        turn = (math.atan2(dy, dx) - heading + math.pi) % (2 * math.pi) - math.pi
        assert abs(turn) < 0.35, name


def whatever_is_placed_can_be_seen_and_picked_from_its_stand(
    number: tuple[int, int],
) -> None:
    layout = flat(number)
    for index, name in enumerate(RECEPTACLE_NAMES):
        x, y, heading = pose_at(layout, name)
        low, high = placing_box(layout, index)
        for corner in product((low[0], high[0]), (low[1], high[1])):
            dx, dy = corner[0] - x, corner[1] - y
            turn = (math.atan2(dy, dx) - heading + math.pi) % (2 * math.pi) - math.pi
            assert math.hypot(dx, dy) < 1.5, name
            assert abs(turn) < math.pi / 4, name


def furniture_stands_in_the_room_and_surfaces_apart(number: tuple[int, int]) -> None:
    layout = flat(number)
    assert (layout.solids[:, 0] >= -0.01).all()
    assert (layout.solids[:, 1, :2] <= np.array(layout.size) + 0.01).all()
    assert (layout.solids[:, 0] < layout.solids[:, 1]).all()
    assert (layout.surfaces[:, 0] < layout.surfaces[:, 1]).all()
    for a, b in product(range(11), range(11)):
        apart = (layout.surfaces[a, 0] >= layout.surfaces[b, 1]) | (
            layout.surfaces[a, 1] <= layout.surfaces[b, 0]
        )
        assert a == b or apart.any(), (RECEPTACLE_NAMES[a], RECEPTACLE_NAMES[b])
    assert set(layout.solid_kinds.tolist()) >= set(range(9))
    for receptacle, handle in (("left_drawer", 0), ("right_drawer", 2)):
        index = RECEPTACLE_NAMES.index(receptacle)
        assert (layout.surfaces[index] == layout.insides[handle]).all()
    shelf = layout.surfaces[RECEPTACLE_NAMES.index("fridge")]
    assert (shelf[0] >= layout.insides[4, 0]).all()
    assert (shelf[1] <= layout.insides[4, 1]).all()


def test_heights_are_those_of_the_original() -> None:
    layout = generate(0, 0)
    heights = {name: layout.surfaces[n, 0, 2] + REST_HEIGHT for n, name in enumerate(ENTITIES[:7])}
    assert heights == pytest.approx(
        {
            "sofa": 0.43,
            "tv_stand": 0.66,
            "sink": 0.74,
            "black_table": 0.79,
            "left_counter": 0.89,
            "right_counter": 0.89,
            "brown_table": 0.96,
        }
    )


def test_flats_differ_and_stay_the_same() -> None:
    seen = {generate(*number).positions.tobytes() for number in FLATS}
    assert len(seen) == len(FLATS)
    kept = generate(3, 4)
    generate.cache_clear()
    again = generate(3, 4)
    assert again is not kept
    for name in ("positions", "stands", "surfaces", "insides", "solids", "solid_kinds"):
        assert getattr(again, name).tobytes() == getattr(kept, name).tobytes()
        assert not getattr(again, name).flags.writeable


def test_macros_have_inner_walls() -> None:
    for macro in range(5):
        assert any((generate(macro, v).solid_kinds == WALL).any() for v in range(21))


@pytest.mark.parametrize("number", [(5, 0), (-1, 0), (0, 21), (0, -1)])
def test_no_such_flat(number: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="There is no flat"):
        generate(*number)


def test_starts_anywhere_clear() -> None:
    layout = generate(2, 7)
    rng = np.random.default_rng(0)
    poses = [start_pose(layout, rng) for _ in range(200)]
    assert all(clear(layout.solids, x, y, CLEARANCE) for x, y, _ in poses)
    xs, ys, headings = np.array(poses).T
    assert np.ptp(xs) > 0.8 * layout.size[0]
    assert np.ptp(ys) > 0.8 * layout.size[1]
    assert np.ptp(headings) > 0.9 * 2 * math.pi
    assert poses[:3] == [start_pose(layout, r) for r in [np.random.default_rng(0)] for _ in "123"]


@pytest.mark.parametrize("count", [1, 2, 5, 11, 14])
def test_spots_lie_on_the_surface_and_apart(count: int) -> None:
    rng = np.random.default_rng(count)
    for number in ((0, 0), (3, 9)):
        layout = flat(number)
        for receptacle in OPEN_AIR:
            low, high = layout.surfaces[receptacle]
            points = spots(layout, receptacle, count, rng)
            assert points.shape == (count, 3)
            assert ((points > low) & (points < high)).all()
            distances = np.hypot(*(points[:, None, :2] - points[None, :, :2]).transpose(2, 0, 1))
            assert (distances[np.triu_indices(count, 1)] > 0.04).all()
            point = drop(layout, receptacle, rng)
            assert ((point > low) & (point < high)).all()


def test_there_are_handles_in_front_of_their_pieces() -> None:
    layout = generate(1, 1)
    for handle in range(len(HANDLES)):
        entity = len(RECEPTACLE_NAMES) + handle
        x, y, heading = (float(value) for value in layout.stands[entity])
        ahead = np.array([math.cos(heading), math.sin(heading)])
        to_handle = (layout.positions[entity, :2] - (x, y)) @ ahead
        to_inside = (layout.insides[handle].mean(0)[:2] - (x, y)) @ ahead
        assert 0.5 < to_handle < to_inside


if __name__ == "__main__":
    for (a, b), share in shares().items():
        if share > 0 or (a, b) in MEASURED:
            measured = MEASURED.get((a, b))
            print(  # noqa: T201
                f"{a:18} {b:14} {share:5.2f} {'' if measured is None else f'{measured:5.2f}'}"
            )
