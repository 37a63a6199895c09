"""Pictures of flats: rays against a plain reference, what is seen and what is hidden."""

from __future__ import annotations

import dataclasses
import math
import time
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.worlds.rearrange.layout import (
    OPEN_AIR,
    REST_HEIGHT,
    Layout,
    drop,
    generate,
    placing_box,
    spots,
    start_pose,
)
from engine.worlds.rearrange.names import CATEGORIES, ENTITIES, INSTANCES, RECEPTACLE_NAMES
from engine.worlds.rearrange.raycast import CAMERA_HEIGHT, HORIZON, cast
from engine.worlds.rearrange.render import Renderer, View, render
from engine.worlds.rearrange.scene import Joints, scene
from engine.worlds.rearrange.shapes import COLOURS, SHAPES
from engine.worlds.rearrange.sprites import Atlas, master, sprite

CLOSED: Joints = (0.0, 0.0, 0.0, 0.0, 0.0)
FRIDGE_OPEN: Joints = (0.0, 0.0, 0.0, 0.0, 1.22)
EMPTY = np.zeros(0, np.int64)


def pose_at(layout: Layout, entity: str) -> tuple[float, float, float]:
    x, y, heading = layout.stands[ENTITIES.index(entity)]
    return float(x), float(y), float(heading)


def empty(layout: Layout, entity: str, joints: Joints = CLOSED) -> View:
    return View(layout, pose_at(layout, entity), joints, EMPTY, EMPTY, np.zeros((0, 3), np.float32))


def with_objects(view: View, categories: list[str], positions: object, held: int = -1) -> View:
    return dataclasses.replace(
        view,
        categories=np.array([CATEGORIES.index(name) for name in categories]),
        instances=np.zeros(len(categories), np.int64),
        positions=np.asarray(positions, np.float32).reshape(-1, 3),
        held=held,
    )


def filled(layout: Layout, seed: int) -> View:
    """All categories spread over the flat, seen from anywhere."""
    rng = np.random.default_rng(seed)
    positions = np.zeros((33, 3), np.float32)
    for place, receptacle in enumerate(OPEN_AIR):
        here = np.arange(33) % len(OPEN_AIR) == place
        positions[here] = spots(layout, receptacle, int(here.sum()), rng)
    view = with_objects(empty(layout, "sofa"), list(CATEGORIES), positions)
    return dataclasses.replace(view, pose=start_pose(layout, rng))


def changed(one: View, other: View, size: int = 64) -> NDArray[np.bool_]:
    """Pixels in which two views differ."""
    a, b = render([one, other], size)
    return np.asarray((a != b).any(-1))


def nearest(layout: Layout, pose: tuple[float, float, float], joints: Joints, size: int) -> object:
    """Distance ahead to the first box or wall, pixel by pixel, in double precision."""
    boxes = scene(layout, joints).boxes.astype(float)
    room = np.array([[0, 0, 0], [*layout.size, 2.5]], float)
    x, y, heading = pose
    eye = np.array([x, y, CAMERA_HEIGHT])
    ahead, right = np.array([math.cos(heading), math.sin(heading), 0]), np.zeros(3)
    right[:2] = ahead[1], -ahead[0]
    found = np.empty((size, size))
    for row, column in product(range(size), range(size)):
        ray = ahead + right * ((column + 0.5) / size * 2 - 1)
        ray = ray + np.array([0, 0, 2 * HORIZON - (row + 0.5) / size * 2])
        ray[np.abs(ray) < 1e-6] = 1e-6
        meets = np.sort((boxes - eye) / ray, axis=1)
        start, end = meets[:, 0].max(1), meets[:, 1].min(1)
        hits = start[(start <= end) & (start > 0)]
        found[row, column] = min([*hits, ((room - eye) / ray).max(0).min()])
    return found


