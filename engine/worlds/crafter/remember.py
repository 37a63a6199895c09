"""Compiled: take what players see into their memories, one frame at a time.

The position is kept by dead reckoning: the player starts in the middle of a map of known size and
knows the rule when a step succeeds. Nothing here ever reads a game.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.codes import (
    COW,
    DO,
    ENERGY,
    LAVA,
    MOST,
    MOVE_DOWN,
    MOVE_LEFT,
    PLANT,
    REACH_X,
    REACH_Y,
    RIPE_PLANT,
    SIZE,
    SKELETON,
    VIEW_HEIGHT,
    VIEW_WIDTH,
    VITALS,
    ZOMBIE,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.rows import (
    RECENT,
    Record,
    Rows,
    creature_at,
    inside,
    is_free,
    material_at,
    step_x,
    step_y,
)

_Bytes = NDArray[np.uint8]
_Flags = NDArray[np.bool_]
_FEW_PLACES: Final = 3
_IMPATIENT_FRAMES: Final = 15
_CALM_FRAMES: Final = 5


@compiled
def look(
    players: Rows,
    index: int,
    materials: _Bytes,
    creatures: _Bytes,
    arrows: _Bytes,
    inventory: _Bytes,
    facing: _Bytes,
    sleeping: _Flags,
    daylight: NDArray[np.float64],
    unlocked: _Flags,
) -> None:
    """Take in a view without time passing; the arrays are those of `Percepts`."""
    player = players[index]
    memory = player.memory
    memory.facing = facing[index]
    memory.sleeping = sleeping[index]
    memory.daylight = daylight[index]
    for item in range(inventory.shape[1]):
        memory.inventory[item] = inventory[index, item]
    for number in range(unlocked.shape[1]):
        memory.unlocked[number] = unlocked[index, number]
    player.search.begun = False
    _forget_creatures(memory)
    left = memory.x - REACH_X
    top = memory.y - REACH_Y
    for column in range(VIEW_WIDTH):
        for row in range(VIEW_HEIGHT):
            x = left + column
            y = top + row
            if not inside(x, y):
                continue
            material = materials[index, column, row]
            before = memory.known[x, y]
            if material != before:
                memory.material_counts[before] -= 1
                memory.material_counts[material] += 1
                memory.known[x, y] = material
            creature = creatures[index, column, row]
            if creature > 0:
                _notice(memory, x, y, creature, arrows[index, column, row])


@compiled
def _forget_creatures(memory: Record) -> None:
    """Forget what was in view, and cows and plants where there is a view now."""
    for number in range(memory.seen_count):
        memory.creatures[memory.seen_x[number], memory.seen_y[number]] = 0
    memory.seen_count = 0
    memory.creature_counts[:] = 0
    kept = 0
    for number in range(memory.animal_count):
        cell = memory.animal_cell[number]
        in_view = abs(cell // SIZE - memory.x) <= REACH_X and abs(cell % SIZE - memory.y) <= REACH_Y
        if not in_view:
            kind = memory.animal_kind[number]
            memory.animal_cell[kept] = cell
            memory.animal_kind[kept] = kind
            memory.creature_counts[kind] += 1
            kept += 1
    memory.animal_count = kept


@compiled
def _notice(memory: Record, x: int, y: int, kind: int, heading: int) -> None:
    number = memory.seen_count
    memory.seen_kind[number] = kind
    memory.seen_x[number] = x
    memory.seen_y[number] = y
    memory.seen_heading[number] = heading
    memory.seen_count = number + 1
    memory.creatures[x, y] = kind
    memory.creature_counts[kind] += 1
    if kind in (COW, PLANT, RIPE_PLANT):
        memory.animal_kind[memory.animal_count] = kind
        memory.animal_cell[memory.animal_count] = x * SIZE + y
        memory.animal_count += 1


@compiled
def update(
    players: Rows,
    active: _Flags,
    actions: NDArray[np.int64],
    changed: _Flags,
    materials: _Bytes,
    creatures: _Bytes,
    arrows: _Bytes,
    inventory: _Bytes,
    facing: _Bytes,
    sleeping: _Flags,
    daylight: NDArray[np.float64],
    unlocked: _Flags,
) -> None:
    """Take in what is seen one frame after the actions, for every active player.

    `changed` is filled with what `act` of the stub returns: whether the action had an effect, as a
    player can tell. Hunger, thirst and wounds come by themselves, so a vital counts only where it
    rose; a blow at a creature always lands.
    """
    for index in range(len(players)):
        if not active[index]:
            continue
        memory = players[index].memory
        action = actions[index]
        x = memory.x
        y = memory.y
        front_x = x + step_x(memory.facing)
        front_y = y + step_y(memory.facing)
        front = material_at(memory, front_x, front_y)
        creature = creature_at(memory, front_x, front_y)
        slept = memory.sleeping
        struck = creature in (COW, ZOMBIE, SKELETON, RIPE_PLANT)
        effect = facing[index] != memory.facing or _gained(memory, inventory, index)
        _move(memory, action)
        memory.frames += 1
        look(
            players, index, materials, creatures, arrows, inventory, facing, sleeping, daylight,
            unlocked,
        )  # fmt: skip
        _settle(memory)
        ahead_x = memory.x + step_x(memory.facing)
        ahead_y = memory.y + step_y(memory.facing)
        effect = effect or memory.x != x or memory.y != y
        effect = effect or material_at(memory, ahead_x, ahead_y) != front
        effect = effect or (memory.sleeping and not slept)
        effect = effect or (action == DO and struck and not (slept and memory.sleeping))
        changed[index] = effect


@compiled
def _gained(memory: Record, inventory: _Bytes, index: int) -> bool:
    """Whether food, drink or energy rose, or anything that is carried changed."""
    for item in range(1, inventory.shape[1]):
        now = inventory[index, item]
        before = memory.inventory[item]
        if now > before or (item >= VITALS and now != before):
            return True
    return False


@compiled
def _move(memory: Record, action: int) -> None:
    """Reckon the position: a step succeeds when the cell ahead was free."""
    asleep = memory.sleeping and memory.inventory[ENERGY] < MOST
    if action < MOVE_LEFT or action > MOVE_DOWN or asleep:
        return
    x = memory.x + step_x(action - MOVE_LEFT)
    y = memory.y + step_y(action - MOVE_LEFT)
    into_lava = material_at(memory, x, y) == LAVA and creature_at(memory, x, y) == 0
    if is_free(memory, x, y) or into_lava:
        memory.x = x
        memory.y = y


@compiled
def _settle(memory: Record) -> None:
    """Note the place reached, and let what is past be past."""
    if memory.recent_count < RECENT:
        memory.recent_count += 1
    else:
        for number in range(1, RECENT):
            memory.recent[number - 1] = memory.recent[number]
    memory.recent[memory.recent_count - 1] = memory.x * SIZE + memory.y
    if (
        memory.recent_count == RECENT
        and memory.frames > memory.impatient_until + _CALM_FRAMES
        and _few_places(memory)
    ):
        # Going back and forth because a creature comes into and out of view: mind it less.
        memory.impatient_until = memory.frames + _IMPATIENT_FRAMES
    kept = 0
    for number in range(memory.fresh_count):
        if memory.fresh_until[number] >= memory.frames:
            memory.fresh_cell[kept] = memory.fresh_cell[number]
            memory.fresh_until[kept] = memory.fresh_until[number]
            kept += 1
    memory.fresh_count = kept


@compiled
def _few_places(memory: Record) -> bool:
    places = 0
    for number in range(RECENT):
        new = True
        for earlier in range(number):
            if memory.recent[earlier] == memory.recent[number]:
                new = False
        if new:
            places += 1
            if places > _FEW_PLACES:
                return False
    return True
