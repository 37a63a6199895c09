"""Casts rays at the boxes of a flat: what a pose sees of it without objects, and how far away.

The camera looks level, with a field of view of 90 degrees both ways, and its picture is taken off
centre: the horizon lies above the middle, so that tables and the near floor are in view while
upright edges stay upright. So what a ray meets sideways depends on its column alone and up or down
on its row alone, and only their meeting is looked at for every pixel.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.compiled import compiled
from engine.worlds.rearrange.geometry import Floats
from engine.worlds.rearrange.scene import Scene

CAMERA_HEIGHT: Final = 1.4
"""In metres."""
HORIZON: Final = 0.3
"""Share of the picture above the horizon."""
_CEILING: Final = 2.5
_ACROSS_X: Final = 0.84
_ACROSS_Y: Final = 0.7
"""Brightness of faces across x and across y; that of faces seen from above is 1."""
_CEILING_COLOUR: Final = (246, 246, 242)


def cast(
    scene: Scene, pose: tuple[float, float, float], size: int
) -> tuple[NDArray[np.uint8], Floats]:
    """The picture (size, size, 3) and the distance ahead of what each pixel shows (size, size)."""
    x, y, heading = pose
    columns = (np.arange(size, dtype=np.float32) + 0.5) / size * 2 - 1
    cos, sin = math.cos(heading), math.sin(heading)
    ray_x, ray_y = _off_zero(cos + columns * sin), _off_zero(sin - columns * cos)
    ray_z = _off_zero(2 * HORIZON - (columns + 1))
    width, depth = scene.size
    picture = np.empty((size, size, 3), np.uint8)
    colours = np.empty((size, size, 3), np.float32)
    distance = np.empty((size, size), np.float32)
    _cast_room(width, depth, scene.walls, scene.floor, x, y, ray_x, ray_y, ray_z, colours, distance)
    _cast_boxes(scene.boxes, scene.sides, scene.tops, x, y, ray_x, ray_y, ray_z, colours, distance)
    _finish(colours, distance, picture)
    return picture, distance


@compiled
def _cast_room(
    width: float,
    length: float,
    walls: Floats,
    floor: Floats,
    x: float,
    y: float,
    ray_x: Floats,
    ray_y: Floats,
    ray_z: Floats,
    colours: Floats,
    distance: Floats,
) -> None:
    """Outer walls, floor with its boards, and ceiling."""
    for column in range(ray_x.size):
        to_x = ((width if ray_x[column] > 0 else 0.0) - x) / ray_x[column]
        to_y = ((length if ray_y[column] > 0 else 0.0) - y) / ray_y[column]
        wall = min(to_x, to_y)
        facing_x, facing_y = 0 if ray_x[column] > 0 else 2, 1 if ray_y[column] > 0 else 3
        which = facing_x if to_x < to_y else facing_y
        for row in range(ray_z.size):
            down = ray_z[row] < 0
            level = (-CAMERA_HEIGHT if down else _CEILING - CAMERA_HEIGHT) / ray_z[row]
            distance[row, column] = min(wall, level)
            if level >= wall:
                skirting = CAMERA_HEIGHT + wall * ray_z[row] < 0.1
                for channel in range(3):
                    colours[row, column, channel] = walls[which, channel] * (
                        0.6 if skirting else 1.0
                    )
            elif down:
                board = math.floor((x + level * ray_x[column]) / 0.5)
                board += math.floor((y + level * ray_y[column]) / 1.5)
                for channel in range(3):
                    colours[row, column, channel] = floor[channel] * (1.0 - 0.06 * (board % 2))
            else:
                for channel in range(3):
                    colours[row, column, channel] = _CEILING_COLOUR[channel]


@compiled
def _cast_boxes(
    boxes: Floats,
    sides: Floats,
    tops: Floats,
    x: float,
    y: float,
    ray_x: Floats,
    ray_y: Floats,
    ray_z: Floats,
    colours: Floats,
    distance: Floats,
) -> None:
    """Whatever of each box is nearer than what is drawn already."""
    for index in range(len(boxes)):
        low, high = boxes[index, 0], boxes[index, 1]
        for column in range(ray_x.size):
            this, that = (low[0] - x) / ray_x[column], (high[0] - x) / ray_x[column]
            from_x, to_x = min(this, that), max(this, that)
            this, that = (low[1] - y) / ray_y[column], (high[1] - y) / ray_y[column]
            from_y, to_y = min(this, that), max(this, that)
            near, far = max(from_x, from_y), min(to_x, to_y)
            if near > far or far <= 0:
                continue
            shade = _ACROSS_X if from_x >= from_y else _ACROSS_Y
            for row in range(ray_z.size):
                this = (low[2] - CAMERA_HEIGHT) / ray_z[row]
                that = (high[2] - CAMERA_HEIGHT) / ray_z[row]
                from_z, to_z = min(this, that), max(this, that)
                start = max(near, from_z)
                if start <= 0 or start > min(far, to_z) or start >= distance[row, column]:
                    continue
                distance[row, column] = start
                for channel in range(3):
                    if from_z > near:
                        colours[row, column, channel] = tops[index, channel]
                    else:
                        colours[row, column, channel] = sides[index, channel] * shade


@compiled
def _finish(colours: Floats, distance: Floats, picture: NDArray[np.uint8]) -> None:
    """Darken what is far."""
    for row in range(distance.shape[0]):
        for column in range(distance.shape[1]):
            light = min(1.0, max(0.7, 1.06 - 0.035 * distance[row, column]))
            for channel in range(3):
                picture[row, column, channel] = min(255.0, colours[row, column, channel] * light)


def _off_zero(values: NDArray[np.floating]) -> Floats:
    return np.where(np.abs(values) < 1e-6, 1e-6, values).astype(np.float32)
