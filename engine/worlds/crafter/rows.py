"""A player's mind as one record of fixed size, and what compiled code asks of it.

Compiled code gets the array of all players' records (`PLAYER`) as one argument. Of a record,
`memory` is what the player knows and is all that a snapshot needs; `search` and `detour` are work
space of `navigation`, valid within one frame. Maps are indexed [x, y]; a cell as one number is
`x * SIZE + y`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.codes import (
    ACHIEVEMENTS,
    CREATURES,
    GRASS,
    ITEMS,
    MATERIALS,
    PATH,
    REACH_X,
    REACH_Y,
    SAND,
    SIZE,
    STONE_ITEM,
    VIEW_HEIGHT,
    VIEW_WIDTH,
)
from engine.worlds.crafter.compiled import compiled

Record = Any
"""One record of a layout below: fields are attributes in compiled code."""
Rows = NDArray[np.void]
"""An array of `PLAYER` records."""

RECENT: Final = 14
"""Places remembered to notice going back and forth."""
FRESH_STONES: Final = 8
"""More stones than can be fresh at once: one is put a frame, and each stays so for 4 frames."""
BUCKETS: Final = 32
QUEUE: Final = 4 * SIZE * SIZE + 1
_CELLS: Final = SIZE * SIZE
_IN_VIEW: Final = VIEW_WIDTH * VIEW_HEIGHT

MEMORY: Final = np.dtype(
    [
        ("known", np.uint8, (SIZE, SIZE)),
        ("creatures", np.uint8, (SIZE, SIZE)),  # in view now
        ("material_counts", np.int32, (len(MATERIALS),)),
        # Creatures in view, column by column; a heading is 1 + a direction, 0 for none.
        ("seen_count", np.int32),
        ("seen_kind", np.uint8, (_IN_VIEW,)),
        ("seen_x", np.uint8, (_IN_VIEW,)),
        ("seen_y", np.uint8, (_IN_VIEW,)),
        ("seen_heading", np.uint8, (_IN_VIEW,)),
        # Cows and plants where they were last seen, each cell once.
        ("animal_count", np.int32),
        ("animal_kind", np.uint8, (_CELLS,)),
        ("animal_cell", np.uint16, (_CELLS,)),
        ("creature_counts", np.int32, (len(CREATURES),)),  # in view, or remembered
        ("x", np.int32),
        ("y", np.int32),
        ("facing", np.int32),  # index into DIRECTIONS
        ("frames", np.int32),
        ("inventory", np.uint8, (len(ITEMS),)),
        ("sleeping", np.bool_),
        ("daylight", np.float64),
        ("unlocked", np.uint8, (ACHIEVEMENTS,)),
        ("heading_x", np.int32),  # where exploring leads to, -1 for nowhere
        ("heading_y", np.int32),
        # A room in the making: entered from a cell in a direction, two cells long.
        ("room_stage", np.int32),  # NO_ROOM for none
        ("room_x", np.int32),
        ("room_y", np.int32),
        ("room_direction", np.int32),
        ("room_since", np.int32),
        # The last places, oldest first.
        ("recent_count", np.int32),
        ("recent", np.uint16, (RECENT,)),
        ("impatient_until", np.int32),
        ("fresh_count", np.int32),
        ("fresh_cell", np.uint16, (FRESH_STONES,)),
        ("fresh_until", np.int32, (FRESH_STONES,)),
    ],
    align=True,
)
SEARCH: Final = np.dtype(
    [
        ("begun", np.bool_),
        ("start", np.int32),
        ("prices", np.int32, (len(MATERIALS),)),
        ("durations", np.int32, (len(MATERIALS),)),
        ("extra", np.uint8, (SIZE, SIZE)),
        ("marked_count", np.int32),
        ("marked", np.uint16, (_CELLS,)),  # cells with an extra price
        ("level", np.int32),  # every cell that costs less is settled
        ("cost", np.int32, (SIZE, SIZE)),
        ("frames", np.int32, (SIZE, SIZE)),
        ("back", np.int8, (SIZE, SIZE)),
        ("settled", np.int32),
        ("order", np.uint16, (_CELLS,)),  # settled cells, by rising cost
        ("nearest_cost", np.int32, (len(MATERIALS),)),
        ("nearest_cell", np.int32, (len(MATERIALS),)),
        ("nearest_side", np.int32, (len(MATERIALS),)),
        ("heads", np.int32, (BUCKETS,)),
        ("used", np.int32),
        ("waiting", np.int32),
        ("following", np.int32, (QUEUE,)),
        ("cells", np.uint16, (QUEUE,)),
    ],
    align=True,
)
PLAYER: Final = np.dtype([("memory", MEMORY), ("search", SEARCH), ("detour", SEARCH)], align=True)
NO_ROOM: Final = -1


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
def direction_of(dx: int, dy: int) -> int:
    """The direction of a step of length 1."""
    if dx != 0:
        return 0 if dx < 0 else 1
    return 2 if dy < 0 else 3


@compiled
def inside(x: int, y: int) -> bool:
    """Whether a cell is on the map."""
    return x >= 0 and y >= 0 and x < SIZE and y < SIZE


@compiled
def is_floor(material: int) -> bool:
    """Whether a player can walk on it."""
    return material in (GRASS, PATH, SAND)


@compiled
def material_at(memory: Record, x: int, y: int) -> int:
    """Code of the remembered material; -1 outside the map."""
    return int(memory.known[x, y]) if inside(x, y) else -1


@compiled
def creature_at(memory: Record, x: int, y: int) -> int:
    """Code of the creature in view; 0 for none."""
    return int(memory.creatures[x, y]) if inside(x, y) else 0


@compiled
def is_free(memory: Record, x: int, y: int) -> bool:
    """Whether the player could step there."""
    return is_floor(material_at(memory, x, y)) and creature_at(memory, x, y) == 0


@compiled
def has_stone(memory: Record) -> bool:
    """Whether the player holds a stone."""
    return bool(memory.inventory[STONE_ITEM] > 0)


@compiled
def count_in_view(memory: Record, material: int) -> int:
    """Cells of a material in the view around the player."""
    found = 0
    for x in range(max(0, memory.x - REACH_X), min(SIZE, memory.x + REACH_X + 1)):
        for y in range(max(0, memory.y - REACH_Y), min(SIZE, memory.y + REACH_Y + 1)):
            found += int(memory.known[x, y] == material)
    return found


@compiled
def is_in_view(memory: Record, kind: int) -> bool:
    """Whether a creature of a kind is in view."""
    found = False
    for number in range(memory.seen_count):
        found = found or memory.seen_kind[number] == kind
    return found


@compiled
def has_near(memory: Record, x: int, y: int, material: int) -> bool:
    """Whether the 3 x 3 around a cell has a material, as crafting there would find.

    On the first row and column the game's own search finds nothing at all.
    """
    if x < 1 or y < 1:
        return False
    for a in range(x - 1, min(x + 2, SIZE)):
        for b in range(y - 1, min(y + 2, SIZE)):
            if memory.known[a, b] == material:
                return True
    return False


@compiled
def is_near(memory: Record, material: int) -> bool:
    """Whether crafting would find the material around the player."""
    return has_near(memory, memory.x, memory.y, material)
