"""An official game and a twin side by side: what one does, the other must do to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from crafter import objects

from engine.worlds.base import REST
from engine.worlds.crafter import codes
from engine.worlds.crafter.data import crafter_data
from engine.worlds.crafter.game import Game
from engine.worlds.crafter.twin.twin import Twin

LENGTH = 10_000
LETTERS = {
    ".": "grass", "#": "stone", "~": "water", "T": "tree", "L": "lava", "c": "coal", "i": "iron",
    "d": "diamond", "t": "table", "f": "furnace", "_": "path", "s": "sand", "@": "grass",
    "C": "grass", "Z": "grass", "S": "path", "p": "grass", "R": "grass",
    "<": "path", ">": "path", "^": "path", "v": "path",
}  # fmt: skip
ARROWS = {"<": (-1, 0), ">": (1, 0), "^": (0, -1), "v": (0, 1)}
REBUILT = frozenset({"world", "random", "player", "pos", "action"})
"""Fields that say nothing about what comes next, or that are compared otherwise."""


def inside_of(game: Game) -> dict[str, Any]:
    """Everything that decides what happens next."""
    world = game.world
    number = {id(thing): index for index, thing in enumerate(world.objects)}
    random = world.random.get_state()
    return {
        "materials": world.material_map.tobytes(),
        "things": [
            (
                type(thing).__name__,
                thing.pos.tolist(),
                {
                    name: np.asarray(value).tolist()
                    for name, value in vars(thing).items()
                    if name not in REBUILT
                },
            )
            for thing in world.objects
        ],
        "chunks": [
            (tuple(map(int, key)), [number[id(thing)] for thing in members])
            for key, members in world.chunks.items()
        ],
        "random": (random[1].tobytes(), random[2]),
        "daylight": float(world.daylight),
        "frames": game.frames,
        "seed": (game.seed, game.episode),
        "health": int(game._last_health),
        "unlocked": game.unlocked,
    }


def seen(game: Game) -> dict[str, Any]:
    """What `Percepts` must hold, worked out from the package's own objects."""
    world, player = game.world, game.player
    shape = (codes.VIEW_WIDTH, codes.VIEW_HEIGHT)
    materials, creatures, arrows = (np.zeros(shape, np.uint8) for _ in range(3))
    for x in range(shape[0]):
        for y in range(shape[1]):
            at = (int(player.pos[0]) + x - 4, int(player.pos[1]) + y - 3)
            material, thing = world[at]
            if material is not None:
                materials[x, y] = codes.MATERIAL_CODE[material]
            if thing is None or thing is player:
                continue
            name = type(thing).__name__.lower()
            if name == "plant" and thing.ripe:
                name = "ripe_plant"
            creatures[x, y] = codes.CREATURE_CODE[name]
            if name == "arrow":
                arrows[x, y] = 1 + codes.DIRECTIONS.index(tuple(map(int, thing.facing)))
    return {
        "materials": materials,
        "creatures": creatures,
        "arrows": arrows,
        "inventory": np.array(list(player.inventory.values()), np.uint8),
        "facing": codes.DIRECTIONS.index(tuple(map(int, player.facing))),
        "sleeping": bool(player.sleeping),
        "daylight": float(world.daylight),
        "unlocked": np.array([player.achievements[n] > 0 for n in crafter_data().achievements]),
    }


