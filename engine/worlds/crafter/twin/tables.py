"""The package's own data (`data.yaml`: recipes, amounts, limits) as numbers for compiled code."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.codes import ITEM_CODE, ITEMS, MATERIAL_CODE, MATERIALS, MOVE
from engine.worlds.crafter.data import crafter_data
from engine.worlds.crafter.package import constants

_ACTIONS: Final = 17

VERB_NOOP: Final = 0
VERB_MOVE: Final = 1
VERB_DO: Final = 2
VERB_SLEEP: Final = 3
VERB_PLACE: Final = 4
VERB_PLANT: Final = 5
VERB_MAKE: Final = 6

WALKER: Final = 0
SWIMMER: Final = 1
FLYER: Final = 2
"""Creatures walk; the player walks into lava too; arrows fly over water and lava."""


class Rules(Protocol):
    """Fields of the record, for the type checker."""

    verb: NDArray[np.int64]
    """What an action is: `VERB_NOOP` ... `VERB_MAKE`."""
    direction: NDArray[np.int64]
    """Of a moving action, index into `codes.DIRECTIONS`."""
    uses: NDArray[np.int64]
    """Items that placing or making takes, [action, item]."""
    gives: NDArray[np.int64]
    """Items that making gives, [action, item]."""
    nearby: NDArray[np.uint8]
    """Materials that must be near for making, [action, material]."""
    where: NDArray[np.uint8]
    """Materials that can be placed on, [action, material]."""
    becomes: NDArray[np.int64]
    """The placed material, by action."""
    reaches: NDArray[np.int64]
    """Achievement of placing or making, by action."""
    collects: NDArray[np.uint8]
    """Whether a material can be collected."""
    requires: NDArray[np.int64]
    """Items that must be held to collect, [material, item]."""
    receives: NDArray[np.int64]
    """Items that collecting gives, [material, item]."""
    leaves: NDArray[np.int64]
    """The material that collecting leaves behind, by material."""
    chance: NDArray[np.float64]
    """Probability that collecting succeeds, by material."""
    item_reaches: NDArray[np.int64]
    """Achievement of collecting an item; -1 where there is none."""
    free: NDArray[np.uint8]
    """Where `WALKER`, `SWIMMER` and `FLYER` can be, [who, material]."""
    most: NDArray[np.int64]
    """The most a player can hold, by item."""
    initial: NDArray[np.int64]
    wakes_up: int
    eats_cow: int
    eats_plant: int
    defeats_zombie: int
    defeats_skeleton: int
    """Achievements by number."""


_PER_ACTION: Final = ("verb", "direction", "becomes", "reaches")
_PER_MATERIAL: Final = ("leaves",)
_PER_ITEM: Final = ("item_reaches", "most", "initial")
_EVENTS: Final = {
    "wakes_up": "wake_up",
    "eats_cow": "eat_cow",
    "eats_plant": "eat_plant",
    "defeats_zombie": "defeat_zombie",
    "defeats_skeleton": "defeat_skeleton",
}


def _type() -> np.dtype[np.void]:
    materials, items = len(MATERIALS), len(ITEMS)
    return np.dtype(
        [
            *((name, np.int64, (_ACTIONS,)) for name in _PER_ACTION),
            *((name, np.int64, (materials,)) for name in _PER_MATERIAL),
            *((name, np.int64, (items,)) for name in _PER_ITEM),
            *((name, np.int64, (_ACTIONS, items)) for name in ("uses", "gives")),
            *((name, np.uint8, (_ACTIONS, materials)) for name in ("nearby", "where")),
            *((name, np.int64, (materials, items)) for name in ("requires", "receives")),
            ("collects", np.uint8, (materials,)),
            ("chance", np.float64, (materials,)),
            ("free", np.uint8, (3, materials)),
            *((name, np.int64) for name in _EVENTS),
        ],
        align=True,
    )


@functools.cache
def rules() -> NDArray[np.void]:
    """The rules as an array of one record; never write to it.

    Raises:
        ValueError: the package's data has something that the compiled rules do not know.
    """
    found = np.zeros(1, _type())
    table: Any = found[0]
    number = {name: index for index, name in enumerate(crafter_data().achievements)}
    for event, achievement in _EVENTS.items():
        table[event] = number[achievement]
    table["item_reaches"] = [number.get(f"collect_{item}", -1) for item in ITEMS]
    table["most"] = [constants.items[item]["max"] for item in ITEMS]
    table["initial"] = [constants.items[item]["initial"] for item in ITEMS]
    walkable = set(constants.walkable)
    for who, materials in enumerate((walkable, walkable | {"lava"}, walkable | {"water", "lava"})):
        table["free"][who] = [name in materials for name in MATERIALS]
    for action, name in enumerate(crafter_data().actions):
        _fill_action(table, action, name, number)
    for name, info in constants.collect.items():
        material = MATERIAL_CODE[name]
        table["collects"][material] = True
        table["requires"][material] = _amounts(info["require"])
        table["receives"][material] = _amounts(info["receive"])
        table["leaves"][material] = MATERIAL_CODE[info["leaves"]]
        table["chance"][material] = info.get("probability", 1)
    collected = np.flatnonzero(table["receives"].any(axis=0))
    if (table["item_reaches"][collected] < 0).any():
        raise ValueError("the package's data lets an item be collected that is no achievement")
    found.flags.writeable = False
    return found


def _fill_action(table: Any, action: int, name: str, number: Mapping[str, int]) -> None:
    kind, _, target = name.partition("_")
    if name in MOVE.values():
        table["verb"][action] = VERB_MOVE
        table["direction"][action] = list(MOVE.values()).index(name)
    elif name in ("noop", "do", "sleep"):
        table["verb"][action] = {"noop": VERB_NOOP, "do": VERB_DO, "sleep": VERB_SLEEP}[name]
    elif kind == "place":
        info = constants.place[target]
        _fill_place(table, action, target, info)
        table["uses"][action] = _amounts(info["uses"])
        table["where"][action] = [material in info["where"] for material in MATERIALS]
        table["reaches"][action] = number[name]
    elif kind == "make":
        info = constants.make[target]
        table["verb"][action] = VERB_MAKE
        table["uses"][action] = _amounts(info["uses"])
        table["gives"][action] = _amounts({target: info["gives"]})
        table["nearby"][action] = [material in info["nearby"] for material in MATERIALS]
        table["reaches"][action] = number[name]
    else:
        raise ValueError(f"the compiled rules know no action {name!r}")


def _fill_place(table: Any, action: int, target: str, info: Mapping[str, Any]) -> None:
    if info["type"] == "material":
        table["verb"][action] = VERB_PLACE
        table["becomes"][action] = MATERIAL_CODE[target]
    elif target == "plant":
        table["verb"][action] = VERB_PLANT
    else:
        raise ValueError(f"the compiled rules cannot place a {target!r}")


def _amounts(amounts: Mapping[str, int]) -> list[int]:
    row = [0] * len(ITEMS)
    for item, amount in amounts.items():
        row[ITEM_CODE[item]] = int(amount)
    return row
