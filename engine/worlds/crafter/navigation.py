"""Compiled searches over the remembered map: paths, nearest things, the edge of the known.

Arrays are indexed [x, y]. `cost` is what the player prefers (frames plus a price for danger),
`frames` the env frames of the way it prefers. All searches are deterministic.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.codes import (
    COAL,
    DIAMOND,
    GRASS,
    IRON,
    LAVA,
    PATH,
    SAND,
    SIZE,
    STONE,
    UNKNOWN,
)
from engine.worlds.crafter.compiled import compiled

FAR: Final = 1_000_000
BLOCKED: Final = 255
"""Extra price of a cell that must never be entered."""
ANY_LAND: Final = 0
GRASSLAND: Final = 1
MOUNTAIN: Final = 2
_BUCKETS: Final = 32
_QUEUE: Final = 4 * SIZE * SIZE + 1

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]


@compiled
def step_x(direction: int) -> int:
    """X part of a direction: 0 left, 1 right, 2 up, 3 down."""
    if direction == 0:
        return -1
    return 1 if direction == 1 else 0


@compiled
def step_y(direction: int) -> int:
    """Y part of a direction."""
    if direction == 2:
        return -1
    return 1 if direction == 3 else 0


@compiled
def inside(x: int, y: int) -> bool:
    """Whether a cell is on the map."""
    return x >= 0 and y >= 0 and x < SIZE and y < SIZE


@compiled
def spread(
    known: Bytes, extra: Bytes, prices: Ints, durations: Ints, px: int, py: int
) -> tuple[Ints, Ints, NDArray[np.int8]]:
    """Dijkstra's algorithm with a bucket queue from (px, py) over the whole remembered map.

    Entering a cell of material m costs `prices[m]` (0: impossible) plus `extra` of the cell, and
    lasts `durations[m]` frames. Every single price is below 32.

    Returns:
        cost, frames (FAR where unreachable), and the direction of the last step to each cell.
    """
    cost = np.full((SIZE, SIZE), FAR, np.int32)
    frames = np.full((SIZE, SIZE), FAR, np.int32)
    back = np.full((SIZE, SIZE), -1, np.int8)
    heads = np.full(_BUCKETS, -1, np.int32)
    following = np.empty(_QUEUE, np.int32)
    cells = np.empty(_QUEUE, np.int32)
    cost[px, py] = 0
    frames[px, py] = 0
    heads[0] = 0
    following[0] = -1
    cells[0] = px * SIZE + py
    used = 1
    waiting = 1
    level = 0
    while waiting > 0:
        entry = heads[level % _BUCKETS]
        heads[level % _BUCKETS] = -1
        while entry >= 0:
            waiting -= 1
            x = cells[entry] // SIZE
            y = cells[entry] % SIZE
            entry = following[entry]
            if cost[x, y] != level:
                continue
            for direction in range(4):
                a = x + step_x(direction)
                b = y + step_y(direction)
                if not inside(a, b):
                    continue
                price = prices[known[a, b]]
                if price == 0 or extra[a, b] == BLOCKED:
                    continue
                total = level + price + extra[a, b]
                if total < cost[a, b]:
                    cost[a, b] = total
                    frames[a, b] = frames[x, y] + durations[known[a, b]]
                    back[a, b] = direction
                    cells[used] = a * SIZE + b
                    following[used] = heads[total % _BUCKETS]
                    heads[total % _BUCKETS] = used
                    used += 1
                    waiting += 1
        level += 1
    return cost, frames, back


@compiled
def first_direction(back: NDArray[np.int8], x: int, y: int, px: int, py: int) -> int:
    """Direction of the first step from (px, py) on the way to (x, y); -1 when there is none."""
    direction = -1
    while x != px or y != py:
        direction = back[x, y]
        if direction < 0:
            return -1
        x -= step_x(direction)
        y -= step_y(direction)
    return direction


@compiled
def nearest_by_material(known: Bytes, cost: Ints) -> Ints:
    """For each material the cheapest way to stand beside one: shape (13, 5).

    A row is (cost, x, y of the cell, x, y of where to stand). Materials that can be walked onto
    are left out, because standing beside them does not mean facing them.
    """
    table = np.full((13, 5), -1, np.int32)
    table[:, 0] = FAR
    for x in range(SIZE):
        for y in range(SIZE):
            material = known[x, y]
            if material in (UNKNOWN, GRASS, PATH, SAND, LAVA):
                continue
            for direction in range(4):
                a = x + step_x(direction)
                b = y + step_y(direction)
                if inside(a, b) and cost[a, b] < table[material, 0]:
                    table[material, 0] = cost[a, b]
                    table[material, 1] = x
                    table[material, 2] = y
                    table[material, 3] = a
                    table[material, 4] = b
    return table


@compiled
def has_near(known: Bytes, x: int, y: int, material: int) -> bool:
    """Whether the 3 x 3 around a cell has a material, as crafting there would find.

    On the first row and column the game's own search finds nothing at all.
    """
    if x < 1 or y < 1:
        return False
    for a in range(x - 1, min(x + 2, SIZE)):
        for b in range(y - 1, min(y + 2, SIZE)):
            if known[a, b] == material:
                return True
    return False


@compiled
def nearest_with_near(known: Bytes, cost: Ints, first: int, second: int) -> tuple[int, int, int]:
    """Cheapest cell (cost, x, y) that keeps both materials in its 3 x 3 once stood on.

    A cell that would be dug away by standing on it does not count for itself.
    """
    best = FAR
    best_x = -1
    best_y = -1
    for x in range(1, SIZE):
        for y in range(1, SIZE):
            if cost[x, y] >= best:
                continue
            found_first = False
            found_second = False
            for a in range(x - 1, min(x + 2, SIZE)):
                for b in range(y - 1, min(y + 2, SIZE)):
                    material = known[a, b]
                    if a == x and b == y and material not in (GRASS, PATH, SAND):
                        continue
                    if material == first:
                        found_first = True
                    if material == second:
                        found_second = True
            if found_first and found_second:
                best = cost[x, y]
                best_x = x
                best_y = y
    return best, best_x, best_y


@compiled
def nearest_facing(
    known: Bytes,
    extra: Bytes,
    creatures: Bytes,
    cost: Ints,
    prices: Ints,
    wanted: NDArray[np.bool_],
    keep: int,
) -> Ints:
    """Cheapest way to have a free cell of a wanted material in front without entering it.

    Such a cell can only be faced by walking straight towards it: from a cell before, into the
    cell to stand on. With `keep` above 0 the player must have that material near where it stands.

    Returns:
        cost, x, y of the cell, x, y of where to stand, x, y of the cell before that.
    """
    best = np.full(7, -1, np.int32)
    best[0] = FAR
    for x in range(SIZE):
        for y in range(SIZE):
            if not wanted[known[x, y]] or creatures[x, y] > 0 or extra[x, y] == BLOCKED:
                continue
            for direction in range(4):
                a = x - step_x(direction)
                b = y - step_y(direction)
                c = a - step_x(direction)
                d = b - step_y(direction)
                if not inside(c, d) or cost[c, d] >= best[0]:
                    continue
                price = prices[known[a, b]]
                if price == 0 or extra[a, b] == BLOCKED:
                    continue
                if keep > 0 and not has_near(known, a, b, keep):
                    continue
                total = cost[c, d] + price + extra[a, b]
                if total < best[0]:
                    best[0] = total
                    best[1] = x
                    best[2] = y
                    best[3] = a
                    best[4] = b
                    best[5] = c
                    best[6] = d
    return best


@compiled
def _is_land(material: int, land: int) -> bool:
    if land == GRASSLAND:
        return material == GRASS
    return material in (STONE, PATH, COAL, IRON, LAVA, DIAMOND)


@compiled
def _at_edge(known: Bytes, x: int, y: int) -> bool:
    for direction in range(4):
        a = x + step_x(direction)
        b = y + step_y(direction)
        if inside(a, b) and known[a, b] == UNKNOWN:
            return True
    return False


@compiled
def _land_around(known: Bytes, x: int, y: int, land: int) -> int:
    """Cells of a kind of land in the 7 x 7 around a cell."""
    found = 0
    if land != ANY_LAND:
        for a in range(max(0, x - 3), min(SIZE, x + 4)):
            for b in range(max(0, y - 3), min(SIZE, y + 4)):
                if _is_land(known[a, b], land):
                    found += 1
    return found


@compiled
def nearest_frontier(
    known: Bytes, cost: Ints, land: int, heading_x: int, heading_y: int
) -> tuple[int, int]:
    """Best known, reachable cell beside an unknown one; (-1, -1) when there is none.

    Near ones are better, ones in the preferred land are better, and so are ones near the last
    heading (-1 for none), which keeps the player from turning back and forth.
    """
    best = 1e9
    best_x = -1
    best_y = -1
    for x in range(SIZE):
        for y in range(SIZE):
            if known[x, y] == UNKNOWN or cost[x, y] >= FAR:
                continue
            if not _at_edge(known, x, y):
                continue
            score = cost[x, y] - 0.5 * _land_around(known, x, y, land)
            if heading_x >= 0:
                score += 0.25 * (abs(x - heading_x) + abs(y - heading_y))
            if score < best:
                best = score
                best_x = x
                best_y = y
    return best_x, best_y


@compiled
def beside(cost: Ints, x: int, y: int) -> tuple[int, int, int]:
    """Cheapest of the four cells around (x, y): cost, x, y."""
    best = FAR
    best_x = -1
    best_y = -1
    for direction in range(4):
        a = x + step_x(direction)
        b = y + step_y(direction)
        if inside(a, b) and cost[a, b] < best:
            best = cost[a, b]
            best_x = a
            best_y = b
    return best, best_x, best_y
