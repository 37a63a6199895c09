"""Policies over raw percepts, for `bench_twin.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter import codes
from engine.worlds.crafter.data import crafter_data
from engine.worlds.crafter.percepts import Percepts

Actions = NDArray[np.int64]
Policy = Callable[[Percepts, NDArray[np.bool_]], Actions]
"""From what all players see, and whose episode has just begun, to their actions."""
MakePolicy = Callable[[int, int], Policy]
"""From the number of players and a seed to a policy."""


class RandomPolicy:
    """Every action with the same chance."""

    def __init__(self, size: int, seed: int) -> None:
        self._size = size
        self._random = np.random.default_rng(seed)

    def __call__(self, percepts: Percepts, began: NDArray[np.bool_]) -> Actions:
        return self._random.integers(len(crafter_data().actions), size=self._size)


class Gatherer:
    """A script over what is in view: drinks, eats, fights, gathers, makes tools, sleeps."""

    tools = (
        ("wood_pickaxe", {"wood": 1}), ("wood_sword", {"wood": 1}),
        ("stone_pickaxe", {"wood": 1, "stone": 1}), ("stone_sword", {"wood": 1, "stone": 1}),
        ("iron_pickaxe", {"wood": 1, "coal": 1, "iron": 1}),
        ("iron_sword", {"wood": 1, "coal": 1, "iron": 1}),
    )  # fmt: skip

    def __init__(self, size: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._heading = [0] * size
        self._number = {name: number for number, name in enumerate(crafter_data().actions)}

    def __call__(self, percepts: Percepts, began: NDArray[np.bool_]) -> Actions:
        names = [self._act(percepts, index) for index in range(len(self._heading))]
        return np.array([self._number[name] for name in names])

    def _act(self, percepts: Percepts, index: int) -> str:
        if percepts.sleeping[index]:
            return "noop"
        held = dict(zip(codes.ITEMS, percepts.inventory[index].tolist(), strict=True))
        facing = codes.DIRECTIONS[percepts.facing[index]]
        view, creatures = percepts.materials[index], percepts.creatures[index]
        for foe in (codes.ZOMBIE, codes.SKELETON):
            cells = np.argwhere(creatures == foe) - (codes.REACH_X, codes.REACH_Y)
            if len(cells) and np.abs(cells).sum(1).min() == 1:
                return self._reach(cells, facing, view, creatures, index)
        if held["energy"] < 3:
            return "sleep"
        if (made := self._make(held, view, creatures, facing)) is not None:
            return made
        for wanted, where, code in self._wishes(held, view, creatures):
            if wanted:
                cells = np.argwhere(where == code) - (codes.REACH_X, codes.REACH_Y)
                if len(cells):
                    return self._reach(cells, facing, view, creatures, index)
        return self._wander(view, creatures, index)

    def _wishes(
        self, held: dict[str, int], view: Any, creatures: Any
    ) -> tuple[tuple[bool, Any, int], ...]:
        return (
            (held["drink"] < 5, view, codes.WATER),
            (held["food"] < 6, creatures, codes.COW),
            (held["food"] < 6, creatures, codes.RIPE_PLANT),
            (held["iron_pickaxe"] > 0, view, codes.DIAMOND),
            (held["stone_pickaxe"] > 0 and held["iron"] < 2, view, codes.IRON),
            (held["wood_pickaxe"] > 0 and held["coal"] < 2, view, codes.COAL),
            (held["wood"] < 6, view, codes.TREE),
            (held["wood_pickaxe"] > 0 and held["stone"] < 8, view, codes.STONE),
            (held["drink"] < 9, view, codes.WATER),
        )

    def _make(
        self, held: dict[str, int], view: Any, creatures: Any, facing: tuple[int, int]
    ) -> str | None:
        x, y = codes.REACH_X + facing[0], codes.REACH_Y + facing[1]
        front = int(view[x, y]) if creatures[x, y] == 0 else codes.UNKNOWN
        room = front in codes.WALKABLE
        around = view[3:6, 2:5]
        table, furnace = (bool((around == code).any()) for code in (codes.TABLE, codes.FURNACE))
        for tool, needs in self.tools:
            near = table and (furnace or "iron" not in tool)
            if near and not held[tool] and all(held[item] >= n for item, n in needs.items()):
                return f"make_{tool}"
        if room and held["wood"] >= 5 and not (view == codes.TABLE).any():
            return "place_table"
        if room and table and held["stone"] >= 6 and not (view == codes.FURNACE).any():
            return "place_furnace"
        if front == codes.GRASS and held["sapling"]:
            return "place_plant"
        if front == codes.GRASS and self._random.random() < 0.1:
            return "do"
        if room and held["stone"] >= 7 and self._random.random() < 0.1:
            return "place_stone"
        return None

    def _reach(self, cells: Any, facing: Any, view: Any, creatures: Any, index: int) -> str:
        """Do what is in front, turn to what is beside, or go a step to the nearest cell."""
        dx, dy = cells[np.abs(cells).sum(1).argmin()].tolist()
        if (dx, dy) == tuple(facing):
            return "do"
        ways = [((dx > 0) - (dx < 0), 0), (0, (dy > 0) - (dy < 0))]
        if abs(dy) > abs(dx):
            ways.reverse()
        for way in ways:
            if way != (0, 0) and (abs(dx) + abs(dy) == 1 or _free(way, view, creatures)):
                return codes.MOVE[way]
        return self._wander(view, creatures, index)

    def _wander(self, view: Any, creatures: Any, index: int) -> str:
        way = codes.DIRECTIONS[self._heading[index]]
        if not _free(way, view, creatures) or self._random.random() < 0.05:
            self._heading[index] = int(self._random.integers(4))
            way = codes.DIRECTIONS[self._heading[index]]
        return codes.MOVE[way] if _free(way, view, creatures) else "noop"


def _free(way: tuple[int, int], view: Any, creatures: Any) -> bool:
    cell = (codes.REACH_X + way[0], codes.REACH_Y + way[1])
    return view[cell] in codes.WALKABLE and creatures[cell] == 0


POLICIES: dict[str, MakePolicy] = {"random": RandomPolicy, "gather": Gatherer}
