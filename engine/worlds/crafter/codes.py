"""Numbers for names: what arrays and compiled code use in place of strings.

The order is the package's own (a test compares them); `0` is always "nothing known" or "none".
"""

from __future__ import annotations

from typing import Final

SIZE: Final = 64
VIEW_WIDTH: Final = 9
VIEW_HEIGHT: Final = 7
REACH_X: Final = 4
REACH_Y: Final = 3
START: Final = (32, 32)

UNKNOWN: Final = 0
WATER: Final = 1
GRASS: Final = 2
STONE: Final = 3
PATH: Final = 4
SAND: Final = 5
TREE: Final = 6
LAVA: Final = 7
COAL: Final = 8
IRON: Final = 9
DIAMOND: Final = 10
TABLE: Final = 11
FURNACE: Final = 12
MATERIALS: Final = (
    "unknown", "water", "grass", "stone", "path", "sand", "tree", "lava", "coal", "iron",
    "diamond", "table", "furnace",
)  # fmt: skip
MATERIAL_CODE: Final = {name: code for code, name in enumerate(MATERIALS) if code}
WALKABLE: Final = frozenset({GRASS, PATH, SAND})

COW: Final = 1
ZOMBIE: Final = 2
SKELETON: Final = 3
ARROW: Final = 4
PLANT: Final = 5
RIPE_PLANT: Final = 6
CREATURES: Final = ("none", "cow", "zombie", "skeleton", "arrow", "plant", "ripe_plant")
CREATURE_CODE: Final = {name: code for code, name in enumerate(CREATURES) if code}

HEALTH: Final = 0
FOOD: Final = 1
DRINK: Final = 2
ENERGY: Final = 3
SAPLING: Final = 4
WOOD_ITEM: Final = 5
STONE_ITEM: Final = 6
WOOD_PICKAXE: Final = 10
STONE_PICKAXE: Final = 11
IRON_PICKAXE: Final = 12
ITEMS: Final = (
    "health", "food", "drink", "energy", "sapling", "wood", "stone", "coal", "iron", "diamond",
    "wood_pickaxe", "stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword", "iron_sword",
)  # fmt: skip
ITEM_CODE: Final = {name: code for code, name in enumerate(ITEMS)}
VITALS: Final = 4
"""The first items are health, food, drink and energy: they change by themselves."""
MOST: Final = 9

DIRECTIONS: Final = ((-1, 0), (1, 0), (0, -1), (0, 1))
MOVES: Final = ("move_left", "move_right", "move_up", "move_down")
MOVE: Final = dict(zip(DIRECTIONS, MOVES, strict=True))
DIRECTION: Final = dict(zip(MOVES, DIRECTIONS, strict=True))
"""Move action to the direction it faces."""

NONE: Final = -1
"""No action: what compiled suggestions give where the stub's give None."""
NOOP: Final = 0
MOVE_LEFT: Final = 1
MOVE_RIGHT: Final = 2
MOVE_UP: Final = 3
MOVE_DOWN: Final = 4
"""The action that moves in a direction is 1 + the direction's index."""
DO: Final = 5
PLACE_STONE: Final = 7
PLACE_FURNACE: Final = 9
ACHIEVEMENTS: Final = 22
