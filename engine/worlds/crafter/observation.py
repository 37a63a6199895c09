"""The observation: a vector of what the player sees and remembers, and what each number means.

Every number lies in -1..1. The parts in order (`observation_names()` has one name for each index):

- view: 9 x 7 cells, column by column, each a one-hot of the material (13: 0 is outside the map)
  and of the creature on it (9: arrows by the direction they fly in);
- front: the faced cell, one-hot of the material (13) and of the creature (6);
- inventory: 16 counts divided by 9;
- body: facing (2), sleeping, enclosed, near a table, near a furnace;
- time: daylight, share of the episode that is over, sine and cosine of the time of day;
- position: x and y, -1..1 over the map;
- unlocked: 22 achievements;
- memory: for each of the remembered `TARGETS` whether one is known and reachable, closeness
  8 / (8 + path distance in frames), offset / 16 (2), direction of the first step to it (2).
"""

from __future__ import annotations

import functools
import math
from typing import Final

import numpy as np

from engine.worlds.base import Observation
from engine.worlds.crafter import codes, moves
from engine.worlds.crafter.codes import CREATURES, ITEMS, MATERIALS, VIEW_HEIGHT, VIEW_WIDTH
from engine.worlds.crafter.data import DAY_FRAMES, crafter_data
from engine.worlds.crafter.memory import Cell, MapMemory
from engine.worlds.crafter.navigation import FAR

TARGETS: Final = (
    "tree", "stone", "coal", "iron", "diamond", "water", "table", "furnace", "cow", "threat",
)  # fmt: skip
_VIEW_CREATURES: Final = (
    "cow", "zombie", "skeleton", "plant", "ripe_plant", "arrow_left", "arrow_right", "arrow_up",
    "arrow_down",
)  # fmt: skip
_VIEW_CHANNEL: Final = {
    codes.CREATURE_CODE[name]: len(MATERIALS) + index
    for index, name in enumerate(_VIEW_CREATURES)
    if name in codes.CREATURE_CODE
}
_ARROW_CHANNEL: Final = {
    direction: len(MATERIALS) + 5 + index for index, direction in enumerate(codes.DIRECTIONS)
}
_CHANNELS: Final = len(MATERIALS) + len(_VIEW_CREATURES)
_VIEW_SIZE: Final = VIEW_WIDTH * VIEW_HEIGHT * _CHANNELS
_FRONT_SIZE: Final = len(MATERIALS) + len(CREATURES) - 1
_COLUMNS: Final = np.arange(VIEW_WIDTH * VIEW_HEIGHT) * _CHANNELS
_FEATURES: Final = ("known", "closeness", "dx", "dy", "step_dx", "step_dy")
_BODY: Final = ("facing_dx", "facing_dy", "sleeping", "enclosed", "near_table", "near_furnace")
_TIME: Final = ("daylight", "episode", "day_sin", "day_cos", "x", "y")


@functools.cache
def observation_names() -> tuple[str, ...]:
    """One name for each index of the observation."""
    cell = (*(f"is_{name}" for name in ("edge", *MATERIALS[1:])), *_VIEW_CREATURES)
    return (
        *(
            f"view[{x - codes.REACH_X:+d},{y - codes.REACH_Y:+d}].{name}"
            for x in range(VIEW_WIDTH)
            for y in range(VIEW_HEIGHT)
            for name in cell
        ),
        *(f"front.is_{name}" for name in ("edge", *MATERIALS[1:])),
        *(f"front.{name}" for name in CREATURES[1:]),
        *(f"inventory.{name}" for name in ITEMS),
        *_BODY,
        *_TIME,
        *(f"unlocked.{name}" for name in crafter_data().achievements),
        *(f"{target}.{feature}" for target in TARGETS for feature in _FEATURES),
    )


def observe(memory: MapMemory, length: int) -> Observation:
    """The observation of what the player knows now, in an episode of `length` frames."""
    out = np.zeros(len(observation_names()), np.float32)
    _fill_view(memory, out[:_VIEW_SIZE])
    rest = [
        *_front(memory),
        *(amount / codes.MOST for amount in memory.inventory),
        *memory.facing,
        memory.sleeping,
        memory.enclosed,
        memory.near(codes.TABLE),
        memory.near(codes.FURNACE),
        memory.daylight,
        min(memory.frames / length, 1.0),
        math.sin(2 * math.pi * memory.frames / DAY_FRAMES),
        math.cos(2 * math.pi * memory.frames / DAY_FRAMES),
        memory.position[0] / 31.5 - 1,
        memory.position[1] / 31.5 - 1,
        *(name in memory.unlocked for name in crafter_data().achievements),
    ]
    for target in TARGETS:
        rest += _threat(memory) if target == "threat" else _target(memory, target)
    out[_VIEW_SIZE:] = rest
    return out


def _fill_view(memory: MapMemory, out: Observation) -> None:
    out[_COLUMNS + memory.view.ravel()] = 1
    for seen in memory.in_view:
        dx = seen.x - memory.position[0] + codes.REACH_X
        dy = seen.y - memory.position[1] + codes.REACH_Y
        if seen.kind == codes.ARROW:
            channel = _ARROW_CHANNEL[seen.heading]
        else:
            channel = _VIEW_CHANNEL[seen.kind]
        out[(dx * VIEW_HEIGHT + dy) * _CHANNELS + channel] = 1


def _front(memory: MapMemory) -> list[float]:
    values = [0.0] * _FRONT_SIZE
    values[max(memory.material(memory.front), 0)] = 1.0
    creature = memory.creature(memory.front)
    if creature:
        values[len(MATERIALS) + creature - 1] = 1.0
    return values


def _target(memory: MapMemory, target: str) -> list[float]:
    """Features of the nearest remembered thing of a kind."""
    paths = memory.paths
    if target == "cow":
        found = moves.nearest_creature(memory, codes.COW)
        if found is None:
            return [0.0] * len(_FEATURES)
        cell, stand = found
    else:
        cost, x, y, stand_x, stand_y = paths.nearest[codes.MATERIAL_CODE[target]].tolist()
        if cost >= FAR:
            return [0.0] * len(_FEATURES)
        cell, stand = (x, y), (stand_x, stand_y)
    offset = (cell[0] - memory.position[0], cell[1] - memory.position[1])
    step = offset if stand == memory.position else paths.first_step(stand)
    return _features(offset, int(paths.frames[stand]), step or (0, 0))


def _threat(memory: MapMemory) -> list[float]:
    """Features of the nearest creature in view that can hurt; it is approached in a line."""
    offsets = [
        (seen.x - memory.position[0], seen.y - memory.position[1])
        for seen in memory.in_view
        if seen.kind in (codes.ZOMBIE, codes.SKELETON, codes.ARROW)
    ]
    if not offsets:
        return [0.0] * len(_FEATURES)
    dx, dy = min(offsets, key=lambda offset: abs(offset[0]) + abs(offset[1]))
    step = (int(np.sign(dx)), 0) if abs(dx) > abs(dy) else (0, int(np.sign(dy)))
    return _features((dx, dy), abs(dx) + abs(dy), step)


def _features(offset: Cell, distance: int, step: Cell) -> list[float]:
    dx, dy = (max(-1.0, min(1.0, part / 16)) for part in offset)
    return [1.0, 8 / (8 + distance), dx, dy, float(step[0]), float(step[1])]
