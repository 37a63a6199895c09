"""Suggestions of one action: go, approach, explore, place. None of them ever steps into lava."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.worlds.crafter import codes
from engine.worlds.crafter.codes import MOVE, WALKABLE
from engine.worlds.crafter.data import crafter_data
from engine.worlds.crafter.memory import Cell, MapMemory, Paths
from engine.worlds.crafter.navigation import (
    ANY_LAND,
    FAR,
    GRASSLAND,
    MOUNTAIN,
    beside,
    has_near,
    nearest_facing,
    nearest_frontier,
    nearest_with_near,
)

UNREACHABLE = 999
"""`distance` when nothing of the kind is known or reachable."""
_NEARBY = 40
_FLOORS = frozenset({*WALKABLE, codes.LAVA})
"""Materials that turning towards would step onto."""
_LANDS = {"any": ANY_LAND, "grass": GRASSLAND, "mountain": MOUNTAIN}


def enter(memory: MapMemory, direction: Cell) -> str | None:
    """Next action to be in the neighbouring cell: walk, dig, bridge, or strike what stands there.

    None when the cell cannot be entered: lava, a plant, water without a stone.
    """
    cell = memory.ahead(direction)
    material, creature = memory.material(cell), memory.creature(cell)
    turned = memory.facing == direction
    if creature in (codes.COW, codes.ZOMBIE, codes.SKELETON):
        return "do" if turned else MOVE[direction]
    if creature == codes.ARROW:
        return MOVE[direction]
    if creature or material in (codes.LAVA, -1):
        return None
    if material in WALKABLE or not turned:
        return MOVE[direction]
    if material == codes.WATER:
        return "place_stone" if memory.holds(codes.STONE_ITEM) else None
    return "do"


def go(memory: MapMemory, cell: Cell, paths: Paths | None = None) -> str | None:
    """Next action on the best way to a cell; None when it is reached or out of reach."""
    direction = (paths or memory.paths).first_step(cell)
    return None if direction is None else enter(memory, direction)


def face(memory: MapMemory, cell: Cell) -> str:
    """Turn to a neighbouring cell that blocks the way, then "do"."""
    direction = (cell[0] - memory.position[0], cell[1] - memory.position[1])
    return "do" if memory.facing == direction else MOVE[direction]


def approach(memory: MapMemory, what: str) -> str | None:
    """Next action towards having the nearest one in front; "do" once it is."""
    if what in codes.CREATURE_CODE:
        return _approach_creature(memory, codes.CREATURE_CODE[what])
    material = codes.MATERIAL_CODE[what]
    if material in _FLOORS:
        if memory.material(memory.front) == material and not memory.creature(memory.front):
            return "do"
        return go_facing(memory, (material,))
    cost, x, y, stand_x, stand_y = memory.paths.nearest[material].tolist()
    if cost >= FAR:
        return None
    if (stand_x, stand_y) == memory.position:
        return face(memory, (x, y))
    return go(memory, (stand_x, stand_y))


def distance(memory: MapMemory, what: str) -> int:
    """Frames to stand beside the nearest one; `UNREACHABLE` when there is none."""
    paths = memory.paths
    if what in codes.CREATURE_CODE:
        target = nearest_creature(memory, codes.CREATURE_CODE[what])
        if target is None:
            return UNREACHABLE
        return min(int(paths.frames[target[1]]), UNREACHABLE - 1)
    material = codes.MATERIAL_CODE[what]
    if material in _FLOORS:
        return _distance_facing(memory, material)
    cost, _, _, x, y = paths.nearest[material].tolist()
    return UNREACHABLE if cost >= FAR else min(int(paths.frames[x, y]), UNREACHABLE - 1)


def nearest_creature(memory: MapMemory, kind: int) -> tuple[Cell, Cell] | None:
    """Cell of the nearest reachable creature and where to stand beside it."""
    best = FAR
    found: tuple[Cell, Cell] | None = None
    for x, y in cells_of(memory, kind):
        cost, a, b = beside(memory.paths.cost, x, y)
        if cost < best:
            best, found = cost, ((x, y), (a, b))
    return found


def cells_of(memory: MapMemory, kind: int) -> list[Cell]:
    """Cells of the creatures of a kind: in view, and where cows and plants were last seen."""
    if kind == codes.COW:
        return sorted(memory.cows)
    if kind in (codes.PLANT, codes.RIPE_PLANT):
        return sorted(cell for cell, seen in memory.plants.items() if seen == kind)
    return [(seen.x, seen.y) for seen in memory.in_view if seen.kind == kind]


def _approach_creature(memory: MapMemory, kind: int) -> str | None:
    found = nearest_creature(memory, kind)
    if found is None:
        return None
    cell, stand = found
    return face(memory, cell) if stand == memory.position else go(memory, stand)


def go_facing(
    memory: MapMemory, materials: Iterable[int], keep: int = 0, farthest: int = FAR - 1
) -> str | None:
    """Next action towards a free cell of one of the materials in front, by walking at it."""
    found = _nearest_facing(memory, materials, keep)
    if found[0] > farthest:
        return None
    stand, before = (found[3], found[4]), (found[5], found[6])
    if before != memory.position:
        return go(memory, before)
    return enter(memory, (stand[0] - before[0], stand[1] - before[1]))


def _nearest_facing(memory: MapMemory, materials: Iterable[int], keep: int = 0) -> list[int]:
    wanted = np.zeros(len(codes.MATERIALS), np.bool_)
    wanted[list(materials)] = True
    paths = memory.paths
    found: list[int] = nearest_facing(
        memory.known, paths.extra, memory.creatures, paths.cost, paths.prices, wanted, keep
    ).tolist()
    return found


def _distance_facing(memory: MapMemory, material: int) -> int:
    if memory.material(memory.front) == material and not memory.creature(memory.front):
        return 0
    found = _nearest_facing(memory, (material,))
    if found[0] >= FAR:
        return UNREACHABLE
    return min(int(memory.paths.frames[found[5], found[6]]) + 1, UNREACHABLE - 1)


def step_near(memory: MapMemory, first: str, second: str | None) -> str | None:
    """Next action towards having the materials in the 3 x 3 around the player."""
    one = codes.MATERIAL_CODE[first]
    two = one if second is None else codes.MATERIAL_CODE[second]
    if memory.near(one) and memory.near(two):
        return "noop"
    cost, x, y = nearest_with_near(memory.known, memory.paths.cost, one, two)
    return None if cost >= FAR else go(memory, (x, y))


def explore(memory: MapMemory, prefer: str) -> str | None:
    """Next action towards the edge of what is known."""
    cell = nearest_frontier(memory.known, memory.paths.cost, _LANDS[prefer], *memory.heading)
    if cell[0] < 0:
        return None
    memory.heading = (int(cell[0]), int(cell[1]))
    return go(memory, memory.heading)


def step_to_place(memory: MapMemory, thing: str) -> str | None:
    """Next action towards a cell in front that can take the thing; then the placing action."""
    takes = _places()[thing]
    if _can_take(memory, memory.front, takes):
        return f"place_{thing}"
    # A furnace is of use only together with a table, so the table is not left behind.
    keep = codes.TABLE if thing == "furnace" and memory.near(codes.TABLE) else 0
    options: list[tuple[int, str]] = []
    for direction in codes.DIRECTIONS:
        cell = memory.ahead(direction)
        turned = memory.facing == direction
        if memory.creature(cell):
            continue
        if _leaves(memory, memory.material(cell)) in takes:
            options.append((0 if turned else 3, face(memory, cell)))
        elif memory.material(cell) in takes - _FLOORS:
            options.append((1, MOVE[direction]))
        elif (
            memory.is_free(cell)
            and _can_take(memory, memory.ahead(direction, 2), takes)
            and (not keep or has_near(memory.known, *cell, keep))
        ):
            options.append((2, MOVE[direction]))
    if options:
        return min(options)[1]
    return go_facing(memory, takes & _FLOORS, keep, _NEARBY)


def _places() -> dict[str, frozenset[int]]:
    """Thing to the materials it may be put on, from the package's own data."""
    return {
        recipe.target: frozenset(codes.MATERIAL_CODE[material] for material in recipe.where)
        for recipe in crafter_data().recipes
        if recipe.kind == "place"
    }


def _can_take(memory: MapMemory, cell: Cell, takes: frozenset[int]) -> bool:
    return memory.material(cell) in takes and memory.creature(cell) == 0


def _leaves(memory: MapMemory, material: int) -> int:
    """What collecting a material leaves behind, 0 when it cannot be collected now."""
    if material == codes.TREE:
        return codes.GRASS
    diggable = {
        codes.STONE: codes.WOOD_PICKAXE,
        codes.COAL: codes.WOOD_PICKAXE,
        codes.IRON: codes.STONE_PICKAXE,
        codes.DIAMOND: codes.IRON_PICKAXE,
    }
    tool = diggable.get(material)
    return codes.PATH if tool is not None and memory.holds(tool) else 0
