"""Compiled suggestions that keep the player alive: out of an arrow's path, into a closed room.

Each gives the number of an action, `NONE` where the stub gives None.
"""

from __future__ import annotations

from typing import Final

from engine.worlds.crafter.arrows import ARROW_REACH, frames_to_hit, is_hit_soon
from engine.worlds.crafter.codes import (
    ARROW,
    MOVE_LEFT,
    NONE,
    PLACE_STONE,
    PLANT,
    SIZE,
    SKELETON,
    WOOD_PICKAXE,
    ZOMBIE,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.moves import enter, face, go, leaves
from engine.worlds.crafter.navigation import BLOCKED, begin_search, find_ways, mark
from engine.worlds.crafter.rooms import cheapest_room, is_enclosed, would_close
from engine.worlds.crafter.rows import (
    FRESH_STONES,
    NO_ROOM,
    Record,
    Rows,
    creature_at,
    direction_of,
    has_stone,
    is_floor,
    is_free,
    material_at,
    step_x,
    step_y,
)
from engine.worlds.crafter.stones import put_stone, step_off

NOTHING_NEAR: Final = 99
"""`threat` when no zombie, skeleton or arrow is in view."""
_KEEP_STONE: Final = 4
_ROOM_PATIENCE: Final = 70
_DETOUR: Final = 12
_SEALING: Final = 0
_ENTERING: Final = 1
_CLOSING: Final = 2
_SEALED: Final = -2
"""Not an action: all sides of a room are closed."""


@compiled
def threat(memory: Record) -> int:
    """Distance of the nearest zombie, skeleton or arrow in view, both axes summed."""
    nearest = NOTHING_NEAR
    for number in range(memory.seen_count):
        if memory.seen_kind[number] in (ZOMBIE, SKELETON, ARROW):
            dx = abs(memory.seen_x[number] - memory.x)
            dy = abs(memory.seen_y[number] - memory.y)
            nearest = min(nearest, dx + dy)
    return nearest


@compiled
def danger(memory: Record) -> bool:
    """Whether something is about to hit: a zombie beside the player, or an arrow flying at it."""
    for number in range(memory.seen_count):
        dx = abs(memory.seen_x[number] - memory.x)
        dy = abs(memory.seen_y[number] - memory.y)
        if memory.seen_kind[number] == ZOMBIE and dx + dy == 1:
            return True
    return is_hit_soon(memory, memory.x, memory.y, ARROW_REACH)


@compiled
def dodge(players: Rows, index: int) -> int:
    """Action that leaves the path of an arrow about to hit, or blocks it with a stone.

    Where there is no free cell at the side, one is dug if there is time.
    """
    memory = players[index].memory
    for number in range(memory.seen_count):
        steps = frames_to_hit(memory, number, memory.x, memory.y)
        if steps == 0:
            continue
        heading = memory.seen_heading[number] - 1
        x = memory.x + step_x(memory.facing)
        y = memory.y + step_y(memory.facing)
        turned = memory.facing == heading ^ 1
        if steps >= 2 and turned and has_stone(memory) and is_free(memory, x, y):
            _keep_stone(memory, x * SIZE + y)
            return PLACE_STONE
        dx = step_x(heading)
        dy = step_y(heading)
        for sign in (1, -1):
            x = memory.x + sign * dy
            y = memory.y + sign * dx
            if is_free(memory, x, y) and not is_hit_soon(memory, x, y, 1):
                return MOVE_LEFT + direction_of(sign * dy, sign * dx)
        side = _side_to_dig(memory, dx, dy, steps)
        if side >= 0:
            return face(memory, side)
    return NONE


@compiled
def _side_to_dig(memory: Record, dx: int, dy: int, frames: int) -> int:
    """A side of the line (dx, dy) that can be dug out and entered in so many frames; -1: none."""
    found = -1
    for sign in (1, -1):
        side = direction_of(sign * dy, sign * dx)
        material = material_at(memory, memory.x + sign * dy, memory.y + sign * dx)
        turned = memory.facing == side
        # To turn, to dig and to step aside takes a frame each.
        if leaves(memory, material) > 0 and frames >= (2 if turned else 3):
            if turned:
                return side
            found = side
    return found


@compiled
def _keep_stone(memory: Record, cell: int) -> None:
    """Do not dig a stone away at once that is to stop an arrow."""
    number = 0
    while number < memory.fresh_count and memory.fresh_cell[number] != cell:
        number += 1
    if number == FRESH_STONES:
        return
    if number == memory.fresh_count:
        memory.fresh_count += 1
    memory.fresh_cell[number] = cell
    memory.fresh_until[number] = memory.frames + _KEEP_STONE


@compiled
def step_to_shelter(players: Rows, index: int) -> int:
    """Next action towards a closed room; None when in one, or when none can be made."""
    player = players[index]
    memory = player.memory
    if is_enclosed(memory):
        memory.room_stage = NO_ROOM
        return NONE
    x = memory.x + step_x(memory.facing)
    y = memory.y + step_y(memory.facing)
    if has_stone(memory) and is_free(memory, x, y) and would_close(memory, x, y):
        return PLACE_STONE
    if memory.inventory[WOOD_PICKAXE] == 0:
        memory.room_stage = NO_ROOM
        return NONE
    if memory.room_stage != NO_ROOM and memory.frames - memory.room_since < _ROOM_PATIENCE:
        action = _build(player)
        if action != NONE:
            return action
    memory.room_stage = NO_ROOM
    find_ways(memory, player.search)
    cell, direction = cheapest_room(memory, player.search)
    if cell < 0:
        return NONE
    memory.room_x = cell // SIZE
    memory.room_y = cell % SIZE
    memory.room_direction = direction
    memory.room_since = memory.frames
    memory.room_stage = _SEALING
    action = _build(player)
    if action == NONE:
        memory.room_stage = NO_ROOM
    return action


@compiled
def _is_at(memory: Record, steps: int) -> bool:
    """Whether the player stands in the room to be, some steps from its entrance."""
    x = memory.room_x + steps * step_x(memory.room_direction)
    y = memory.room_y + steps * step_y(memory.room_direction)
    return bool(memory.x == x and memory.y == y)


@compiled
def _build(player: Record) -> int:
    """Next action of making a room: close its sides, dig in, close its end and its entrance."""
    memory = player.memory
    direction = memory.room_direction
    if memory.room_stage == _SEALING:
        action = _seal(player)
        if action != _SEALED:
            return action
        if not (_is_at(memory, 0) or _is_at(memory, 1) or _is_at(memory, 2)):
            _find_detours(player)
            return go(memory, player.detour, memory.room_x, memory.room_y)
        memory.room_stage = _ENTERING
    if memory.room_stage == _ENTERING:
        if _is_at(memory, 0) or _is_at(memory, 1):
            return enter(memory, direction)
        if not _is_at(memory, 2):
            return NONE
        end_x = memory.room_x + 3 * step_x(direction)
        end_y = memory.room_y + 3 * step_y(direction)
        if is_free(memory, end_x, end_y):
            # Only reached by digging towards it, so it is in front unless something moved it.
            facing_end = memory.facing == direction
            return PLACE_STONE if facing_end and has_stone(memory) else NONE
        memory.room_stage = _CLOSING
    back = direction ^ 1
    if _is_at(memory, 2):
        return enter(memory, back)
    at_door = _is_at(memory, 1) and memory.facing == back
    if at_door and has_stone(memory) and is_free(memory, memory.room_x, memory.room_y):
        return PLACE_STONE
    return NONE


@compiled
def _side(memory: Record, number: int) -> tuple[int, int]:
    """One of the four cells along the sides of the room to be."""
    dx = step_x(memory.room_direction)
    dy = step_y(memory.room_direction)
    steps = 1 if number < 2 else 2
    sign = 1 if number % 2 == 0 else -1
    x = memory.room_x + steps * dx + sign * dy
    y = memory.room_y + steps * dy + sign * dx
    return x, y


@compiled
def _find_detours(player: Record) -> None:
    """Search ways that keep from digging through the walls of the room to be."""
    memory = player.memory
    begin_search(memory, player.detour)
    for number in range(4):
        x, y = _side(memory, number)
        walkable = is_floor(material_at(memory, x, y))
        mark(player.detour, x, y, _DETOUR if walkable else BLOCKED)


@compiled
def _seal(player: Record) -> int:
    """Next action of closing the sides, `_SEALED` when all are closed."""
    memory = player.memory
    for number in range(4):
        x, y = _side(memory, number)
        if not is_floor(material_at(memory, x, y)):
            continue
        creature = creature_at(memory, x, y)
        if creature >= PLANT:
            continue
        if creature > 0 and creature != ARROW:
            return NONE
        if x == memory.x and y == memory.y:
            return step_off(memory)
        _find_detours(player)
        return put_stone(player, x, y)
    return _SEALED
