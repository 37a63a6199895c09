"""Suggestions that keep the player alive: out of an arrow's path, into a closed room."""

from __future__ import annotations

from engine.worlds.crafter import codes
from engine.worlds.crafter.codes import DIRECTIONS, MOVE, WALKABLE
from engine.worlds.crafter.memory import Cell, MapMemory, Paths, Room
from engine.worlds.crafter.moves import enter, go
from engine.worlds.crafter.navigation import BLOCKED, FAR
from engine.worlds.crafter.rooms import ROOM_CELLS, cheapest_room, closed_room

_ARROW_REACH = 3
_KEEP_STONE = 4
_ROOM_PATIENCE = 70
_DETOUR = 12
_SEALING, _ENTERING, _CLOSING = 0, 1, 2
_ARROW_FLIES_OVER = frozenset({*WALKABLE, codes.WATER, codes.LAVA})


def dodge(memory: MapMemory) -> str | None:
    """Action that leaves the path of an arrow about to hit, or blocks it with a stone."""
    for arrow in memory.in_view:
        steps = _frames_to_hit(memory, arrow.x, arrow.y, arrow.heading)
        if steps == 0:
            continue
        dx, dy = arrow.heading
        if (
            steps >= 2
            and memory.facing == (-dx, -dy)
            and memory.holds(codes.STONE_ITEM)
            and memory.is_free(memory.front)
        ):
            memory.fresh_stones[memory.front] = memory.frames + _KEEP_STONE
            return "place_stone"
        for side in ((dy, dx), (-dy, -dx)):
            if memory.is_free(memory.ahead(side)):
                return MOVE[side]
    return None


def _frames_to_hit(memory: MapMemory, x: int, y: int, heading: Cell) -> int:
    """Cells an arrow has to fly to reach the player; 0 when it will not hit soon."""
    if heading == (0, 0):
        return 0
    dx, dy = heading
    ahead = (memory.position[0] - x, memory.position[1] - y)
    steps = ahead[0] * dx + ahead[1] * dy
    if not 0 < steps <= _ARROW_REACH or ahead != (steps * dx, steps * dy):
        return 0
    between = [(x + step * dx, y + step * dy) for step in range(1, steps)]
    free = all(memory.material(cell) in _ARROW_FLIES_OVER for cell in between)
    return steps if free else 0


def step_to_shelter(memory: MapMemory) -> str | None:
    """Next action towards a closed room; None when in one, or when none can be made."""
    if memory.enclosed:
        memory.room = None
        return None
    if memory.holds(codes.STONE_ITEM) and memory.is_free(memory.front) and _closes(memory):
        return "place_stone"
    if not memory.holds(codes.WOOD_PICKAXE):
        memory.room = None
        return None
    if memory.room is not None and memory.frames - memory.room.since < _ROOM_PATIENCE:
        action = _build(memory, memory.room)
        if action is not None:
            return action
    memory.room = None
    paths = memory.paths
    cost, x, y, direction = cheapest_room(
        memory.known, memory.creatures, paths.cost, paths.prices, memory.holds(codes.STONE_ITEM)
    )
    if cost >= FAR:
        return None
    memory.room = Room((int(x), int(y)), int(direction), memory.frames, _SEALING)
    action = _build(memory, memory.room)
    if action is None:
        memory.room = None
    return action


def _closes(memory: MapMemory) -> bool:
    """Whether a stone in front would close the room the player stands in."""
    known = memory.known.copy()
    known[memory.front] = codes.STONE
    return closed_room(known, memory.creatures, *memory.position, ROOM_CELLS) > 0


def _build(memory: MapMemory, room: Room) -> str | None:
    """Next action of making a room: close its sides, dig in, close its end and its entrance."""
    direction = DIRECTIONS[room.direction]
    first, last, end = (_along(room.entrance, direction, steps) for steps in (1, 2, 3))
    if room.stage == _SEALING:
        action, sealed = _seal(memory, room, first, last)
        if not sealed:
            return action
        if memory.position not in (room.entrance, first, last):
            return go(memory, room.entrance, memory.search(_protected(memory, room)))
        room = _advance(memory, room, _ENTERING)
    if room.stage == _ENTERING:
        if memory.position == room.entrance or memory.position == first:
            return enter(memory, direction)
        if memory.position != last:
            return None
        if memory.is_free(end):
            # Only reached by digging towards it, so it is in front unless something moved it.
            facing_end = memory.facing == direction
            return "place_stone" if facing_end and memory.holds(codes.STONE_ITEM) else None
        room = _advance(memory, room, _CLOSING)
    back = (-direction[0], -direction[1])
    if memory.position == last:
        return enter(memory, back)
    at_door = memory.position == first and memory.facing == back
    if at_door and memory.holds(codes.STONE_ITEM) and memory.is_free(room.entrance):
        return "place_stone"
    return None


def _advance(memory: MapMemory, room: Room, stage: int) -> Room:
    memory.room = room._replace(stage=stage)
    return memory.room


def _along(cell: Cell, direction: Cell, steps: int) -> Cell:
    return cell[0] + steps * direction[0], cell[1] + steps * direction[1]


def _sides(room: Room) -> list[Cell]:
    dx, dy = DIRECTIONS[room.direction]
    cells = [_along(room.entrance, (dx, dy), steps) for steps in (1, 2)]
    return [(x + sign * dy, y + sign * dx) for x, y in cells for sign in (1, -1)]


def _protected(memory: MapMemory, room: Room) -> dict[Cell, int]:
    """Prices that keep the way from digging through the walls of the room to be."""
    return {
        cell: _DETOUR if memory.material(cell) in WALKABLE else BLOCKED for cell in _sides(room)
    }


def _seal(memory: MapMemory, room: Room, first: Cell, last: Cell) -> tuple[str | None, bool]:
    """Next action of closing the sides, and whether all are closed."""
    for side in _sides(room):
        if memory.material(side) not in WALKABLE:
            continue
        creature = memory.creature(side)
        if creature in (codes.PLANT, codes.RIPE_PLANT):
            continue
        if creature and creature != codes.ARROW:
            return None, False
        if side == memory.position:
            return _step_off(memory), False
        return _block(memory, room, side), False
    return None, True


def _step_off(memory: MapMemory) -> str | None:
    for direction in DIRECTIONS:
        if memory.is_free(memory.ahead(direction)):
            return MOVE[direction]
    return None


def _block(memory: MapMemory, room: Room, cell: Cell) -> str | None:
    """Next action of putting a stone on a free cell: come at it in a straight line."""
    if not memory.holds(codes.STONE_ITEM):
        return None
    if memory.front == cell:
        return "place_stone"
    paths = memory.search(_protected(memory, room))
    best = _best_run_up(memory, paths, cell)
    if best is None:
        return None
    stand, before = best
    if memory.position == before:
        return enter(memory, (stand[0] - before[0], stand[1] - before[1]))
    return go(memory, before, paths)


def _best_run_up(memory: MapMemory, paths: Paths, cell: Cell) -> tuple[Cell, Cell] | None:
    """Cells to stand on and to start from so that a step ends facing `cell`."""
    best: tuple[int, Cell, Cell] | None = None
    for direction in DIRECTIONS:
        stand, before = _along(cell, direction, -1), _along(cell, direction, -2)
        if not memory.on_map(before) or not memory.is_free(stand):
            continue
        if not paths.reaches(before):
            continue
        cost = int(paths.cost[before])
        if best is None or cost < best[0]:
            best = (cost, stand, before)
    return None if best is None else (best[1], best[2])
