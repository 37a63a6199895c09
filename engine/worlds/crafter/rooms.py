"""Compiled searches for closed rooms: is the player in one, and where could one be made."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.codes import (
    COAL,
    DIAMOND,
    FURNACE,
    IRON,
    LAVA,
    PLANT,
    SIZE,
    STONE,
    STONE_ITEM,
    TABLE,
    TREE,
    UNKNOWN,
    WATER,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.navigation import FAR, settle
from engine.worlds.crafter.rows import Record, inside, is_floor, step_x, step_y

ROOM_CELLS: Final = 6
"""A closed room of more cells does not count: something may appear inside it."""
_FILL_PRICE: Final = 7
"""Frames to walk around and put a stone on an open side."""
_LOWEST_PRICE: Final = 4
"""No room of two cells costs less."""


@compiled
def _is_wall(material: int) -> bool:
    return material in (STONE, WATER, TREE, COAL, IRON, DIAMOND, TABLE, FURNACE)


@compiled
def is_enclosed(memory: Record) -> bool:
    """Whether the player is in a small closed room."""
    return _is_closed(memory, -1)


@compiled
def would_close(memory: Record, x: int, y: int) -> bool:
    """Whether a stone on a cell would close the room the player stands in."""
    return _is_closed(memory, x * SIZE + y)


@compiled
def _is_closed(memory: Record, stone: int) -> bool:
    """Whether the room around the player is closed and small, with a stone on one more cell."""
    cells = np.empty(ROOM_CELLS, np.int32)
    cells[0] = memory.x * SIZE + memory.y
    count = 1
    number = 0
    while number < count:
        x = cells[number] // SIZE
        y = cells[number] % SIZE
        number += 1
        for direction in range(4):
            a = x + step_x(direction)
            b = y + step_y(direction)
            if not inside(a, b):
                continue
            cell = a * SIZE + b
            creature = memory.creatures[a, b]
            material = STONE if cell == stone else int(memory.known[a, b])
            if _is_among(cells, count, cell):
                continue
            if material == UNKNOWN or (creature > 0 and creature < PLANT):
                return False
            if _is_wall(material) or material == LAVA or creature >= PLANT:
                continue
            if count == ROOM_CELLS:
                return False
            cells[count] = cell
            count += 1
    return True


@compiled
def _is_among(cells: NDArray[np.int32], count: int, cell: int) -> bool:
    found = False
    for number in range(count):
        found = found or cells[number] == cell
    return found


@compiled
def cheapest_room(memory: Record, search: Record) -> tuple[int, int]:
    """Cheapest room of two cells in a line: the cell it is entered from (-1: none), direction.

    The two cells are free, dug, or won from the water; their other sides are walls, or get one
    stone each. The last stone closes the entrance.
    """
    best = FAR
    best_cell = -1
    best_direction = -1
    number = 0
    while number < search.settled or settle(memory, search):
        cell = int(search.order[number])
        number += 1
        x = cell // SIZE
        y = cell % SIZE
        cost = search.cost[x, y]
        if cost + _LOWEST_PRICE > best:
            break
        if x < 3 or y < 3 or x >= SIZE - 3 or y >= SIZE - 3 or memory.creatures[x, y] > 0:
            continue
        for direction in range(4):
            total = cost + _room_price(memory, search, x, y, direction)
            if total < best or (total == best and cell < best_cell):
                best = total
                best_cell = cell
                best_direction = direction
    return best_cell, best_direction


@compiled
def _can_stand(memory: Record, search: Record, x: int, y: int) -> bool:
    material = memory.known[x, y]
    standable = material != TREE and search.prices[material] > 0
    return bool(standable and memory.creatures[x, y] == 0)


@compiled
def _room_price(memory: Record, search: Record, x: int, y: int, direction: int) -> int:
    """Price of making a room of the two cells beyond (x, y), FAR when it cannot be made."""
    known = memory.known
    creatures = memory.creatures
    dx = step_x(direction)
    dy = step_y(direction)
    ax = x + dx
    ay = y + dy
    bx = ax + dx
    by = ay + dy
    if bx < 1 or by < 1 or bx >= SIZE - 1 or by >= SIZE - 1:
        return FAR
    if not _can_stand(memory, search, ax, ay) or not _can_stand(memory, search, bx, by):
        return FAR
    price = search.prices[known[ax, ay]] + search.prices[known[bx, by]] + 2
    dug = int(known[ax, ay] == STONE) + int(known[bx, by] == STONE)
    stones = int(memory.inventory[STONE_ITEM])
    ends = 1
    sides = 0
    for number in range(5):
        u = bx + dx
        v = by + dy
        if number > 0:
            sign = 1 if number % 2 == 0 else -1
            u = (ax if number < 3 else bx) + sign * dy
            v = (ay if number < 3 else by) + sign * dx
        if _is_wall(known[u, v]) or creatures[u, v] >= PLANT:
            continue
        open_end = number == 0 and known[u, v] == UNKNOWN
        if not (is_floor(known[u, v]) or open_end) or creatures[u, v] > 0:
            return FAR
        if number == 0:
            # An unknown end will be seen on the way in, and closed if it is open.
            ends += 1
            price += 1
        else:
            sides += 1
            price += _FILL_PRICE
    # The sides are closed before the two cells are dug, the ends after.
    if stones < sides or stones + dug < sides + ends:
        return FAR
    return int(price)
