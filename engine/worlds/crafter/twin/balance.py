"""Creatures that come and go so that every chunk keeps its number, as in the package's `env`."""

from __future__ import annotations

from engine.worlds.crafter.codes import COW, GRASS, PATH, SIZE, SKELETON, ZOMBIE
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.twin.creatures import COW_LIFE, SKELETON_LIFE, ZOMBIE_LIFE
from engine.worlds.crafter.twin.space import add, distance, remove
from engine.worlds.crafter.twin.state import ARRIVAL, CHUNK, CHUNK_ROWS, KIND, Place, X, Y
from engine.worlds.crafter.twin.stream import below, uniform


@compiled
def balance(place: Place) -> None:
    """Go over all chunks that were ever entered, in that order."""
    light = place.daylight
    for index in range(place.chunk_count):
        chunk = int(place.chunks[index])
        grass, path, zombies, skeletons, cows = _survey(place, chunk)
        most = 3.5 - 3 * light
        fewest = most if grass >= 50 else 0.0
        _balance_kind(place, chunk, ZOMBIE, zombies, GRASS, grass, int(fewest), int(most))
        fewest = 1.0 if path >= 6 else 0.0
        _balance_kind(place, chunk, SKELETON, skeletons, PATH, path, int(fewest), 2)
        fewest = 1.0 if grass >= 30 else 0.0
        _balance_kind(place, chunk, COW, cows, GRASS, grass, int(fewest), int(1.5 + light))


@compiled
def _survey(place: Place, chunk: int) -> tuple[int, int, int, int, int]:
    """Cells of grass and path, and how many zombies, skeletons and cows there are."""
    left, top = _corner(chunk)
    grass, path, zombies, skeletons, cows = 0, 0, 0, 0, 0
    for x in range(left, min(left + CHUNK, SIZE)):
        for y in range(top, min(top + CHUNK, SIZE)):
            grass += place.materials[x, y] == GRASS
            path += place.materials[x, y] == PATH
            if place.rows[x, y] > 0:
                kind = place.things[place.rows[x, y] - 1, KIND]
                zombies += kind == ZOMBIE
                skeletons += kind == SKELETON
                cows += kind == COW
    return grass, path, zombies, skeletons, cows


@compiled
def _habits(kind: int) -> tuple[int, int, float, float, int]:
    """Least distance for coming and for going, their probabilities, and the life to start with."""
    if kind == ZOMBIE:
        return 6, 0, 0.3, 0.4, ZOMBIE_LIFE
    if kind == SKELETON:
        return 7, 7, 0.1, 0.1, SKELETON_LIFE
    return 5, 5, 0.01, 0.1, COW_LIFE


@compiled
def _balance_kind(
    place: Place,
    chunk: int,
    kind: int,
    count: int,
    material: int,
    space: int,
    fewest: int,
    most: int,
) -> None:
    """One creature more where there are fewer than `fewest`, one less above `most`, by chance."""
    come_distance, go_distance, come_chance, go_chance, life = _habits(kind)
    px, py = place.things[0, X], place.things[0, Y]
    if count < fewest and uniform(place) < come_chance:
        x, y = _cell_of(place, chunk, material, below(place, space))
        if place.rows[x, y] == 0 and abs(px - x) + abs(py - y) >= come_distance:
            add(place, kind, x, y, life)
    elif count > most and uniform(place) < go_chance:
        row = _creature_of(place, chunk, kind, below(place, count))
        if distance(place, row, px, py) >= go_distance:
            remove(place, row)


@compiled
def _corner(chunk: int) -> tuple[int, int]:
    return chunk // CHUNK_ROWS * CHUNK, chunk % CHUNK_ROWS * CHUNK


@compiled
def _cell_of(place: Place, chunk: int, material: int, number: int) -> tuple[int, int]:
    """The cell of that number among those of a material."""
    left, top = _corner(chunk)
    for x in range(left, min(left + CHUNK, SIZE)):
        for y in range(top, min(top + CHUNK, SIZE)):
            if place.materials[x, y] == material:
                if number == 0:
                    return x, y
                number -= 1
    return left, top  # never reached: `number` is below the count


@compiled
def _creature_of(place: Place, chunk: int, kind: int, number: int) -> int:
    """The row of that number among a chunk's creatures of a kind, in order of their arrival."""
    left, top = _corner(chunk)
    found, after = 0, 0
    for _ in range(number + 1):
        earliest = place.arrivals + 1
        for row in range(1, place.used):
            thing = place.things[row]
            if thing[KIND] != kind or not after < thing[ARRIVAL] < earliest:
                continue
            if left <= thing[X] < left + CHUNK and top <= thing[Y] < top + CHUNK:
                found, earliest = row, thing[ARRIVAL]
        after = earliest
    return found