@pytest.mark.parametrize("joints", [CLOSED, FRIDGE_OPEN, (0.45, 0.45, 0.0, 0.0, 0.0)])
def test_rays_meet_what_a_plain_caster_meets(joints: Joints) -> None:
    layout = generate(1, 4)
    poses = [start_pose(layout, np.random.default_rng(3)), pose_at(layout, "fridge")]
    for pose in poses:
        _, distance = cast(scene(layout, joints), pose, 24)
        reference = nearest(layout, pose, joints, 24)
        # Rays that graze an edge may fall on either side of it in single precision.
        assert np.isclose(distance, reference, rtol=1e-3).mean() > 0.98


def test_a_batch_is_its_single_pictures() -> None:
    views = [filled(generate(macro, 2 * macro), macro) for macro in range(5)]
    together = render(views, 64)
    assert together.shape == (5, 64, 64, 3)
    assert together.dtype == np.uint8
    for view, picture in zip(views, together, strict=True):
        assert (render([view], 64)[0] == picture).all()
    assert len({picture.tobytes() for picture in together}) == 5


def test_a_picture_is_the_same_again_and_when_nothing_is_kept() -> None:
    views = [filled(generate(0, n % 3), n) for n in range(6)]
    keeping, forgetting = Renderer(64), Renderer(64, kept_bytes=1)
    first = keeping.render(views)
    assert (keeping.render(views) == first).all()
    assert (forgetting.render(views) == first).all()
    first[:] = 0
    assert keeping.render(views).any()


@pytest.mark.parametrize("size", [64, 128])
def test_each_flat_shows_what_lies_on_each_surface(size: int) -> None:
    for macro, variant in product(range(5), (0, 9)):
        layout = generate(macro, variant)
        for index in OPEN_AIR:
            plain = empty(layout, RECEPTACLE_NAMES[index])
            low, high = placing_box(layout, index)
            for corner in product((low[0], high[0]), (low[1], high[1])):
                place = (*corner, low[2] + REST_HEIGHT)
                seen = changed(plain, with_objects(plain, ["apple"], place), size)
                # An apple takes up about (0.19 x 0.2 m at 1.2 m) 25 of 64 x 64 pixels.
                assert seen.sum() > 10 * (size / 64) ** 2, (macro, variant, RECEPTACLE_NAMES[index])


def test_an_open_fridge_is_seen_from_before_it_and_not_from_elsewhere() -> None:
    layout = generate(0, 0)
    there = changed(empty(layout, "fridge"), empty(layout, "fridge", FRIDGE_OPEN))
    assert there.mean() > 0.2
    assert not changed(empty(layout, "sofa"), empty(layout, "sofa", FRIDGE_OPEN)).any()


@pytest.mark.parametrize("handle", range(4))
def test_an_open_drawer_looks_different(handle: int) -> None:
    layout = generate(3, 1)
    joints = tuple(0.45 if index == handle else 0.0 for index in range(5))
    name = ENTITIES[len(RECEPTACLE_NAMES) + handle]
    assert changed(empty(layout, name), empty(layout, name, joints)).mean() > 0.03  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("receptacle", "joints"),
    [
        ("left_drawer", (0.45, 0.0, 0.0, 0.0, 0.0)),
        ("right_drawer", (0.0, 0.0, 0.45, 0.0, 0.0)),
        ("fridge", FRIDGE_OPEN),
    ],
)
def test_what_is_put_away_is_seen_only_when_open(receptacle: str, joints: Joints) -> None:
    layout = generate(2, 2)
    place = drop(layout, RECEPTACLE_NAMES.index(receptacle), np.random.default_rng(0))
    for state, seen in ((CLOSED, False), (joints, True)):
        plain = empty(layout, receptacle, state)
        # An airplane is higher than a drawer.
        for name in ("apple", "toy_airplane"):
            difference = changed(plain, with_objects(plain, [name], place))
            assert (difference.sum() > 10) if seen else not difference.any()


