"""Compiled: put stones where they are wanted: on one cell, or all around a plant."""

from __future__ import annotations

from typing import Final

from engine.worlds.crafter.codes import ARROW, COW, MOVE_LEFT, NONE, PLACE_STONE, SIZE
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.moves import enter, go
from engine.worlds.crafter.navigation import BLOCKED, FAR, begin_search, mark, reach
from engine.worlds.crafter.rows import (
    Record,
    Rows,
    creature_at,
    has_stone,
    inside,
    is_floor,
    is_free,
    material_at,
    step_x,
    step_y,
)

_DETOUR: Final = 12
"""Extra price of walking over a cell that is to be closed."""


@compiled
def put_stone(player: Record, x: int, y: int) -> int:
    """Next action of putting a stone on a free cell: come at it in a straight line.

    The ways are those of `player.detour`, a search that has begun.
    """
    memory = player.memory
    if not has_stone(memory):
        return NONE
    if memory.x + step_x(memory.facing) == x and memory.y + step_y(memory.facing) == y:
        return PLACE_STONE
    direction = _best_run_up(memory, player.detour, x, y)
    if direction < 0:
        return NONE
    before_x = x - 2 * step_x(direction)
    before_y = y - 2 * step_y(direction)
    if memory.x == before_x and memory.y == before_y:
        return enter(memory, direction)
    return go(memory, player.detour, before_x, before_y)


@compiled
def step_off(memory: Record) -> int:
    """Any step to a free cell."""
    for direction in range(4):
        if is_free(memory, memory.x + step_x(direction), memory.y + step_y(direction)):
            return MOVE_LEFT + direction
    return NONE


@compiled
def _best_run_up(memory: Record, ways: Record, x: int, y: int) -> int:
    """Direction in which two steps end facing a cell, the cheapest to begin; -1 for none."""
    best = FAR
    best_direction = -1
    for direction in range(4):
        cost = _run_up_cost(memory, ways, x, y, direction)
        if cost < best:
            best = cost
            best_direction = direction
    return best_direction


@compiled
def _run_up_cost(memory: Record, ways: Record, x: int, y: int, direction: int) -> int:
    before_x = x - 2 * step_x(direction)
    before_y = y - 2 * step_y(direction)
    if not inside(before_x, before_y):
        return FAR
    if not is_free(memory, x - step_x(direction), y - step_y(direction)):
        return FAR
    return int(ways.cost[before_x, before_y]) if reach(memory, ways, before_x, before_y) else FAR


@compiled
def step_to_fence(players: Rows, index: int) -> int:
    """Next action of closing the sides of the nearest plant; None when they are closed."""
    player = players[index]
    memory = player.memory
    plant = _nearest_plant(memory)
    if plant < 0 or not has_stone(memory):
        return NONE
    begin_search(memory, player.detour)
    for side in range(4):
        x = plant // SIZE + step_x(side)
        y = plant % SIZE + step_y(side)
        if inside(x, y):
            mark(player.detour, x, y, _DETOUR if is_floor(memory.known[x, y]) else BLOCKED)
    best = FAR
    target = -1
    stands_beside = False
    for side in range(4):
        x = plant // SIZE + step_x(side)
        y = plant % SIZE + step_y(side)
        creature = creature_at(memory, x, y)
        if not is_floor(material_at(memory, x, y)) or (creature > 0 and creature != ARROW):
            continue
        if memory.x == x and memory.y == y:
            stands_beside = True
            continue
        if memory.x + step_x(memory.facing) == x and memory.y + step_y(memory.facing) == y:
            return PLACE_STONE
        cost = FAR
        for direction in range(4):
            cost = min(cost, _run_up_cost(memory, player.detour, x, y, direction))
        if cost < best:
            best = cost
            target = x * SIZE + y
    if target >= 0:
        return put_stone(player, target // SIZE, target % SIZE)
    return step_off(memory) if stands_beside else NONE


@compiled
def is_fenced(memory: Record) -> bool:
    """Whether a plant is known and nothing can stand beside the nearest one."""
    plant = _nearest_plant(memory)
    if plant < 0:
        return False
    for side in range(4):
        if is_floor(material_at(memory, plant // SIZE + step_x(side), plant % SIZE + step_y(side))):
            return False
    return True


@compiled
def _nearest_plant(memory: Record) -> int:
    """The nearest plant that is remembered, ripe or not; -1 for none."""
    best = FAR
    found = -1
    for number in range(memory.animal_count):
        if memory.animal_kind[number] == COW:
            continue
        cell = int(memory.animal_cell[number])
        distance = abs(cell // SIZE - memory.x) + abs(cell % SIZE - memory.y)
        if distance < best or (distance == best and cell < found):
            best = distance
            found = cell
    return found
