"""What the robot sees: its flat, the objects in it, and what it holds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.compiled import compiled
from engine.worlds.rearrange.geometry import Floats
from engine.worlds.rearrange.layout import REST_HEIGHT, Layout
from engine.worlds.rearrange.names import FRIDGE_HANDLE
from engine.worlds.rearrange.raycast import CAMERA_HEIGHT, HORIZON, cast
from engine.worlds.rearrange.scene import AJAR, Joints, scene
from engine.worlds.rearrange.sprites import SIZES, Atlas

Pixels = NDArray[np.uint8]
Ints = NDArray[np.integer]

_NEAREST: Final = 0.2
"""Objects nearer than this ahead are not drawn, in metres."""
_SLACK: Final = 0.03
"""An object is hidden by what is nearer than itself by this, in metres."""
_HELD_AT: Final = 0.62
"""Distance at which what is held looks as large as it does, in metres."""
_FINGER: Final = (92, 98, 110)
_KEPT_BYTES: Final = 96 << 20


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What is to be drawn for one robot."""

    layout: Layout
    pose: tuple[float, float, float]
    """x, y, heading."""
    joints: Joints
    categories: Ints
    """Of each object, shape (n,)."""
    instances: Ints
    """Which of its category each object is, shape (n,)."""
    positions: Floats
    """Centres of the objects, shape (n, 3)."""
    held: int = -1
    """Index of the object in the gripper, or -1."""


