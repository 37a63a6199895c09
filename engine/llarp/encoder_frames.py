"""Frames of flats with what is seen in them: what the small visual encoder is trained on.

The simulator knows what it draws. An object is seen where the picture changes when the object is
taken away; furniture is seen where what a pixel shows lies on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.compiled import compiled
from engine.worlds.rearrange.geometry import Floats
from engine.worlds.rearrange.layout import OPEN_AIR, Layout, drop, generate, spots, start_pose
from engine.worlds.rearrange.names import (
    CATEGORIES,
    ENTITIES,
    FRIDGE_HANDLE,
    HANDLES,
    INSTANCES,
    RECEPTACLE_NAMES,
    RECEPTACLES,
)
from engine.worlds.rearrange.pieces import DRAWER_RECEPTACLES
from engine.worlds.rearrange.plans import VARIANTS
from engine.worlds.rearrange.raycast import CAMERA_HEIGHT, HORIZON, cast
from engine.worlds.rearrange.render import Renderer, View
from engine.worlds.rearrange.scene import scene

COLUMNS: Final = 3
"""Left, middle and right third of a picture."""
CELLS: Final = 8
"""Rows and columns of a finer grid."""
LEAST_PIXELS: Final = 2.4e-3
"""Share of the picture that an object has to fill to count as seen: 10 pixels at 64 by 64."""
_LEAST_FURNITURE: Final = 8e-3
_ON: Final = 0.07
"""A pixel shows furniture if what it shows is no farther from it than this, in metres."""
_FAR: Final = 6.0
"""Objects farther ahead than this are too small to count, in metres."""
_POSES: Final = 6
"""Frames of one flat before it is furnished anew."""
_AT_STAND: Final = 0.75
"""Share of frames from where `nav` leads; the others are from anywhere."""
_STANDS: Final = (*range(len(ENTITIES)), *OPEN_AIR)
"""Of these: where most objects lie, twice as often as elsewhere."""
_HOLDING: Final = 0.4
_OPEN: Final = 0.3
_PUT_AWAY: Final = 0.15
"""Share of objects where no episode begins with any: in drawers, in the fridge, on the chair."""

Pixels = NDArray[np.uint8]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Frames:
    """n pictures and what is seen in each."""

    pictures: NDArray[np.uint8]
    """(n, size, size, 3)."""
    categories: Bools
    """Seen left, in the middle, right: (n, 33, 3)."""
    cells: Bools
    """The same in a grid of cells, by where the middle of what is seen lies: (n, 33, 8, 8)."""
    receptacles: Bools
    """(n, 11, 3)."""
    held: NDArray[np.int64]
    """Category of what is in the gripper, 33 for nothing: (n,)."""
    handles: Bools
    """Seen closed, seen open: (n, 5, 2)."""

    def __len__(self) -> int:
        return len(self.pictures)


class FrameSource:
    """Draws frames of some arrangements of flats, in random states that can come about."""

    def __init__(self, macros: Sequence[int], size: int = 64) -> None:
        """Draw frames of `size` pixels a side of flats with these arrangements."""
        self.macros = tuple(macros)
        self.size = size
        self._renderer = Renderer(size, kept_bytes=8 << 20)

    def draw(self, count: int, rng: np.random.Generator) -> Frames:
        """`count` frames; the same ones for the same state of `rng`."""
        views: list[View] = []
        while len(views) < count:
            views += self._flat(rng)
        seen = [self._seen(view) for view in views[:count]]
        return Frames(*(np.stack(parts) for parts in zip(*seen, strict=True)))

    def _seen(self, view: View) -> tuple[NDArray[Any], ...]:
        """What one frame is and shows, in the order of `Frames`."""
        parts = self._furniture(view)
        receptacles, handles = parts[: len(RECEPTACLES)], parts[len(RECEPTACLES) :].sum(1)
        held = len(CATEGORIES) if view.held < 0 else int(view.categories[view.held])
        opened = [
            joint > handle.open_above for joint, handle in zip(view.joints, HANDLES, strict=True)
        ]
        seen = np.zeros((len(HANDLES), 2), np.bool_)
        seen[np.arange(len(HANDLES)), np.array(opened, int)] = handles >= _LEAST_FURNITURE
        return (*self._objects(view), receptacles >= _LEAST_FURNITURE, np.array(held), seen)

    def _flat(self, rng: np.random.Generator) -> list[View]:
        """One flat with its objects, from several poses, with other joints and another load."""
        layout = generate(int(rng.choice(self.macros)), int(rng.integers(VARIANTS)))
        categories, instances, positions = _scattered(layout, rng)
        views = []
        for _ in range(_POSES):
            x, y, heading = layout.stands[rng.choice(_STANDS)].tolist()
            if rng.random() > _AT_STAND:
                x, y, heading = start_pose(layout, rng)
            opened = rng.random(len(HANDLES)) < _OPEN
            joints = [
                handle.opened * bool(is_open)
                for handle, is_open in zip(HANDLES, opened, strict=True)
            ]
            views.append(
                View(
                    layout=layout,
                    pose=(x, y, heading),
                    joints=(joints[0], joints[1], joints[2], joints[3], joints[4]),
                    categories=categories,
                    instances=instances,
                    positions=positions,
                    held=int(rng.integers(len(categories))) if rng.random() < _HOLDING else -1,
                )
            )
        return views

    def _objects(self, view: View) -> tuple[Pixels, Bools, Bools]:
        """The picture, and where each category is seen in it: by taking its objects away."""
        thirds = np.zeros((len(CATEGORIES), COLUMNS), np.bool_)
        cells = np.zeros((len(CATEGORIES), CELLS, CELLS), np.bool_)
        free = view if view.held < 0 else _without(view, view.held)
        x, y, heading = view.pose
        dx, dy = free.positions[:, 0] - x, free.positions[:, 1] - y
        ahead = dx * math.cos(heading) + dy * math.sin(heading)
        right = dx * math.sin(heading) - dy * math.cos(heading)
        some = np.flatnonzero((ahead > 0) & (ahead < _FAR) & (np.abs(right) < ahead + 0.5))
        picture, whole, *others = self._renderer.render(
            [view, free, *(_without(free, index) for index in some.tolist())]
        )
        if not len(some):
            return picture, thirds, cells
        covered = _differ(picture, whole)  # by what is held
        changed = _differ(np.stack(others), whole) & ~covered
        pixels = changed.sum((1, 2))
        enough = pixels >= LEAST_PIXELS * self.size**2
        changed, pixels, seen = changed[enough], pixels[enough], free.categories[some[enough]]
        along = (np.arange(self.size) + 0.5) / self.size
        across, down = (changed.sum(axis) @ along / pixels for axis in (1, 2))
        thirds[seen, (across * COLUMNS).astype(int)] = True
        cells[seen, (down * CELLS).astype(int), (across * CELLS).astype(int)] = True
        return picture, thirds, cells

    def _furniture(self, view: View) -> Floats:
        """Share of the picture that each receptacle and what each handle opens fill, by thirds.

        Objects before them are not taken off. Shape (16, 3).
        """
        _, distance = cast(scene(view.layout, view.joints), view.pose, self.size)
        boxes, owners = _boxes(view)
        filled = np.zeros((len(ENTITIES), COLUMNS), np.int64)
        _fill(distance, view.pose, (CAMERA_HEIGHT, HORIZON), boxes, owners, filled)
        return (filled * 4 / self.size**2).astype(np.float32)


def _scattered(
    layout: Layout, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """One object of each category and some more: categories, instances and positions."""
    more = rng.integers(len(CATEGORIES), size=int(rng.integers(0, 41)))
    categories = np.concatenate([rng.permutation(len(CATEGORIES)), more])
    instances = np.array([rng.integers(INSTANCES[CATEGORIES[index]]) for index in categories])
    places = rng.choice(OPEN_AIR, len(categories))
    positions = np.empty((len(categories), 3), np.float32)
    for place in set(places.tolist()):
        on = np.flatnonzero(places == place)
        positions[on] = spots(layout, place, len(on), rng)
    hidden = [index for index in range(len(RECEPTACLES)) if index not in OPEN_AIR]
    for index in np.flatnonzero(rng.random(len(categories)) < _PUT_AWAY):
        positions[index] = drop(layout, int(rng.choice(hidden)), rng)
    return categories, instances, positions


def _without(view: View, index: int) -> View:
    return View(
        view.layout,
        view.pose,
        view.joints,
        np.delete(view.categories, index),
        np.delete(view.instances, index),
        np.delete(view.positions, index, 0),
    )


def _differ(pictures: Pixels, other: Pixels) -> Bools:
    off = pictures != other
    differs: Bools = off[..., 0] | off[..., 1] | off[..., 2]
    return differs


def _boxes(view: View) -> tuple[Floats, NDArray[np.int64]]:
    """What is looked for in a picture: boxes (n, 2, 3) and whose they are, in their order (n,)."""
    layout = view.layout
    found: dict[int, list[Floats]] = {index: [] for index in range(len(ENTITIES))}
    for box, kind in zip(layout.solids, layout.solid_kinds.tolist(), strict=True):
        if kind >= 0:
            found[kind].append(box)
    for handle, joint in enumerate(view.joints):
        box = layout.insides[handle].copy()
        if handle != FRIDGE_HANDLE:  # a drawer that is out
            heading = float(layout.stands[len(RECEPTACLES) + handle, 2])
            out = joint * np.array([math.cos(heading), math.sin(heading), 0.0], np.float32)
            box = np.stack([np.minimum(box[0], box[0] - out), np.maximum(box[1], box[1] - out)])
        found[len(RECEPTACLES) + handle].append(box)
    for name, handle in DRAWER_RECEPTACLES.items():
        found[RECEPTACLE_NAMES.index(name)] = found[len(RECEPTACLES) + handle]
    boxes = np.stack([box for part in found.values() for box in part])
    boxes[:, 0] -= _ON
    boxes[:, 1] += _ON
    return boxes, np.repeat(np.arange(len(ENTITIES)), [len(part) for part in found.values()])


@compiled
def _fill(
    distance: Floats,
    pose: tuple[float, float, float],
    camera: tuple[float, float],
    boxes: Floats,
    owners: NDArray[np.int64],
    filled: NDArray[np.int64],
) -> None:
    """Count every second pixel that shows something in a box of each owner into `filled`."""
    size = distance.shape[0]
    x, y, heading = pose
    height, horizon = camera
    cos, sin = math.cos(heading), math.sin(heading)
    for row in range(1, size, 2):
        slope = 2 * horizon - (row + 0.5) / size * 2
        for column in range(1, size, 2):
            far = distance[row, column]
            across = (column + 0.5) / size * 2 - 1
            px, py = x + far * (cos + across * sin), y + far * (sin - across * cos)
            pz = height + far * slope
            last = -1
            for index in range(len(boxes)):
                if (
                    boxes[index, 0, 0] <= px <= boxes[index, 1, 0]
                    and boxes[index, 0, 1] <= py <= boxes[index, 1, 1]
                    and boxes[index, 0, 2] <= pz <= boxes[index, 1, 2]
                    and owners[index] != last
                ):
                    last = owners[index]
                    filled[last, column * COLUMNS // size] += 1
