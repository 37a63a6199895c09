"""The turns of cows, zombies, skeletons, arrows and plants, as in the package's `objects`.

A creature that was struck dead is taken off the map in its own next turn, which it still finishes:
a dying zombie may hit, a dying skeleton may shoot. The draws come in the package's order.
"""

from __future__ import annotations

from typing import Final

from engine.worlds.crafter.codes import (
    ARROW,
    COW,
    DIRECTIONS,
    FURNACE,
    PATH,
    PLANT,
    SKELETON,
    TABLE,
    ZOMBIE,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.twin.body import hurt
from engine.worlds.crafter.twin.space import add, distance, inside, is_free, move, remove
from engine.worlds.crafter.twin.state import (
    CLOCK,
    HEADING_X,
    HEADING_Y,
    KIND,
    LIFE,
    PLAYER,
    Place,
    X,
    Y,
)
from engine.worlds.crafter.twin.stream import below, uniform
from engine.worlds.crafter.twin.tables import FLYER, WALKER, Rules

COW_LIFE: Final = 3
ZOMBIE_LIFE: Final = 5
SKELETON_LIFE: Final = 3
_ZOMBIE_DAMAGE: Final = 2
_ZOMBIE_DAMAGE_TO_SLEEPER: Final = 7
_ZOMBIE_COOLDOWN: Final = 5
_ARROW_DAMAGE: Final = 2
_RELOAD: Final = 4
_AROUND: Final = len(DIRECTIONS)


@compiled
def take_turns(place: Place, rules: Rules, end: int, reach: int) -> None:
    """Let the things before row `end` act that are nearer to the player than `reach`, in order."""
    for row in range(1, end):
        kind = place.things[row, KIND]
        x, y = place.things[0, X], place.things[0, Y]
        if kind == 0 or distance(place, row, x, y) >= reach:
            continue
        if kind == ARROW:
            _fly(place, rules, row)
            continue
        if kind == PLANT:
            _grow(place, row)
            continue
        if place.things[row, LIFE] <= 0:
            remove(place, row)
        if kind == COW:
            if uniform(place) < 0.5:
                _wander(place, rules, row)
        elif kind == ZOMBIE:
            _prowl(place, rules, row)
        else:
            _guard(place, rules, row)


@compiled
def _wander(place: Place, rules: Rules, row: int) -> None:
    dx, dy = DIRECTIONS[below(place, _AROUND)]
    move(place, rules, row, dx, dy, WALKER)


@compiled
def _toward_player(place: Place, row: int, long_axis: bool) -> tuple[int, int]:
    """One step along the longer or the other axis; (0, 0) where the other axis has no offset."""
    dx = place.things[0, X] - place.things[row, X]
    dy = place.things[0, Y] - place.things[row, Y]
    along_x = abs(dx) > abs(dy) if long_axis else abs(dx) <= abs(dy)
    if along_x:
        return _sign(dx), 0
    return 0, _sign(dy)


@compiled
def _sign(number: int) -> int:
    return int(number > 0) - int(number < 0)


@compiled
def _prowl(place: Place, rules: Rules, row: int) -> None:
    """A zombie comes closer and hits what it touches, then waits for its cooldown."""
    x, y = place.things[0, X], place.things[0, Y]
    if distance(place, row, x, y) <= 8 and uniform(place) < 0.9:
        dx, dy = _toward_player(place, row, uniform(place) < 0.8)
        move(place, rules, row, dx, dy, WALKER)
    else:
        _wander(place, rules, row)
    if distance(place, row, x, y) > 1:
        return
    if place.things[row, CLOCK] > 0:
        place.things[row, CLOCK] -= 1
        return
    hurt(place, _ZOMBIE_DAMAGE_TO_SLEEPER if place.sleeping else _ZOMBIE_DAMAGE)
    place.things[row, CLOCK] = _ZOMBIE_COOLDOWN


@compiled
def _guard(place: Place, rules: Rules, row: int) -> None:
    """A skeleton backs off, shoots, comes closer or wanders."""
    place.things[row, CLOCK] = max(0, place.things[row, CLOCK] - 1)
    far = distance(place, row, place.things[0, X], place.things[0, Y])
    if far <= 3:
        dx, dy = _toward_player(place, row, uniform(place) < 0.6)
        if move(place, rules, row, -dx, -dy, WALKER):
            return
    if far <= 5 and uniform(place) < 0.5:
        _shoot(place, rules, row)
    elif far <= 8 and uniform(place) < 0.3:
        dx, dy = _toward_player(place, row, uniform(place) < 0.6)
        move(place, rules, row, dx, dy, WALKER)
    elif uniform(place) < 0.2:
        _wander(place, rules, row)


@compiled
def _shoot(place: Place, rules: Rules, row: int) -> None:
    if place.things[row, CLOCK] > 0:
        return
    dx, dy = _toward_player(place, row, True)
    x, y = place.things[row, X] + dx, place.things[row, Y] + dy
    if (dx != 0 or dy != 0) and is_free(place, rules, x, y, FLYER):
        arrow = add(place, ARROW, x, y, 0)
        place.things[arrow, HEADING_X] = dx
        place.things[arrow, HEADING_Y] = dy
        place.things[row, CLOCK] = _RELOAD


@compiled
def _fly(place: Place, rules: Rules, row: int) -> None:
    """An arrow goes on until it hits a thing, or a material that it cannot cross."""
    dx, dy = place.things[row, HEADING_X], place.things[row, HEADING_Y]
    x, y = place.things[row, X] + dx, place.things[row, Y] + dy
    if not inside(x, y):
        remove(place, row)
        return
    struck = place.rows[x, y] - 1
    if struck >= 0:
        if place.things[struck, KIND] == PLAYER:
            hurt(place, _ARROW_DAMAGE)
        else:
            place.things[struck, LIFE] = max(0, place.things[struck, LIFE] - _ARROW_DAMAGE)
        remove(place, row)
    elif rules.free[FLYER, place.materials[x, y]]:
        move(place, rules, row, dx, dy, FLYER)
    else:
        remove(place, row)
        if place.materials[x, y] in (TABLE, FURNACE):
            place.materials[x, y] = PATH


@compiled
def _grow(place: Place, row: int) -> None:
    """A plant ripens, and is eaten by what stands beside it."""
    place.things[row, CLOCK] += 1
    for dx, dy in DIRECTIONS:
        x, y = place.things[row, X] + dx, place.things[row, Y] + dy
        if not inside(x, y) or place.rows[x, y] == 0:
            continue
        if place.things[place.rows[x, y] - 1, KIND] in (COW, ZOMBIE, SKELETON):
            place.things[row, LIFE] = max(0, place.things[row, LIFE] - 1)
            break
    if place.things[row, LIFE] <= 0:
        remove(place, row)
