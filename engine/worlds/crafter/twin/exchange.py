"""From a place of the twin to an official game and back, at the same moment."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from engine.worlds.crafter.codes import (
    ARROW,
    COW,
    DIRECTIONS,
    ITEMS,
    PLANT,
    SIZE,
    SKELETON,
    ZOMBIE,
)
from engine.worlds.crafter.data import crafter_data
from engine.worlds.crafter.game import Game, ObjectSet
from engine.worlds.crafter.package import objects
from engine.worlds.crafter.twin.landscape import clear
from engine.worlds.crafter.twin.space import add
from engine.worlds.crafter.twin.state import (
    ARRIVAL,
    CHUNK,
    CHUNK_ROWS,
    CLOCK,
    FATIGUE,
    HEADING_X,
    HEADING_Y,
    HUNGER,
    KIND,
    LIFE,
    PLAYER,
    RECOVER,
    THIRST,
    X,
    Y,
)
from engine.worlds.crafter.twin.stream import load_stream, save_stream

_KINDS: Final = {
    objects.Player: PLAYER,
    objects.Cow: COW,
    objects.Zombie: ZOMBIE,
    objects.Skeleton: SKELETON,
    objects.Arrow: ARROW,
    objects.Plant: PLANT,
}
_CLOCKS: Final = {ZOMBIE: "cooldown", SKELETON: "reload", PLANT: "grown"}
_NEEDS: Final = (
    ("_hunger", HUNGER), ("_thirst", THIRST), ("_fatigue", FATIGUE), ("_recover", RECOVER),
)  # fmt: skip


def to_game(place: Any, length: int) -> Game:
    """An official game that goes on step for step as the place would."""
    game = Game(length)
    world = game.world
    world.reset(0)
    game._seed, game._episode, game._step = int(place.seed), int(place.episode), int(place.frame)
    game._last_health = int(place.rewarded_health)
    game._update_time()
    load_stream(place, world.random)
    world.material_map[:] = place.materials
    made: list[tuple[int, Any]] = []
    for thing in place.things[: place.used]:
        if thing[KIND]:
            made.append((int(thing[ARRIVAL]), _to_object(game, thing)))
            world.add(made[-1][1])
            if thing[KIND] == PLAYER:
                game._player = made[-1][1]
    _to_player(game, place)
    world._chunks.clear()
    for chunk in place.chunks[: place.chunk_count].tolist():
        left, top = chunk // CHUNK_ROWS * CHUNK, chunk % CHUNK_ROWS * CHUNK
        key = (left, min(left + CHUNK, SIZE), top, min(top + CHUNK, SIZE))
        world._chunks[key] = ObjectSet()
    for _, thing in sorted(made, key=lambda pair: pair[0]):
        world._chunks[world.chunk_key(tuple(thing.pos.tolist()))].add(thing)
    return game


def from_game(game: Game, place: Any) -> None:
    """Bring a place to where an official game stands."""
    world, player = game.world, game.player
    clear(place, game.seed, game.episode)
    place.frame = game.frames
    place.daylight = float(world.daylight)
    place.rewarded_health = game._last_health
    place.rewarded_unlocks = len(game.unlocked)
    place.materials[:] = world.material_map
    save_stream(world.random, place)
    rows: dict[Any, int] = {}
    for thing in world.objects:
        kind = _KINDS[type(thing)]
        life = 0 if kind == PLAYER else thing.health
        rows[thing] = add(place, kind, int(thing.pos[0]), int(thing.pos[1]), life)
        row = place.things[rows[thing]]
        if kind in _CLOCKS:
            row[CLOCK] = getattr(thing, _CLOCKS[kind])
        elif kind == ARROW:
            row[HEADING_X], row[HEADING_Y] = thing.facing
    place.chunk_count = len(world.chunks)
    place.arrivals = 0
    for index, (key, members) in enumerate(world.chunks.items()):
        place.chunks[index] = key[0] // CHUNK * CHUNK_ROWS + key[2] // CHUNK
        for thing in members:
            place.arrivals += 1
            place.things[rows[thing], ARRIVAL] = place.arrivals
    _from_player(player, place)


def _to_object(game: Game, thing: Any) -> Any:
    kind, at, world = int(thing[KIND]), (int(thing[X]), int(thing[Y])), game.world
    made: Any
    if kind == ARROW:
        made = objects.Arrow(world, at, np.array((int(thing[HEADING_X]), int(thing[HEADING_Y]))))
    elif kind == ZOMBIE:
        made = objects.Zombie(world, at, game.player)
    elif kind == SKELETON:
        made = objects.Skeleton(world, at, game.player)
    else:
        made = {PLAYER: objects.Player, COW: objects.Cow, PLANT: objects.Plant}[kind](world, at)
    if kind != PLAYER:
        made.health = int(thing[LIFE])
    if kind in _CLOCKS:
        setattr(made, _CLOCKS[kind], int(thing[CLOCK]))
    return made


def _to_player(game: Game, place: Any) -> None:
    player, achievements = game.player, crafter_data().achievements
    player.inventory = dict(zip(ITEMS, place.inventory.tolist(), strict=True))
    player.achievements = dict(zip(achievements, place.counts.tolist(), strict=True))
    game._unlocked = {name for name, count in player.achievements.items() if count > 0}
    player.facing = DIRECTIONS[int(place.facing)]
    player.sleeping = bool(place.sleeping)
    player._last_health = int(place.felt_health)
    for name, need in _NEEDS:
        setattr(player, name, float(place.needs[need]))


def _from_player(player: Any, place: Any) -> None:
    place.inventory[:] = [player.inventory[item] for item in ITEMS]
    place.counts[:] = [player.achievements[name] for name in crafter_data().achievements]
    place.facing = DIRECTIONS.index((int(player.facing[0]), int(player.facing[1])))
    place.sleeping = player.sleeping
    place.felt_health = player._last_health
    for name, need in _NEEDS:
        place.needs[need] = getattr(player, name)
