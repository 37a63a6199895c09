"""The first moment of an episode: map, creatures and random stream of the official game."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.codes import COW, DIRECTIONS, HEALTH, START, ZOMBIE
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.terrain import lay_out
from engine.worlds.crafter.twin.creatures import COW_LIFE, SKELETON_LIFE, ZOMBIE_LIFE
from engine.worlds.crafter.twin.space import add
from engine.worlds.crafter.twin.state import PLAYER, Place
from engine.worlds.crafter.twin.stream import save_stream

_DOWN: Final = DIRECTIONS.index((0, 1))


def begin_place(place: Any, rules: NDArray[np.void], seed: int, light: float) -> None:
    """Start the first episode of a seed, as `Game.begin(seed, 1)` does."""
    random = np.random.RandomState(hash((seed, 1)) % (2**31 - 1))
    clear(place, seed, 1)
    place.daylight = light
    place.inventory[:] = rules[0]["initial"]
    place.felt_health = place.rewarded_health = int(place.inventory[HEALTH])
    _populate(place, lay_out(random, place.materials))
    save_stream(random, place)


@compiled
def _populate(place: Place, creatures: NDArray[np.int32]) -> None:
    """The player first, then the creatures as rows (kind, x, y)."""
    add(place, PLAYER, START[0], START[1], 0)
    for index in range(len(creatures)):
        kind, x, y = creatures[index]
        if kind == COW:
            add(place, kind, x, y, COW_LIFE)
        elif kind == ZOMBIE:
            add(place, kind, x, y, ZOMBIE_LIFE)
        else:
            add(place, kind, x, y, SKELETON_LIFE)


def clear(place: Any, seed: int, episode: int) -> None:
    """Leave an empty map with nobody on it."""
    for name in ("materials", "rows", "inventory", "counts", "needs", "chunks"):
        place[name] = 0
    for name in ("frame", "sleeping", "rewarded_unlocks", "used", "alive", "arrivals"):
        place[name] = 0
    place.chunk_count = 0
    place.facing = _DOWN
    place.seed = seed
    place.episode = episode
