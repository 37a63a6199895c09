"""Compiled suggestions of one action: go, approach, explore, place. None ever steps into lava.

Each gives the number of an action, `NONE` where the stub gives None.
"""

from __future__ import annotations

from typing import Final

from engine.worlds.crafter.arrows import is_hit_soon
from engine.worlds.crafter.codes import (
    ARROW,
    COAL,
    COW,
    DIAMOND,
    DO,
    GRASS,
    IRON,
    IRON_PICKAXE,
    LAVA,
    MOVE_DOWN,
    MOVE_LEFT,
    MOVE_RIGHT,
    NONE,
    NOOP,
    PATH,
    PLACE_FURNACE,
    PLACE_STONE,
    SAND,
    SIZE,
    SKELETON,
    STONE,
    STONE_PICKAXE,
    TABLE,
    TREE,
    WATER,
    WOOD_PICKAXE,
    ZOMBIE,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.navigation import (
    FAR,
    find_ways,
    first_direction,
    nearest_creature,
    nearest_material,
)
from engine.worlds.crafter.nearest import nearest_facing, nearest_frontier, nearest_with_near
from engine.worlds.crafter.rows import (
    Record,
    Rows,
    creature_at,
    has_near,
    has_stone,
    is_floor,
    is_free,
    is_near,
    material_at,
    step_x,
    step_y,
)

UNREACHABLE: Final = 999
"""`distance` when nothing of the kind is known or reachable."""
_NEARBY: Final = 40
_FLOORS: Final = (1 << GRASS) | (1 << PATH) | (1 << SAND) | (1 << LAVA)
"""A bit for each material that turning towards would step onto."""


@compiled
def enter(memory: Record, direction: int) -> int:
    """Next action to be in the neighbouring cell: walk, dig, bridge, or strike what stands there.

    None when the cell cannot be entered: lava, a plant, water without a stone. Where an arrow would
    hit, the player waits for it to pass.
    """
    x = memory.x + step_x(direction)
    y = memory.y + step_y(direction)
    material = material_at(memory, x, y)
    creature = creature_at(memory, x, y)
    turned = memory.facing == direction
    if creature in (COW, ZOMBIE, SKELETON):
        return DO if turned else MOVE_LEFT + direction
    if creature == ARROW:
        return MOVE_LEFT + direction
    if creature > 0 or material in (LAVA, -1):
        return NONE
    if is_floor(material) and is_hit_soon(memory, x, y, 2):
        return NOOP  # let the arrow pass
    if is_floor(material) or not turned:
        return MOVE_LEFT + direction
    if material == WATER:
        return PLACE_STONE if has_stone(memory) else NONE
    return DO


@compiled
def go(memory: Record, search: Record, x: int, y: int) -> int:
    """Next action on the best way to a cell; None when it is reached or out of reach."""
    direction = first_direction(memory, search, x, y)
    return NONE if direction < 0 else enter(memory, direction)


@compiled
def face(memory: Record, direction: int) -> int:
    """Turn to a neighbouring cell that blocks the way, then "do"."""
    return DO if memory.facing == direction else MOVE_LEFT + direction


@compiled
def _go_beside(memory: Record, search: Record, cell: int, side: int) -> int:
    """Next action towards a cell that blocks the way, coming from one side of it."""
    x = cell // SIZE + step_x(side)
    y = cell % SIZE + step_y(side)
    if x == memory.x and y == memory.y:
        return face(memory, side ^ 1)
    return go(memory, search, x, y)


@compiled
def is_in_front(memory: Record, material: int) -> bool:
    """Whether the faced cell is of a material, with no creature on it."""
    x = memory.x + step_x(memory.facing)
    y = memory.y + step_y(memory.facing)
    return material_at(memory, x, y) == material and creature_at(memory, x, y) == 0


@compiled
def approach_material(players: Rows, index: int, material: int) -> int:
    """Next action towards having the nearest one in front; "do" once it is."""
    memory = players[index].memory
    search = players[index].search
    if (_FLOORS >> material) & 1:
        if is_in_front(memory, material):
            return DO
        find_ways(memory, search)
        return go_facing(memory, search, 1 << material, 0, FAR - 1)
    find_ways(memory, search)
    if nearest_material(memory, search, material) == FAR:
        return NONE
    return _go_beside(memory, search, search.nearest_cell[material], search.nearest_side[material])


@compiled
def approach_creature(players: Rows, index: int, kind: int) -> int:
    """Next action towards having the nearest creature of a kind in front; "do" once it is."""
    memory = players[index].memory
    search = players[index].search
    cost, cell, side = nearest_creature(memory, search, kind)
    return NONE if cost == FAR else _go_beside(memory, search, cell, side)


@compiled
def distance_to_material(players: Rows, index: int, material: int) -> int:
    """Frames to stand beside the nearest one; `UNREACHABLE` when there is none."""
    memory = players[index].memory
    search = players[index].search
    find_ways(memory, search)
    if (_FLOORS >> material) & 1:
        if is_in_front(memory, material):
            return 0
        cost, before, _ = nearest_facing(memory, search, 1 << material, 0, FAR - 1)
        if cost == FAR:
            return UNREACHABLE
        frames = int(search.frames[before // SIZE, before % SIZE])
        return min(frames + 1, UNREACHABLE - 1)
    if nearest_material(memory, search, material) == FAR:
        return UNREACHABLE
    return frames_beside(search, search.nearest_cell[material], search.nearest_side[material])


@compiled
def distance_to_creature(players: Rows, index: int, kind: int) -> int:
    """Frames to stand beside the nearest creature of a kind; `UNREACHABLE` without one."""
    memory = players[index].memory
    search = players[index].search
    find_ways(memory, search)
    cost, cell, side = nearest_creature(memory, search, kind)
    return UNREACHABLE if cost == FAR else frames_beside(search, cell, side)


@compiled
def frames_beside(search: Record, cell: int, side: int) -> int:
    """Frames of the way to one side of a cell, below `UNREACHABLE`."""
    frames = search.frames[cell // SIZE + step_x(side), cell % SIZE + step_y(side)]
    return min(int(frames), UNREACHABLE - 1)


@compiled
def go_facing(memory: Record, search: Record, wanted: int, keep: int, farthest: int) -> int:
    """Next action towards a free cell of a wanted material in front, by walking at it."""
    cost, before, direction = nearest_facing(memory, search, wanted, keep, farthest)
    if cost == FAR:
        return NONE
    x = before // SIZE
    y = before % SIZE
    if x == memory.x and y == memory.y:
        return enter(memory, direction)
    return go(memory, search, x, y)


@compiled
def step_near(players: Rows, index: int, first: int, second: int) -> int:
    """Next action towards having the materials in the 3 x 3 around the player."""
    memory = players[index].memory
    search = players[index].search
    if is_near(memory, first) and is_near(memory, second):
        return NOOP
    find_ways(memory, search)
    cell = nearest_with_near(memory, search, first, second)
    return NONE if cell < 0 else go(memory, search, cell // SIZE, cell % SIZE)


@compiled
def explore(players: Rows, index: int, land: int) -> int:
    """Next action towards the edge of what is known."""
    memory = players[index].memory
    search = players[index].search
    find_ways(memory, search)
    cell = nearest_frontier(memory, search, land)
    if cell < 0:
        return NONE
    memory.heading_x = cell // SIZE
    memory.heading_y = cell % SIZE
    return go(memory, search, memory.heading_x, memory.heading_y)


@compiled
def step_to_place(players: Rows, index: int, placing: int, takes: int) -> int:
    """Next action towards a cell in front that can take the thing; then the placing action.

    `takes` has a bit for each material that the thing may be put on.
    """
    memory = players[index].memory
    search = players[index].search
    if can_take(memory, memory.facing, 1, takes):
        return placing
    # A furnace is of use only together with a table, so the table is not left behind.
    keep = TABLE if placing == PLACE_FURNACE and is_near(memory, TABLE) else 0
    best = NONE
    best_rank = FAR
    for direction in range(4):
        action, rank = _turn_to_place(memory, direction, takes, keep)
        rank = 10 * rank + _order(action)
        if action != NONE and rank < best_rank:
            best = action
            best_rank = rank
    if best != NONE:
        return best
    find_ways(memory, search)
    return go_facing(memory, search, takes & _FLOORS, keep, _NEARBY)


@compiled
def _turn_to_place(memory: Record, direction: int, takes: int, keep: int) -> tuple[int, int]:
    """Action that makes a place in one direction, and its rank: the lower the better."""
    x = memory.x + step_x(direction)
    y = memory.y + step_y(direction)
    if creature_at(memory, x, y) > 0:
        return NONE, 0
    material = material_at(memory, x, y)
    if is_in(leaves(memory, material), takes):
        return face(memory, direction), 0 if memory.facing == direction else 3
    if is_in(material, takes & ~_FLOORS):
        return MOVE_LEFT + direction, 1
    if (
        is_free(memory, x, y)
        and can_take(memory, direction, 2, takes)
        and (keep == 0 or has_near(memory, x, y, keep))
    ):
        return MOVE_LEFT + direction, 2
    return NONE, 0


@compiled
def _order(action: int) -> int:
    """Place of an action in the alphabet, which decides between equally good ones."""
    if action == DO:
        return 0
    if action == MOVE_DOWN:
        return 1
    return 2 if action == MOVE_LEFT else 3 + int(action != MOVE_RIGHT)


@compiled
def is_in(material: int, materials: int) -> bool:
    """Whether a material is one of those that have their bit set; -1 never is."""
    return material >= 0 and (materials >> material) & 1 == 1


@compiled
def can_take(memory: Record, direction: int, steps: int, takes: int) -> bool:
    """Whether a cell some steps ahead is of one of the materials and free of creatures."""
    x = memory.x + steps * step_x(direction)
    y = memory.y + steps * step_y(direction)
    return is_in(material_at(memory, x, y), takes) and creature_at(memory, x, y) == 0


@compiled
def leaves(memory: Record, material: int) -> int:
    """What collecting a material leaves behind, 0 when it cannot be collected now."""
    held = memory.inventory
    if material == TREE:
        return GRASS
    if material in (STONE, COAL):
        return PATH if held[WOOD_PICKAXE] > 0 else 0
    if material == IRON:
        return PATH if held[STONE_PICKAXE] > 0 else 0
    if material == DIAMOND:
        return PATH if held[IRON_PICKAXE] > 0 else 0
    return 0
