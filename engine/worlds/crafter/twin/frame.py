"""One frame, in the order of the package's `step`: the player, what is near, the chunks."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import REST
from engine.worlds.crafter.codes import HEALTH, VIEW_WIDTH
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.data import DAY_FRAMES
from engine.worlds.crafter.twin.balance import balance
from engine.worlds.crafter.twin.body import take_turn
from engine.worlds.crafter.twin.creatures import take_turns
from engine.worlds.crafter.twin.space import close_gaps
from engine.worlds.crafter.twin.state import Place, Places
from engine.worlds.crafter.twin.tables import Rules

_REACH: Final = 2 * VIEW_WIDTH
_BALANCE_EVERY: Final = 10


@functools.cache
def daylight(frames: int) -> NDArray[np.float64]:
    """Daylight of the frames 0 to `frames`, bit for bit the package's; never write to it.

    numpy rounds the last bit of these functions otherwise for arrays than for single numbers.
    """
    found = np.empty(frames + 1, np.float64)
    for frame in range(frames + 1):
        progress = (frame / DAY_FRAMES) % 1 + 0.3
        found[frame] = 1 - np.abs(np.cos(np.pi * progress)) ** 3
    found.flags.writeable = False
    return found


@compiled
def advance(place: Place, rules: Rules, light: float, action: int) -> float:
    """One frame of a place; returns the reward."""
    close_gaps(place)
    place.frame += 1
    place.daylight = light
    # What comes into being in this frame acts from the next one on.
    end = place.used
    take_turn(place, rules, action)
    take_turns(place, rules, end, _REACH)
    if place.frame % _BALANCE_EVERY == 0:
        balance(place)
    reward = (place.inventory[HEALTH] - place.rewarded_health) / 10
    place.rewarded_health = place.inventory[HEALTH]
    unlocked = 0
    for count in place.counts:
        unlocked += count > 0
    if unlocked > place.rewarded_unlocks:
        reward += 1.0
    place.rewarded_unlocks = unlocked
    return float(reward)


@compiled
def advance_all(
    places: Places,
    table: NDArray[np.void],
    light: NDArray[np.float64],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float64],
    dead: NDArray[np.bool_],
) -> int:
    """One frame of all places that began and do not rest; -1 once done.

    `table` is what `tables.rules` gives. If an action is refused, nothing changes and its place is
    returned.
    """
    rules: Rules = table[0]
    for index in range(len(actions)):
        if actions[index] == REST:
            continue
        if not 0 <= actions[index] < len(rules.verb):
            return index
        if places[index].frame + 1 >= len(light):
            return index
    for index in range(len(actions)):
        place: Place = places[index]
        if actions[index] == REST or place.used == 0:
            continue
        rewards[index] = advance(place, rules, light[place.frame + 1], actions[index])
        dead[index] = place.inventory[HEALTH] <= 0
    return -1