class Renderer:
    """Draws pictures of one size; keeps what poses see of flats without objects."""

    def __init__(self, size: int, kept_bytes: int = _KEPT_BYTES) -> None:
        """Raise `ValueError` if the size is too small to show anything."""
        if size < 16:
            raise ValueError(f"A picture of {size!r} pixels a side shows nothing: take 16 or more.")
        self.size = size
        self._kept_bytes = kept_bytes
        self._atlas = Atlas()
        self._finger = max(2, size // 24)
        self._bytes = 0
        self._rooms: OrderedDict[tuple[object, ...], tuple[Pixels, Floats]] = OrderedDict()

    def render(self, views: Sequence[View]) -> Pixels:
        """Pictures of all views, shape (n, size, size, 3)."""
        frames = np.empty((len(views), self.size, self.size, 3), np.uint8)
        depths = np.empty((len(views), self.size, self.size), np.float32)
        for index, view in enumerate(views):
            frames[index], depths[index] = self._room(view)
        if any(len(view.categories) for view in views):
            self._atlas.make_room()
            drawn, ahead = _in_view(views, self.size, self._atlas)
            held = [(n, *self._held(view)) for n, view in enumerate(views) if view.held >= 0]
            if held:
                drawn = np.concatenate([drawn, np.array(held)])
                ahead = np.concatenate([ahead, np.zeros(len(held), np.float32)])
            _draw(frames, depths, drawn, ahead, self._atlas.pixels)
            for index, _, left, _, width, _ in held:
                self._draw_gripper(frames[index], left, left + width)
        return frames

    def _room(self, view: View) -> tuple[Pixels, Floats]:
        layout, joints = view.layout, view.joints
        key = (layout.macro, layout.variant, *map(float, view.pose), *map(float, joints))
        kept = self._rooms.get(key)
        if kept is not None:
            self._rooms.move_to_end(key)
            return kept
        kept = cast(scene(layout, joints), view.pose, self.size)
        self._rooms[key] = kept
        self._bytes += kept[0].nbytes + kept[1].nbytes
        while self._bytes > self._kept_bytes and len(self._rooms) > 1:
            _, old = self._rooms.popitem(last=False)
            self._bytes -= old[0].nbytes + old[1].nbytes
        return kept

    def _held(self, view: View) -> tuple[int, int, int, int, int]:
        """Where the held object is drawn, below in the middle: sprite's start, left, top, width and
        height.
        """
        category, instance = int(view.categories[view.held]), int(view.instances[view.held])
        width, height = (
            max(2, round(length * self.size / 2 / _HELD_AT)) for length in SIZES[category].tolist()
        )
        start = self._atlas.start(category, instance, width, height)
        return start, (self.size - width) // 2, self.size - self._finger - height, width, height

    def _draw_gripper(self, frame: Pixels, left: int, right: int) -> None:
        """Two fingers, and what they are fixed to, around what is held."""
        finger, bottom = self._finger, self.size - self._finger
        frame[bottom:, left - finger : right + finger] = _FINGER
        for side in (left - finger, right):
            frame[bottom - 2 * finger : bottom, side : side + finger] = _FINGER


def render(views: Sequence[View], size: int) -> Pixels:
    """Pictures of all views, shape (n, size, size, 3); use a `Renderer` to draw many times."""
    return Renderer(size).render(views)


def _in_view(views: Sequence[View], size: int, atlas: Atlas) -> tuple[Ints, Floats]:
    """Objects that are before a camera, far ones first: view, sprite's start, left, top, width and
    height, shape (n, 6), and distances ahead, shape (n,).
    """
    counts = [len(view.categories) for view in views]
    owner = np.repeat(np.arange(len(views)), counts)
    poses = np.array([view.pose for view in views], np.float32)
    positions, shown = _shown(views, counts, owner)
    categories = np.concatenate([view.categories for view in views])
    instances = np.concatenate([view.instances for view in views])
    cos, sin = np.cos(poses[:, 2])[owner], np.sin(poses[:, 2])[owner]
    dx, dy = positions[:, 0] - poses[owner, 0], positions[:, 1] - poses[owner, 1]
    ahead, right = dx * cos + dy * sin, dx * sin - dy * cos
    seen = np.flatnonzero(shown & (ahead > _NEAREST) & (np.abs(right) < ahead + 0.2))
    seen = seen[np.lexsort((-ahead[seen], owner[seen]))]
    ahead = ahead[seen]
    scale = size / 2 / ahead
    foot = positions[seen, 2] - REST_HEIGHT
    drawn = np.empty((len(seen), 6), np.int64)
    extent = np.maximum(np.rint(SIZES[categories[seen]] * scale[:, None]), 1)
    drawn[:, 0] = owner[seen]
    drawn[:, 2] = np.rint(right[seen] * scale + size / 2 - extent[:, 0] / 2)
    drawn[:, 3] = np.rint((CAMERA_HEIGHT - foot) * scale + size * HORIZON) - extent[:, 1]
    drawn[:, 4:] = extent
    keys = zip(
        categories[seen].tolist(), instances[seen].tolist(), *drawn[:, 4:].T.tolist(), strict=True
    )
    drawn[:, 1] = [atlas.start(*key) for key in keys]
    return drawn, ahead


def _shown(
    views: Sequence[View], counts: list[int], owner: Ints
) -> tuple[Floats, NDArray[np.bool_]]:
    """Where each object is drawn, and whether: not in what is shut, nor on its place when held.

    What lies in a drawer comes out with it.
    """
    positions = np.concatenate([view.positions for view in views])
    boxes = np.stack([view.layout.insides for view in views])[owner]
    points = positions[:, None]
    inside = ((points >= boxes[:, :, 0]) & (points <= boxes[:, :, 1])).all(2)
    shown = np.ones(len(positions), np.bool_)
    first = 0
    for view, count in zip(views, counts, strict=True):
        if view.held >= 0:
            shown[first + view.held] = False
        first += count
    for index, handle in np.argwhere(inside):
        view = views[owner[index]]
        joint = view.joints[handle]
        if joint <= AJAR:
            shown[index] = False
        elif handle != FRIDGE_HANDLE:
            heading = float(view.layout.stands[len(view.layout.surfaces) + handle, 2])
            positions[index, :2] -= np.array([np.cos(heading), np.sin(heading)]) * joint
    return positions, shown


@compiled
def _draw(frames: Pixels, depths: Floats, drawn: Ints, ahead: Floats, atlas: Pixels) -> None:
    """Objects in their order, where nothing nearer of the flat hides them."""
    size = frames.shape[1]
    for index in range(len(drawn)):
        owner, start, left, top, width, height = drawn[index]
        nearest = ahead[index] - _SLACK
        for y in range(max(top, 0), min(top + height, size)):
            for x in range(max(left, 0), min(left + width, size)):
                pixel = start + (y - top) * width + x - left
                if atlas[pixel, 3] and depths[owner, y, x] > nearest:
                    for channel in range(3):
                        frames[owner, y, x, channel] = atlas[pixel, channel]