class Pair:
    """An official game, and a twin whose place `place` stands where the game stands."""

    place = 1

    def __init__(self, game: Game) -> None:
        self.game = game
        self.twin = Twin(3, LENGTH)
        self.twin.load(self.place, game)
        self.check()

    @classmethod
    def begun(cls, seed: int) -> Pair:
        """Both at the first moment of a seed's first episode, each by itself."""
        game = Game(LENGTH)
        game.begin(seed, 1)
        pair = cls(game)
        pair.twin.begin(cls.place, seed)
        pair.check()
        return pair

    @classmethod
    def drawn(
        cls,
        drawing: str,
        fill: str = "#",
        facing: tuple[int, int] = (1, 0),
        stream: int = 0,
        at: tuple[int, int] = codes.START,
        **held: int,
    ) -> Pair:
        """Both in a world with nothing but a drawing, whose `@` is the player, and `fill`."""
        game = draw(drawing, fill, at)
        game.world.random.seed(stream)
        game.player.facing = facing
        game.player.inventory.update(held)
        game._last_health = game.player._last_health = game.player.health
        return cls(game)

    def hold(self, **held: int) -> None:
        """Put items and vitals into the hands of both players."""
        self.game.player.inventory.update(held)
        for item, count in held.items():
            self.twin._records[self.place].inventory[codes.ITEM_CODE[item]] = count

    def enter_everywhere(self) -> None:
        """Let the world know all its chunks, as if something had been in each."""
        world = self.game.world
        for x in range(codes.SIZE):
            for y in range(codes.SIZE):
                _ = world._chunks[world.chunk_key((x, y))]
        self.reload()

    def reload(self) -> None:
        """Bring the twin to where the official game was put."""
        self.twin.load(self.place, self.game)

    def act(self, action: str, thorough: bool = True) -> float:
        """One frame of both, which must be the same; returns the reward."""
        number = crafter_data().actions.index(action)
        advance = self.game.advance(number)
        actions = np.full(3, REST, np.int64)
        actions[self.place] = number
        rewards, dead = self.twin.step(actions)
        assert (rewards[self.place], dead[self.place]) == (advance.reward, advance.dead)
        if thorough:
            self.check()
        return advance.reward

    def check(self) -> None:
        """Compare the whole state, and what the player sees."""
        ours, theirs = inside_of(self.twin.game(self.place)), inside_of(self.game)
        for name, value in theirs.items():
            assert ours[name] == value, name
        percepts = self.twin.percepts
        for name, value in seen(self.game).items():
            assert np.array_equal(getattr(percepts, name)[self.place], value), name

    @property
    def held(self) -> dict[str, int]:
        """What the twin's player holds."""
        counts = self.twin.percepts.inventory[self.place].tolist()
        return dict(zip(codes.ITEMS, counts, strict=True))

    @property
    def reached(self) -> set[str]:
        """Achievements of the twin's player."""
        flags = self.twin.percepts.unlocked[self.place].tolist()
        return {n for n, flag in zip(crafter_data().achievements, flags, strict=True) if flag}

    def things(self, kind: type[Any]) -> list[Any]:
        """Objects of a kind in the official game, which equals the twin."""
        return [thing for thing in self.game.world.objects if isinstance(thing, kind)]


def draw(drawing: str, fill: str, at: tuple[int, int]) -> Game:
    """An official game in a drawn world."""
    rows = ["".join(line.split()) for line in drawing.strip().splitlines()]
    row, column = next(
        (y, x) for y, line in enumerate(rows) for x, c in enumerate(line) if c == "@"
    )
    game = Game(LENGTH)
    world = game.world
    world.reset(0)
    game._update_time()
    world.material_map[:] = codes.MATERIAL_CODE[LETTERS[fill]]
    game._player = objects.Player(world, at)
    world.add(game.player)
    for y, line in enumerate(rows):
        for x, letter in enumerate(line):
            cell = (at[0] + x - column, at[1] + y - row)
            world[cell] = LETTERS[letter]
            if letter in MAKERS:
                world.add(MAKERS[letter](world, cell, game.player))
            elif letter in ARROWS:
                world.add(objects.Arrow(world, cell, np.array(ARROWS[letter])))
    return game


def _ripe(world: Any, at: tuple[int, int], player: Any) -> Any:
    plant = objects.Plant(world, at)
    plant.grown = 400
    return plant


MAKERS: dict[str, Callable[[Any, tuple[int, int], Any], Any]] = {
    "C": lambda world, at, player: objects.Cow(world, at),
    "Z": lambda world, at, player: objects.Zombie(world, at, player),
    "S": lambda world, at, player: objects.Skeleton(world, at, player),
    "p": lambda world, at, player: objects.Plant(world, at),
    "R": _ripe,
}


@pytest.fixture
def pair() -> type[Pair]:
    return Pair