def test_what_is_held_is_seen_in_the_gripper_and_nowhere_else() -> None:
    layout = generate(0, 3)
    plain = empty(layout, "brown_table")
    place = drop(layout, RECEPTACLE_NAMES.index("brown_table"), np.random.default_rng(0))
    lying = changed(plain, with_objects(plain, ["apple"], place))
    held = changed(plain, with_objects(plain, ["apple"], place, held=0))
    assert held[44:].any()
    assert not held[:44].any()
    assert lying[:44].any()
    apple, book = (
        render([with_objects(plain, [name], place, held=0)], 64) for name in ("apple", "book")
    )
    assert (apple != book).any()


def test_the_near_hides_the_far() -> None:
    layout = generate(0, 0)
    plain = empty(layout, "black_table")
    x, y, heading = plain.pose
    ahead = np.array([math.cos(heading), math.sin(heading)])
    near, far = ((*((x, y) + ahead * at), 0.8) for at in (0.8, 1.0))
    box, both, turned = (
        render([with_objects(plain, names, places)], 64)[0]
        for names, places in (
            (["box"], near), (["box", "plum"], (near, far)), (["plum", "box"], (far, near)),
        )
    )  # fmt: skip
    assert (both == turned).all()
    behind = (both != box).any(-1)
    assert behind.sum() < changed(plain, with_objects(plain, ["plum"], far)).sum()
    wall = with_objects(plain, ["plum"], (*((x, y) + ahead * 30), 0.8))
    assert not changed(plain, wall).any()


def test_every_instance_has_a_colour_and_a_look_of_its_own() -> None:
    assert set(SHAPES) == set(COLOURS) == set(CATEGORIES)
    for category, name in enumerate(CATEGORIES):
        assert len(COLOURS[name]) == INSTANCES[name], name
        looks = {master(category, instance)[0].tobytes() for instance in range(INSTANCES[name])}
        assert len(looks) == INSTANCES[name]


@pytest.mark.parametrize("side", [9, 18])
def test_categories_are_told_apart_in_few_pixels(side: int) -> None:
    """In a frame of 0.36 m that is as many pixels high as at about 0.7 m in 64 and 128 pixels."""
    scale = side / 0.36
    looks = []
    for category, name in enumerate(CATEGORIES):
        width, height = (max(1, round(length * scale)) for length in SHAPES[name][:2])
        picture = np.zeros((side, side, 4), int)
        left = (side - width) // 2
        picture[side - height :, left : left + width] = sprite(category, 0, width, height)
        picture[..., :3] *= picture[..., 3:]
        looks.append(picture)
    for one, other in combinations(range(len(CATEGORIES)), 2):
        apart = np.abs(looks[one][..., :3] - looks[other][..., :3]).sum(-1) > 60
        union = (looks[one][..., 3] | looks[other][..., 3]).sum()
        assert apart.sum() > 0.3 * union, (CATEGORIES[one], CATEGORIES[other])


def test_an_atlas_grows_and_forgets() -> None:
    atlas = Atlas(kept_bytes=1000)
    wanted = [(category, 0, 20 + category, 30) for category in range(33)] + [(0, 0, 400, 400)]
    starts = [atlas.start(*key) for key in wanted]
    for key, start in zip(wanted, starts, strict=True):
        kept = atlas.pixels[start : start + key[2] * key[3]]
        assert (kept == sprite(*key).reshape(-1, 4)).all()
    assert atlas.start(*wanted[5]) == starts[5]
    atlas.make_room()
    assert atlas.start(*wanted[5]) == 0


@pytest.mark.parametrize(("category", "instance"), [(33, 0), (-1, 0), (0, 5), (17, 1)])
def test_no_such_object(category: int, instance: int) -> None:
    with pytest.raises(ValueError, match="There is no"):
        master(category, instance)


def test_too_small_to_see() -> None:
    with pytest.raises(ValueError, match="15 pixels"):
        Renderer(15)


def test_known_places_are_drawn_quickly() -> None:
    """At least 5,000 pictures of 64 x 64 a second of CPU time; it is about ten times that."""
    views = [filled(generate(0, n), n) for n in range(21)]
    renderer = Renderer(64)
    renderer.render(views)
    start = time.process_time()
    for _ in range(10):
        renderer.render(views)
    assert 10 * len(views) / (time.process_time() - start) > 5000
