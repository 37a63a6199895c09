"""Compiled choices of a cell to go to: the edge of the known, a place to craft, a cell to face.

Each looks at settled cells by rising cost and asks for more of the search only while a better one
may follow. Of equally good ones the first in the order of x, then y, wins.
"""

from __future__ import annotations

from typing import Final

from engine.worlds.crafter.codes import (
    COAL,
    DIAMOND,
    GRASS,
    IRON,
    LAVA,
    MATERIALS,
    PATH,
    SIZE,
    STONE,
    UNKNOWN,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.navigation import BLOCKED, FAR, settle
from engine.worlds.crafter.rows import Record, has_near, inside, is_floor, step_x, step_y

ANY_LAND: Final = 0
GRASSLAND: Final = 1
MOUNTAIN: Final = 2
_LAND_REACH: Final = 3
_MOST_LAND: Final = 0.5 * (2 * _LAND_REACH + 1) ** 2


@compiled
def nearest_with_near(memory: Record, search: Record, first: int, second: int) -> int:
    """Cheapest cell that keeps both materials in its 3 x 3 once stood on; -1 when there is none.

    A cell that would be dug away by standing on it does not count for itself.
    """
    if memory.material_counts[first] <= 0 or memory.material_counts[second] <= 0:
        return -1
    best = FAR
    best_cell = -1
    number = 0
    while number < search.settled or settle(memory, search):
        cell = int(search.order[number])
        number += 1
        x = cell // SIZE
        y = cell % SIZE
        cost = search.cost[x, y]
        if cost > best:
            break
        if cost == best and cell > best_cell:
            continue
        if _keeps_near(memory, x, y, first) and _keeps_near(memory, x, y, second):
            best = cost
            best_cell = cell
    return best_cell


@compiled
def _keeps_near(memory: Record, x: int, y: int, material: int) -> bool:
    if x < 1 or y < 1:
        return False
    for a in range(x - 1, min(x + 2, SIZE)):
        for b in range(y - 1, min(y + 2, SIZE)):
            stays = a != x or b != y or is_floor(memory.known[x, y])
            if stays and memory.known[a, b] == material:
                return True
    return False


@compiled
def nearest_facing(
    memory: Record, search: Record, wanted: int, keep: int, farthest: int
) -> tuple[int, int, int]:
    """Cheapest way to have a free cell of a wanted material in front without entering it.

    Such a cell can only be faced by walking straight towards it: from a cell before, into the
    cell to stand on. `wanted` has a bit for each material; with `keep` above 0 the player must
    have that material near where it stands.

    Returns:
        cost (FAR when there is none or it is above `farthest`), the cell before, the direction.
    """
    best = farthest + 1
    best_target = -1
    before = -1
    best_direction = -1
    if not _knows_any(memory, wanted):
        return FAR, before, best_direction
    number = 0
    while number < search.settled or settle(memory, search):
        cell = int(search.order[number])
        number += 1
        x = cell // SIZE
        y = cell % SIZE
        if search.cost[x, y] >= best:
            break
        for direction in range(4):
            a = x + step_x(direction)
            b = y + step_y(direction)
            target_x = a + step_x(direction)
            target_y = b + step_y(direction)
            if not inside(target_x, target_y) or not _can_face(
                memory, search, target_x, target_y, wanted
            ):
                continue
            price = search.prices[memory.known[a, b]]
            if price == 0 or search.extra[a, b] == BLOCKED:
                continue
            total = search.cost[x, y] + price + search.extra[a, b]
            target = target_x * SIZE + target_y
            if total > best or (total == best and target > best_target):
                continue
            if total == best and target == best_target and direction > best_direction:
                continue
            if keep > 0 and not has_near(memory, a, b, keep):
                continue
            best = total
            best_target = target
            before = cell
            best_direction = direction
    return (best if before >= 0 else FAR), before, best_direction


@compiled
def _knows_any(memory: Record, wanted: int) -> bool:
    for material in range(len(MATERIALS)):
        if (wanted >> material) & 1 and memory.material_counts[material] > 0:
            return True
    return False


@compiled
def _can_face(memory: Record, search: Record, x: int, y: int, wanted: int) -> bool:
    found = (wanted >> int(memory.known[x, y])) & 1
    return bool(found and memory.creatures[x, y] == 0 and search.extra[x, y] != BLOCKED)


@compiled
def nearest_frontier(memory: Record, search: Record, land: int) -> int:
    """Best known, reachable cell beside an unknown one; -1 when there is none.

    Near ones are better, ones in the preferred land are better, and so are ones near the last
    heading, which keeps the player from turning back and forth.
    """
    most_land = 0.0 if land == ANY_LAND else _MOST_LAND
    best = 1e9
    best_cell = -1
    if memory.material_counts[UNKNOWN] <= 0:
        return best_cell
    number = 0
    while number < search.settled or settle(memory, search):
        cell = int(search.order[number])
        number += 1
        x = cell // SIZE
        y = cell % SIZE
        cost = search.cost[x, y]
        if cost - most_land > best:
            break
        turn = 0.0
        if memory.heading_x >= 0:
            turn = 0.25 * (abs(x - memory.heading_x) + abs(y - memory.heading_y))
        if cost + turn - most_land > best or not _at_edge(memory, x, y):
            continue
        score = cost + turn - 0.5 * _land_around(memory, x, y, land)
        if score < best or (score == best and cell < best_cell):
            best = score
            best_cell = cell
    return best_cell


@compiled
def _is_land(material: int, land: int) -> bool:
    if land == GRASSLAND:
        return material == GRASS
    return material in (STONE, PATH, COAL, IRON, LAVA, DIAMOND)


@compiled
def _at_edge(memory: Record, x: int, y: int) -> bool:
    for direction in range(4):
        a = x + step_x(direction)
        b = y + step_y(direction)
        if inside(a, b) and memory.known[a, b] == UNKNOWN:
            return True
    return False


@compiled
def _land_around(memory: Record, x: int, y: int, land: int) -> int:
    """Cells of a kind of land in the 7 x 7 around a cell."""
    found = 0
    if land != ANY_LAND:
        for a in range(max(0, x - _LAND_REACH), min(SIZE, x + _LAND_REACH + 1)):
            for b in range(max(0, y - _LAND_REACH), min(SIZE, y + _LAND_REACH + 1)):
                if _is_land(memory.known[a, b], land):
                    found += 1
    return found
