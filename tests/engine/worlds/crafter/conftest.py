"""Small worlds to stand in: a drawing of cells around the player becomes the game's map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from crafter import objects

from engine.worlds.crafter.codes import MATERIALS, START
from engine.worlds.crafter.env import CrafterEnv

LETTERS = {
    ".": "grass", "#": "stone", "~": "water", "T": "tree", "L": "lava", "c": "coal", "i": "iron",
    "d": "diamond", "t": "table", "f": "furnace", "_": "path", "s": "sand", "@": "grass",
    "C": "grass", "Z": "grass", "S": "path", "p": "grass", "R": "grass",
}  # fmt: skip
CREATURES: dict[str, Callable[[Any, tuple[int, int], Any], Any]] = {
    "C": lambda world, at, player: objects.Cow(world, at),
    "Z": lambda world, at, player: objects.Zombie(world, at, player),
    "S": lambda world, at, player: objects.Skeleton(world, at, player),
    "p": lambda world, at, player: objects.Plant(world, at),
    "R": lambda world, at, player: objects.Plant(world, at),
}
ACTIONS = (
    "noop", "move_left", "move_right", "move_up", "move_down", "do", "sleep", "place_stone",
    "place_table", "place_furnace", "place_plant", "make_wood_pickaxe", "make_stone_pickaxe",
    "make_iron_pickaxe", "make_wood_sword", "make_stone_sword", "make_iron_sword",
)  # fmt: skip


class Scene:
    """A game whose map was drawn, with nothing but `fill` outside the drawing."""

    def __init__(
        self, drawing: str, fill: str = "#", facing: tuple[int, int] = (0, 1), **held: int
    ):
        rows = [line.split() for line in drawing.strip().splitlines()]
        rows = [list("".join(row)) for row in rows]
        (row, column) = next(
            (y, x) for y, cells in enumerate(rows) for x, cell in enumerate(cells) if cell == "@"
        )
        self.env = CrafterEnv()
        self.env.reset(seed=0)
        game = self.env.game
        world = game.world
        for thing in world.objects:
            if thing is not game.player:
                world.remove(thing)
        world.material_map[:] = MATERIALS.index(LETTERS[fill])
        for y, cells in enumerate(rows):
            for x, cell in enumerate(cells):
                at = (START[0] + x - column, START[1] + y - row)
                world[at] = LETTERS[cell]
                if cell in CREATURES:
                    world.add(CREATURES[cell](world, at, game.player))
                    world.objects[-1].grown = 400 if cell == "R" else 0
        game.player.facing = facing
        game.player.inventory.update(held)
        # The memory starts with this scene and nothing else.
        self.env.wake()

    def ask(self, function: str, *args: Any) -> Any:
        """A query of the stub."""
        return self.env.player.answer(function, args, {})

    def act(self, action: str) -> bool:
        """One frame with creatures held still; returns what `act` of the stub returns."""
        for thing in self.env.game.world.objects:
            if thing is not self.env.game.player and not isinstance(thing, objects.Arrow):
                thing.random = _Still()
        return bool(self.env.step(np.int64(ACTIONS.index(action)))[4]["changed"])

    def repeat(self, function: str, *args: Any, until: str | None, limit: int = 60) -> list[str]:
        """Ask and act until the suggestion is `until`; the actions taken."""
        actions: list[str] = []
        while (action := self.ask(function, *args)) != until:
            assert action is not None, actions
            assert len(actions) < limit, actions
            actions.append(action)
            self.act(action)
        return actions

    @property
    def inventory(self) -> dict[str, int]:
        """What the player holds."""
        return self.env.game.player.inventory


class _Still:
    """A random stream that never makes a creature move, shoot or grow in number."""

    def uniform(self) -> float:
        return 1.0

    def randint(self, low: int, high: int) -> int:
        return low


@pytest.fixture
def scene() -> type[Scene]:
    return Scene
