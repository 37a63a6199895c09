"""What the player of a place sees, written into a row of `Percepts`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.codes import (
    ARROW,
    DIRECTIONS,
    PLANT,
    REACH_X,
    REACH_Y,
    RIPE_PLANT,
    VIEW_HEIGHT,
    VIEW_WIDTH,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.twin.body import RIPE
from engine.worlds.crafter.twin.space import inside
from engine.worlds.crafter.twin.state import (
    CLOCK,
    HEADING_X,
    HEADING_Y,
    KIND,
    Place,
    Places,
    Thing,
    X,
    Y,
)

Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]


@compiled
def perceive_all(
    places: Places,
    first: int,
    end: int,
    materials: Bytes,
    creatures: Bytes,
    arrows: Bytes,
    inventory: Bytes,
    facing: Bytes,
    sleeping: Flags,
    daylight: NDArray[np.float64],
    unlocked: Flags,
) -> None:
    """Write the rows `first` to below `end` of the arrays of `Percepts`."""
    for index in range(first, end):
        place: Place = places[index]
        _see(place, materials[index], creatures[index], arrows[index])
        for item in range(inventory.shape[1]):
            inventory[index, item] = place.inventory[item]
        for number in range(unlocked.shape[1]):
            unlocked[index, number] = place.counts[number] > 0
        facing[index] = place.facing
        sleeping[index] = place.sleeping > 0
        daylight[index] = place.daylight


@compiled
def _see(place: Place, materials: Bytes, creatures: Bytes, arrows: Bytes) -> None:
    """The cells around the player, each array of shape (9, 7)."""
    left, top = place.things[0, X] - REACH_X, place.things[0, Y] - REACH_Y
    for column in range(VIEW_WIDTH):
        for line in range(VIEW_HEIGHT):
            x, y = left + column, top + line
            materials[column, line] = 0
            creatures[column, line] = 0
            arrows[column, line] = 0
            if not inside(x, y):
                continue
            materials[column, line] = place.materials[x, y]
            row = place.rows[x, y] - 1
            if row > 0:  # row 0 is the player
                thing = place.things[row]
                creatures[column, line] = _looks(thing)
                if thing[KIND] == ARROW:
                    arrows[column, line] = 1 + _heading(thing)


@compiled
def _looks(thing: Thing) -> int:
    if thing[KIND] == PLANT and thing[CLOCK] > RIPE:
        return RIPE_PLANT
    return int(thing[KIND])


@compiled
def _heading(thing: Thing) -> int:
    for index, (dx, dy) in enumerate(DIRECTIONS):
        if thing[HEADING_X] == dx and thing[HEADING_Y] == dy:
            return index
    return 0
