"""Compiled search of all ways from where the player stands, over the remembered map.

`cost` is what the player prefers (frames plus a price for danger), `frames` the env frames of the
way it prefers. A search goes outwards from the player level by level of cost, and only as far as
somebody asks: what is found is what a search of the whole map would find. Every search is
deterministic; of equally good cells the first in the order of x, then y, wins.
"""

from __future__ import annotations

from typing import Final

from engine.worlds.crafter.codes import (
    ARROW,
    COAL,
    COW,
    DIAMOND,
    GRASS,
    IRON,
    IRON_PICKAXE,
    LAVA,
    PATH,
    SAND,
    SIZE,
    SKELETON,
    STONE,
    STONE_PICKAXE,
    TREE,
    UNKNOWN,
    WATER,
    WOOD_PICKAXE,
    ZOMBIE,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.rows import (
    BUCKETS,
    Record,
    has_stone,
    inside,
    is_floor,
    step_x,
    step_y,
)

FAR: Final = 1_000_000
BLOCKED: Final = 255
"""Extra price of a cell that must never be entered."""
NIGHT: Final = 0.75
"""Below this daylight zombies are many."""
_COW_PRICE: Final = 5
_ZOMBIE_PRICE: Final = 6
_NEAR_ZOMBIE_PRICE: Final = 5
"""Price of the cell of a zombie, and of those around it, less one for each cell away."""
_ZOMBIE_REACH: Final = 2
_SKELETON_PRICE: Final = 3
_ARROW_PRICE: Final = 2
_FRESH_PRICE: Final = 15


@compiled
def is_night(memory: Record) -> bool:
    """Whether it is dark enough for zombies to be many."""
    return bool(memory.daylight < NIGHT)


@compiled
def find_ways(memory: Record, search: Record) -> None:
    """Start the search of this frame, unless it was started before."""
    if not search.begun:
        begin_search(memory, search)


@compiled
def begin_search(memory: Record, search: Record) -> None:
    """Start a search from where the player stands."""
    _clear(search)
    _set_prices(memory, search)
    _mark_dangers(memory, search)
    start = memory.x * SIZE + memory.y
    search.start = start
    search.cost[memory.x, memory.y] = 0
    search.frames[memory.x, memory.y] = 0
    search.heads[0] = 0
    search.following[0] = -1
    search.cells[0] = start
    search.used = 1
    search.waiting = 1
    search.begun = True


@compiled
def _clear(search: Record) -> None:
    for number in range(search.used):
        cell = search.cells[number]
        search.cost[cell // SIZE, cell % SIZE] = FAR
        search.frames[cell // SIZE, cell % SIZE] = FAR
        search.back[cell // SIZE, cell % SIZE] = -1
    for number in range(search.marked_count):
        cell = search.marked[number]
        search.extra[cell // SIZE, cell % SIZE] = 0
    search.marked_count = 0
    search.level = 0
    search.settled = 0
    search.heads[:] = -1
    search.nearest_cost[:] = FAR


@compiled
def _set_prices(memory: Record, search: Record) -> None:
    """Price and frames of entering a cell, by material and by the tools held; 0: impossible."""
    durations = search.durations
    prices = search.prices
    durations[:] = 0
    durations[GRASS] = 1
    durations[PATH] = 1
    durations[SAND] = 1
    durations[TREE] = 2
    if memory.inventory[WOOD_PICKAXE] > 0:
        durations[STONE] = 2
        durations[COAL] = 2
        if has_stone(memory):
            durations[WATER] = 3
    if memory.inventory[STONE_PICKAXE] > 0:
        durations[IRON] = 2
    if memory.inventory[IRON_PICKAXE] > 0:
        durations[DIAMOND] = 2
    prices[:] = durations
    prices[TREE] += 1
    if prices[WATER] > 0:
        prices[WATER] += 1
    if is_night(memory) and memory.inventory[WOOD_PICKAXE] > 0:
        # Zombies come up on grass in the dark; a tunnel is the better way.
        prices[GRASS] = 4
        prices[SAND] = 2


@compiled
def mark(search: Record, x: int, y: int, price: int) -> None:
    """Raise the extra price of a cell to at least `price`."""
    if price > search.extra[x, y]:
        if search.extra[x, y] == 0:
            search.marked[search.marked_count] = x * SIZE + y
            search.marked_count += 1
        search.extra[x, y] = price


@compiled
def _mark_dangers(memory: Record, search: Record) -> None:
    """A cow is in the way, a zombie is kept clear of, plants are never walked into."""
    impatient = memory.frames < memory.impatient_until
    for number in range(memory.seen_count):
        price = _danger(memory.seen_kind[number])
        if impatient and price < BLOCKED:
            price = min(price, 1)
        mark(search, memory.seen_x[number], memory.seen_y[number], price)
        if memory.seen_kind[number] == ZOMBIE and not impatient:
            _mark_around(search, int(memory.seen_x[number]), int(memory.seen_y[number]))
    for number in range(memory.animal_count):
        if memory.animal_kind[number] != COW:
            cell = memory.animal_cell[number]
            mark(search, cell // SIZE, cell % SIZE, BLOCKED)
    for number in range(memory.fresh_count):
        cell = memory.fresh_cell[number]
        mark(search, cell // SIZE, cell % SIZE, _FRESH_PRICE)


@compiled
def _mark_around(search: Record, x: int, y: int) -> None:
    """The cells a zombie can be beside one frame from now."""
    for dx in range(-_ZOMBIE_REACH, _ZOMBIE_REACH + 1):
        for dy in range(-_ZOMBIE_REACH, _ZOMBIE_REACH + 1):
            away = abs(dx) + abs(dy)
            if 0 < away <= _ZOMBIE_REACH and inside(x + dx, y + dy):
                mark(search, x + dx, y + dy, _NEAR_ZOMBIE_PRICE - away)


@compiled
def _danger(kind: int) -> int:
    if kind == COW:
        return _COW_PRICE
    if kind == ZOMBIE:
        return _ZOMBIE_PRICE
    if kind == SKELETON:
        return _SKELETON_PRICE
    return _ARROW_PRICE if kind == ARROW else BLOCKED


@compiled
def settle(memory: Record, search: Record) -> bool:
    """Settle the cells of the next level of cost (Dijkstra's algorithm with a bucket queue).

    Entering a cell of material m costs `prices[m]` (0: impossible) plus `extra` of the cell, and
    lasts `durations[m]` frames. Every single price is below 32.

    Returns:
        Whether there was anything left.
    """
    settled = search.settled
    while search.waiting > 0 and search.settled == settled:
        level = search.level
        entry = search.heads[level % BUCKETS]
        search.heads[level % BUCKETS] = -1
        while entry >= 0:
            search.waiting -= 1
            cell = search.cells[entry]
            entry = search.following[entry]
            if search.cost[cell // SIZE, cell % SIZE] == level:
                search.order[search.settled] = cell
                search.settled += 1
                _relax(memory, search, cell, level)
        search.level = level + 1
    return bool(search.settled > settled)


@compiled
def _relax(memory: Record, search: Record, cell: int, level: int) -> None:
    """Ways from a settled cell to its four neighbours, and what it stands beside."""
    x = cell // SIZE
    y = cell % SIZE
    for direction in range(4):
        a = x + step_x(direction)
        b = y + step_y(direction)
        if not inside(a, b):
            continue
        material = memory.known[a, b]
        if level <= search.nearest_cost[material]:
            _stand_beside(search, material, a * SIZE + b, direction ^ 1, level)
        price = search.prices[material]
        extra = search.extra[a, b]
        if price == 0 or extra == BLOCKED:
            continue
        total = level + price + extra
        if total < search.cost[a, b]:
            search.cost[a, b] = total
            search.frames[a, b] = search.frames[x, y] + search.durations[material]
            search.back[a, b] = direction
            used = search.used
            search.cells[used] = a * SIZE + b
            search.following[used] = search.heads[total % BUCKETS]
            search.heads[total % BUCKETS] = used
            search.used = used + 1
            search.waiting += 1


@compiled
def _stand_beside(search: Record, material: int, cell: int, side: int, cost: int) -> None:
    """Note that a settled cell lies beside a material, `side` seen from there.

    Materials that can be walked onto are left out: standing beside them is not facing them.
    """
    if material in (UNKNOWN, LAVA) or is_floor(material):
        return
    if cost == search.nearest_cost[material]:
        other = search.nearest_cell[material]
        if cell > other or (cell == other and side > search.nearest_side[material]):
            return
    search.nearest_cost[material] = cost
    search.nearest_cell[material] = cell
    search.nearest_side[material] = side


@compiled
def is_settled(search: Record, x: int, y: int) -> bool:
    """Whether the best way to a cell is found already."""
    return bool(search.cost[x, y] < search.level)


@compiled
def reach(memory: Record, search: Record, x: int, y: int) -> bool:
    """Search as far as a cell; whether there is a way to it."""
    while not is_settled(search, x, y):
        if not settle(memory, search):
            return False
    return True


@compiled
def first_direction(memory: Record, search: Record, x: int, y: int) -> int:
    """Direction of the first step to a cell; -1 when there is no way or it is reached."""
    if not reach(memory, search, x, y):
        return -1
    direction = -1
    while x * SIZE + y != search.start:
        direction = search.back[x, y]
        x -= step_x(direction)
        y -= step_y(direction)
    return direction


@compiled
def nearest_material(memory: Record, search: Record, material: int) -> int:
    """Cost of standing beside the nearest cell of a material; FAR when there is no way.

    Which cell it is, and the side to stand on, are then in `search.nearest_cell` and
    `search.nearest_side`.
    """
    if memory.material_counts[material] <= 0:
        return FAR
    while search.nearest_cost[material] == FAR:
        if not settle(memory, search):
            return FAR
    return int(search.nearest_cost[material])


@compiled
def nearest_creature(memory: Record, search: Record, kind: int) -> tuple[int, int, int]:
    """Cost of standing beside the nearest creature of a kind, its cell, and the side to stand on.

    Cows and plants are remembered where they were last seen, others only while in view. The cost is
    FAR when there is none, or no way.
    """
    if memory.creature_counts[kind] == 0:
        return FAR, -1, -1
    find_ways(memory, search)
    while True:
        best, cell, side = _beside_creature(memory, search, kind)
        if best < search.level or not settle(memory, search):
            return best, cell, side
        # What is found is sure once its level is settled; until then, a few levels at a time.
        target = best if best < FAR else search.level + 3
        while search.level <= target and settle(memory, search):
            pass


@compiled
def _beside_creature(memory: Record, search: Record, kind: int) -> tuple[int, int, int]:
    """The same with the costs that are known so far."""
    best = FAR
    best_cell = -1
    best_side = -1
    remembered = is_remembered(kind)
    for number in range(memory.animal_count if remembered else memory.seen_count):
        if remembered:
            found = memory.animal_kind[number]
            cell = int(memory.animal_cell[number])
        else:
            found = memory.seen_kind[number]
            cell = memory.seen_x[number] * SIZE + memory.seen_y[number]
        if found != kind:
            continue
        for side in range(4):
            a = cell // SIZE + step_x(side)
            b = cell % SIZE + step_y(side)
            if not inside(a, b) or search.cost[a, b] > best or search.cost[a, b] == FAR:
                continue
            if search.cost[a, b] < best or cell < best_cell:
                best = search.cost[a, b]
                best_cell = cell
                best_side = side
    return best, best_cell, best_side


@compiled
def is_remembered(kind: int) -> bool:
    """Whether a creature is remembered where it was last seen: cows and plants."""
    return kind == COW or kind > ARROW
