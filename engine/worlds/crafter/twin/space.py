"""Where things are and where they can go: the package's world and the base of its objects."""

from __future__ import annotations

from engine.worlds.crafter.codes import SIZE
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.twin.state import (
    ARRIVAL,
    CHUNK,
    CHUNK_ROWS,
    CLOCK,
    COLUMNS,
    HEADING_X,
    HEADING_Y,
    KIND,
    LIFE,
    SLACK,
    Place,
    X,
    Y,
)
from engine.worlds.crafter.twin.tables import Rules


@compiled
def inside(x: int, y: int) -> bool:
    """Whether a cell is on the map."""
    return 0 <= x < SIZE and 0 <= y < SIZE


@compiled
def is_free(place: Place, rules: Rules, x: int, y: int, who: int) -> bool:
    """Whether nothing is on a cell and its material lets `who` (of `tables`) be there."""
    return inside(x, y) and place.rows[x, y] == 0 and rules.free[who, place.materials[x, y]]


@compiled
def distance(place: Place, row: int, x: int, y: int) -> int:
    """Steps along both axes from a thing to a cell."""
    dx, dy = place.things[row, X] - x, place.things[row, Y] - y
    return int(abs(dx) + abs(dy))


@compiled
def add(place: Place, kind: int, x: int, y: int, life: int) -> int:
    """Put a thing on an empty cell, last in order; returns its row."""
    row = place.used
    place.used += 1
    place.alive += 1
    thing = place.things[row]
    thing[KIND] = kind
    thing[X] = x
    thing[Y] = y
    thing[LIFE] = life
    thing[CLOCK] = 0
    thing[HEADING_X] = 0
    thing[HEADING_Y] = 0
    place.rows[x, y] = row + 1
    _arrive(place, row)
    return int(row)


@compiled
def remove(place: Place, row: int) -> None:
    """Take a thing off the map; its row stays, so that it can finish its turn."""
    thing = place.things[row]
    place.rows[thing[X], thing[Y]] = 0
    thing[KIND] = 0
    place.alive -= 1


@compiled
def move(place: Place, rules: Rules, row: int, dx: int, dy: int, who: int) -> bool:
    """Go one cell if it is free; a thing that was removed stays where it was."""
    thing = place.things[row]
    x, y = thing[X] + dx, thing[Y] + dy
    if not is_free(place, rules, x, y, who):
        return False
    if thing[KIND] == 0:
        return True
    before = _chunk(thing[X], thing[Y])
    place.rows[thing[X], thing[Y]] = 0
    place.rows[x, y] = row + 1
    thing[X] = x
    thing[Y] = y
    if _chunk(x, y) != before:
        _arrive(place, row)
    return True


@compiled
def close_gaps(place: Place) -> None:
    """Move all rows together, in their order, once many belong to removed things."""
    if place.used - place.alive <= SLACK:
        return
    kept = 0
    for row in range(place.used):
        thing = place.things[row]
        if thing[KIND] == 0:
            continue
        if kept < row:
            for column in range(COLUMNS):
                place.things[kept, column] = thing[column]
            place.rows[thing[X], thing[Y]] = kept + 1
        kept += 1
    place.used = kept


@compiled
def _chunk(x: int, y: int) -> int:
    return x // CHUNK * CHUNK_ROWS + y // CHUNK


@compiled
def _arrive(place: Place, row: int) -> None:
    """A chunk lists its things in order of arrival, and the world its chunks in order of use."""
    place.arrivals += 1
    place.things[row, ARRIVAL] = place.arrivals
    chunk = _chunk(place.things[row, X], place.things[row, Y])
    for index in range(place.chunk_count):
        if place.chunks[index] == chunk:
            return
    place.chunks[place.chunk_count] = chunk
    place.chunk_count += 1
