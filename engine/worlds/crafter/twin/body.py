"""The player's turn: actions, hunger, thirst, sleep and healing, as in the package's `Player`."""

from __future__ import annotations

from typing import Final

from engine.worlds.crafter.codes import (
    COW,
    DIRECTIONS,
    DRINK,
    ENERGY,
    FOOD,
    HEALTH,
    ITEM_CODE,
    ITEMS,
    LAVA,
    PLANT,
    SIZE,
    SKELETON,
    WATER,
    ZOMBIE,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.twin.space import add, inside, move
from engine.worlds.crafter.twin.state import (
    CLOCK,
    FATIGUE,
    HUNGER,
    KIND,
    LIFE,
    RECOVER,
    THIRST,
    Place,
    X,
    Y,
)
from engine.worlds.crafter.twin.stream import uniform
from engine.worlds.crafter.twin.tables import (
    SWIMMER,
    VERB_DO,
    VERB_MAKE,
    VERB_MOVE,
    VERB_PLACE,
    VERB_PLANT,
    VERB_SLEEP,
    Rules,
)

RIPE: Final = 300
"""A plant is ripe once it has grown for more frames."""
PLANT_LIFE: Final = 1
_COW_FOOD: Final = 6
_PLANT_FOOD: Final = 4
_DAMAGE: Final = 1
_SWORDS: Final = (
    (ITEM_CODE["wood_sword"], 2), (ITEM_CODE["stone_sword"], 3), (ITEM_CODE["iron_sword"], 5),
)  # fmt: skip
_ITEM_COUNT: Final = len(ITEMS)


@compiled
def take_turn(place: Place, rules: Rules, action: int) -> None:
    """One frame of the player's body; `action` is what it would do if awake."""
    verb = rules.verb[action]
    if place.sleeping:
        if place.inventory[ENERGY] < rules.most[ENERGY]:
            verb = VERB_SLEEP
        else:
            place.sleeping = 0
            place.counts[rules.wakes_up] += 1
    if verb == VERB_MOVE:
        _go(place, rules, rules.direction[action])
    elif verb == VERB_DO:
        _do(place, rules)
    elif verb == VERB_SLEEP:
        if place.inventory[ENERGY] < rules.most[ENERGY]:
            place.sleeping = 1
    elif verb in (VERB_PLACE, VERB_PLANT):
        _put(place, rules, action)
    elif verb == VERB_MAKE:
        _make(place, rules, action)
    _feel_needs(place)
    _heal_or_suffer(place)
    for item in range(_ITEM_COUNT):
        place.inventory[item] = max(0, min(place.inventory[item], rules.most[item]))
    if place.inventory[HEALTH] < place.felt_health:
        place.sleeping = 0
    place.felt_health = place.inventory[HEALTH]


@compiled
def hurt(place: Place, damage: int) -> None:
    """Take health from the player."""
    place.inventory[HEALTH] = max(0, place.inventory[HEALTH] - damage)


@compiled
def _front(place: Place) -> tuple[int, int]:
    dx, dy = DIRECTIONS[place.facing]
    return place.things[0, X] + dx, place.things[0, Y] + dy


@compiled
def _go(place: Place, rules: Rules, direction: int) -> None:
    place.facing = direction
    dx, dy = DIRECTIONS[direction]
    move(place, rules, 0, dx, dy, SWIMMER)
    if place.materials[place.things[0, X], place.things[0, Y]] == LAVA:
        place.inventory[HEALTH] = 0


@compiled
def _do(place: Place, rules: Rules) -> None:
    x, y = _front(place)
    if not inside(x, y):
        return
    row = place.rows[x, y] - 1
    if row < 0:
        _collect(place, rules, x, y)
    elif place.things[row, KIND] == PLANT:
        if place.things[row, CLOCK] > RIPE:
            place.things[row, CLOCK] = 0
            place.inventory[FOOD] += _PLANT_FOOD
            place.counts[rules.eats_plant] += 1
    else:
        _strike(place, rules, row)


@compiled
def _strike(place: Place, rules: Rules, row: int) -> None:
    kind = place.things[row, KIND]
    if kind not in (ZOMBIE, SKELETON, COW):
        return
    damage = _DAMAGE
    for sword, blow in _SWORDS:
        if place.inventory[sword] > 0:
            damage = max(damage, blow)
    place.things[row, LIFE] = max(0, place.things[row, LIFE] - damage)
    if place.things[row, LIFE] > 0:
        return
    if kind == ZOMBIE:
        place.counts[rules.defeats_zombie] += 1
    elif kind == SKELETON:
        place.counts[rules.defeats_skeleton] += 1
    else:
        place.inventory[FOOD] += _COW_FOOD
        place.counts[rules.eats_cow] += 1
        place.needs[HUNGER] = 0


@compiled
def _collect(place: Place, rules: Rules, x: int, y: int) -> None:
    material = place.materials[x, y]
    if material == WATER:
        place.needs[THIRST] = 0
    if not rules.collects[material]:
        return
    for item in range(_ITEM_COUNT):
        if place.inventory[item] < rules.requires[material, item]:
            return
    place.materials[x, y] = rules.leaves[material]
    # The package draws also where success is certain.
    if uniform(place) > rules.chance[material]:
        return
    for item in range(_ITEM_COUNT):
        if rules.receives[material, item] > 0:
            place.inventory[item] += rules.receives[material, item]
            place.counts[rules.item_reaches[item]] += 1


@compiled
def _put(place: Place, rules: Rules, action: int) -> None:
    x, y = _front(place)
    if not inside(x, y) or place.rows[x, y] > 0:
        return
    if not rules.where[action, place.materials[x, y]] or not _pay(place, rules, action):
        return
    if rules.verb[action] == VERB_PLANT:
        add(place, PLANT, x, y, PLANT_LIFE)
    else:
        place.materials[x, y] = rules.becomes[action]
    place.counts[rules.reaches[action]] += 1


@compiled
def _make(place: Place, rules: Rules, action: int) -> None:
    for material in range(rules.nearby.shape[1]):
        if rules.nearby[action, material] and not _is_near(place, material):
            return
    if not _pay(place, rules, action):
        return
    for item in range(_ITEM_COUNT):
        place.inventory[item] += rules.gives[action, item]
    place.counts[rules.reaches[action]] += 1


@compiled
def _pay(place: Place, rules: Rules, action: int) -> bool:
    """Spend what an action takes; nothing is spent where something is missing."""
    for item in range(_ITEM_COUNT):
        if place.inventory[item] < rules.uses[action, item]:
            return False
    for item in range(_ITEM_COUNT):
        place.inventory[item] -= rules.uses[action, item]
    return True


@compiled
def _is_near(place: Place, material: int) -> bool:
    """Whether a material is on or around the player's cell.

    At the left and upper edge the package finds nothing: its slice begins below zero.
    """
    left, top = place.things[0, X] - 1, place.things[0, Y] - 1
    if left < 0 or top < 0:
        return False
    for x in range(left, min(left + 3, SIZE)):
        for y in range(top, min(top + 3, SIZE)):
            if place.materials[x, y] == material:
                return True
    return False


@compiled
def _feel_needs(place: Place) -> None:
    pace = 0.5 if place.sleeping else 1.0
    place.needs[HUNGER] += pace
    if place.needs[HUNGER] > 25:
        place.needs[HUNGER] = 0
        place.inventory[FOOD] -= 1
    place.needs[THIRST] += pace
    if place.needs[THIRST] > 20:
        place.needs[THIRST] = 0
        place.inventory[DRINK] -= 1
    if place.sleeping:
        place.needs[FATIGUE] = min(place.needs[FATIGUE] - 1, 0.0)
    else:
        place.needs[FATIGUE] += 1
    if place.needs[FATIGUE] < -10:
        place.needs[FATIGUE] = 0
        place.inventory[ENERGY] += 1
    if place.needs[FATIGUE] > 30:
        place.needs[FATIGUE] = 0
        place.inventory[ENERGY] -= 1


@compiled
def _heal_or_suffer(place: Place) -> None:
    rested = place.inventory[ENERGY] > 0 or place.sleeping > 0
    if place.inventory[FOOD] > 0 and place.inventory[DRINK] > 0 and rested:
        place.needs[RECOVER] += 2.0 if place.sleeping else 1.0
    else:
        place.needs[RECOVER] -= 0.5 if place.sleeping else 1.0
    if place.needs[RECOVER] > 25:
        place.needs[RECOVER] = 0
        hurt(place, -1)
    if place.needs[RECOVER] < -15:
        place.needs[RECOVER] = 0
        hurt(place, 1)
