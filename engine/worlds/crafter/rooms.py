"""Compiled searches for closed rooms: is the player in one, and where could one be made."""

from __future__ import annotations

from typing import Final

import numpy as np

from engine.worlds.crafter.codes import (
    COAL,
    DIAMOND,
    FURNACE,
    GRASS,
    IRON,
    LAVA,
    PATH,
    PLANT,
    SAND,
    SIZE,
    STONE,
    TABLE,
    TREE,
    UNKNOWN,
    WATER,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.navigation import FAR, Bytes, Ints, inside, step_x, step_y

ROOM_CELLS: Final = 6
"""A closed room of more cells does not count: something may appear inside it."""
_FILL_PRICE: Final = 7
"""Frames to walk around and put a stone on an open side."""


@compiled
def _is_wall(material: int) -> bool:
    return material in (STONE, WATER, TREE, COAL, IRON, DIAMOND, TABLE, FURNACE)


@compiled
def _is_floor(material: int) -> bool:
    return material in (GRASS, PATH, SAND)


@compiled
def closed_room(known: Bytes, creatures: Bytes, px: int, py: int, limit: int) -> int:
    """Cells of the closed room the player stands in; 0 when it is open or larger than `limit`."""
    seen = np.zeros((SIZE, SIZE), np.bool_)
    stack = np.empty(4 * (limit + 1), np.int32)
    stack[0] = px * SIZE + py
    seen[px, py] = True
    height = 1
    total = 0
    while height > 0:
        height -= 1
        x = stack[height] // SIZE
        y = stack[height] % SIZE
        total += 1
        if total > limit:
            return 0
        for direction in range(4):
            a = x + step_x(direction)
            b = y + step_y(direction)
            if not inside(a, b) or seen[a, b]:
                continue
            material = known[a, b]
            if material == UNKNOWN or (creatures[a, b] > 0 and creatures[a, b] < PLANT):
                return 0
            if _is_wall(material) or material == LAVA or creatures[a, b] >= PLANT:
                continue
            seen[a, b] = True
            stack[height] = a * SIZE + b
            height += 1
    return total


@compiled
def _can_stand(known: Bytes, creatures: Bytes, prices: Ints, x: int, y: int) -> bool:
    material = known[x, y]
    standable = material != WATER and material != TREE and prices[material] > 0
    return bool(standable and creatures[x, y] == 0)


@compiled
def _room_price(
    known: Bytes, creatures: Bytes, prices: Ints, x: int, y: int, direction: int, stones: int
) -> int:
    """Price of making a room of the two cells beyond (x, y), FAR when it cannot be made."""
    dx = step_x(direction)
    dy = step_y(direction)
    ax = x + dx
    ay = y + dy
    bx = ax + dx
    by = ay + dy
    if bx < 1 or by < 1 or bx >= SIZE - 1 or by >= SIZE - 1:
        return FAR
    if not _can_stand(known, creatures, prices, ax, ay):
        return FAR
    if not _can_stand(known, creatures, prices, bx, by):
        return FAR
    price = prices[known[ax, ay]] + prices[known[bx, by]] + 2
    dug = int(known[ax, ay] == STONE) + int(known[bx, by] == STONE)
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
        if not (_is_floor(known[u, v]) or open_end) or creatures[u, v] > 0:
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


@compiled
def cheapest_room(
    known: Bytes, creatures: Bytes, cost: Ints, prices: Ints, stones: int
) -> tuple[int, int, int, int]:
    """Cheapest room of two cells in a line, entered from a third: cost, x, y of that, direction.

    The two cells are dug or free; their other sides are walls, or get one stone each. The last
    stone closes the entrance. The cost is FAR when there is no such place.
    """
    best = FAR
    best_x = -1
    best_y = -1
    best_direction = -1
    for x in range(3, SIZE - 3):
        for y in range(3, SIZE - 3):
            if cost[x, y] >= best or creatures[x, y] > 0:
                continue
            for direction in range(4):
                price = _room_price(known, creatures, prices, x, y, direction, stones)
                if cost[x, y] + price < best:
                    best = cost[x, y] + price
                    best_x = x
                    best_y = y
                    best_direction = direction
    return best, best_x, best_y, best_direction
