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
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import Observation
from engine.worlds.crafter import codes
from engine.worlds.crafter.codes import (
    ACHIEVEMENTS,
    ARROW,
    COAL,
    COW,
    CREATURES,
    DIAMOND,
    FURNACE,
    IRON,
    ITEMS,
    MATERIALS,
    MOST,
    REACH_X,
    REACH_Y,
    SIZE,
    SKELETON,
    STONE,
    TABLE,
    TREE,
    VIEW_HEIGHT,
    VIEW_WIDTH,
    WATER,
    ZOMBIE,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.data import DAY_FRAMES, crafter_data
from engine.worlds.crafter.navigation import (
    FAR,
    find_ways,
    first_direction,
    nearest_creature,
    nearest_material,
)
from engine.worlds.crafter.rooms import is_enclosed
from engine.worlds.crafter.rows import (
    Record,
    Rows,
    creature_at,
    inside,
    is_near,
    material_at,
    step_x,
    step_y,
)

TARGETS: Final = (
    "tree", "stone", "coal", "iron", "diamond", "water", "table", "furnace", "cow", "threat",
)  # fmt: skip
_VIEW_CREATURES: Final = (
    "cow", "zombie", "skeleton", "plant", "ripe_plant", "arrow_left", "arrow_right", "arrow_up",
    "arrow_down",
)  # fmt: skip
_TARGET_MATERIALS: Final = (TREE, STONE, COAL, IRON, DIAMOND, WATER, TABLE, FURNACE)
"""The first targets; a cow and a threat follow."""
_FIRST_ARROW: Final = 5
_CHANNELS: Final = len(MATERIALS) + len(_VIEW_CREATURES)
_VIEW_SIZE: Final = VIEW_WIDTH * VIEW_HEIGHT * _CHANNELS
_FRONT_SIZE: Final = len(MATERIALS) + len(CREATURES) - 1
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


@functools.cache
def observation_parts() -> Mapping[str, tuple[int, ...]]:
    """Indices of each part of the observation; what is remembered is a part for each target."""
    parts: dict[str, list[int]] = {}
    for index, name in enumerate(observation_names()):
        parts.setdefault(_part_of(name), []).append(index)
    return MappingProxyType({name: tuple(indices) for name, indices in parts.items()})


def _part_of(name: str) -> str:
    if name in _BODY:
        return "body"
    if name in ("x", "y"):
        return "position"
    if name in _TIME:
        return "time"
    part = re.split(r"[.\[]", name)[0]
    return f"nearest_{part}" if part in TARGETS else part


def observe(players: Rows, indices: NDArray[np.int64], length: int) -> Observation:
    """Observations of some players now, in episodes of `length` frames: one row for each."""
    out = np.zeros((len(indices), len(observation_names())), np.float32)
    _fill(players, indices, length, out)
    return out


@compiled
def _fill(players: Rows, indices: NDArray[np.int64], length: int, out: Observation) -> None:
    for number in range(len(indices)):
        _fill_row(players[indices[number]], length, out[number])


@compiled
def _fill_row(player: Record, length: int, out: Observation) -> None:
    memory = player.memory
    _fill_view(memory, out)
    at = _VIEW_SIZE
    _fill_front(memory, out[at:])
    at += _FRONT_SIZE
    for item in range(len(ITEMS)):
        out[at + item] = memory.inventory[item] / MOST
    at += len(ITEMS)
    out[at] = step_x(memory.facing)
    out[at + 1] = step_y(memory.facing)
    out[at + 2] = memory.sleeping
    out[at + 3] = is_enclosed(memory)
    out[at + 4] = is_near(memory, TABLE)
    out[at + 5] = is_near(memory, FURNACE)
    at += len(_BODY)
    out[at] = memory.daylight
    out[at + 1] = min(memory.frames / length, 1.0)
    out[at + 2] = math.sin(2 * math.pi * memory.frames / DAY_FRAMES)
    out[at + 3] = math.cos(2 * math.pi * memory.frames / DAY_FRAMES)
    out[at + 4] = memory.x / 31.5 - 1
    out[at + 5] = memory.y / 31.5 - 1
    at += len(_TIME)
    for number in range(ACHIEVEMENTS):
        out[at + number] = memory.unlocked[number]
    at += ACHIEVEMENTS
    find_ways(memory, player.search)
    for material in _TARGET_MATERIALS:
        if nearest_material(memory, player.search, material) < FAR:
            cell = player.search.nearest_cell[material]
            _fill_target(player, cell, player.search.nearest_side[material], out[at:])
        at += len(_FEATURES)
    cost, cow, side = nearest_creature(memory, player.search, COW)
    if cost < FAR:
        _fill_target(player, cow, side, out[at:])
    _fill_threat(memory, out[at + len(_FEATURES) :])


@compiled
def _fill_view(memory: Record, out: Observation) -> None:
    left = memory.x - REACH_X
    top = memory.y - REACH_Y
    at = 0
    for x in range(left, left + VIEW_WIDTH):
        for y in range(top, top + VIEW_HEIGHT):
            out[at + (memory.known[x, y] if inside(x, y) else 0)] = 1
            at += _CHANNELS
    for number in range(memory.seen_count):
        cell = (memory.seen_x[number] - left) * VIEW_HEIGHT + memory.seen_y[number] - top
        channel = _view_channel(memory.seen_kind[number], memory.seen_heading[number])
        out[cell * _CHANNELS + len(MATERIALS) + channel] = 1


@compiled
def _view_channel(kind: int, heading: int) -> int:
    """Index into the creatures of a view cell, arrows by the direction they fly in."""
    if kind == ARROW:
        return _FIRST_ARROW + heading - 1
    return kind - 1 - int(kind > ARROW)


@compiled
def _fill_front(memory: Record, out: Observation) -> None:
    x = memory.x + step_x(memory.facing)
    y = memory.y + step_y(memory.facing)
    out[max(material_at(memory, x, y), 0)] = 1
    creature = creature_at(memory, x, y)
    if creature > 0:
        out[len(MATERIALS) + creature - 1] = 1


@compiled
def _fill_target(player: Record, cell: int, side: int, out: Observation) -> None:
    """Features of a thing at a cell that is to be approached from one side."""
    memory = player.memory
    dx = cell // SIZE - memory.x
    dy = cell % SIZE - memory.y
    stand_x = cell // SIZE + step_x(side)
    stand_y = cell % SIZE + step_y(side)
    if stand_x == memory.x and stand_y == memory.y:
        direction = side ^ 1
    else:
        direction = first_direction(memory, player.search, stand_x, stand_y)
    frames = player.search.frames[stand_x, stand_y]
    _fill_features(dx, dy, frames, step_x(direction), step_y(direction), out)


@compiled
def _fill_threat(memory: Record, out: Observation) -> None:
    """Features of the nearest creature in view that can hurt; it is approached in a line."""
    nearest = FAR
    dx = 0
    dy = 0
    for number in range(memory.seen_count):
        if memory.seen_kind[number] not in (ZOMBIE, SKELETON, ARROW):
            continue
        x = memory.seen_x[number] - memory.x
        y = memory.seen_y[number] - memory.y
        if abs(x) + abs(y) < nearest:
            nearest = abs(x) + abs(y)
            dx = x
            dy = y
    if nearest == FAR:
        return
    along_x = abs(dx) > abs(dy)
    step_dx = np.sign(dx) if along_x else 0
    step_dy = 0 if along_x else np.sign(dy)
    _fill_features(dx, dy, nearest, step_dx, step_dy, out)


@compiled
def _fill_features(
    dx: int, dy: int, frames: int, step_dx: int, step_dy: int, out: Observation
) -> None:
    out[0] = 1
    out[1] = 8 / (8 + frames)
    out[2] = max(-1.0, min(1.0, dx / 16))
    out[3] = max(-1.0, min(1.0, dy / 16))
    out[4] = step_dx
    out[5] = step_dy
