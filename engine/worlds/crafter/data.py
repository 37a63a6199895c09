"""Crafter's rules as the package ships them: its `data.yaml`, read without importing the game."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from engine.errors import ConfigError
from engine.worlds.base import Recipe

AREA = (64, 64)
VIEW = (9, 7)
DAY_FRAMES = 300
EPISODE_LENGTH = 10_000


@dataclass(frozen=True, slots=True)
class CrafterData:
    """The package's own lists, in its own order."""

    actions: tuple[str, ...]
    materials: tuple[str, ...]
    walkable: tuple[str, ...]
    items: Mapping[str, int]
    """Item name to the most a player can hold."""
    achievements: tuple[str, ...]
    recipes: tuple[Recipe, ...]
    probabilities: Mapping[str, float]
    """Chance of success by collected item, where it is not 1."""


@functools.cache
def crafter_data() -> CrafterData:
    """Read the rules of the installed package once.

    Raises:
        ConfigError: the package is not installed.
    """
    spec = importlib.util.find_spec("crafter")
    if spec is None or spec.origin is None:
        raise ConfigError(
            "The package `crafter` is not installed", "Run `pip install crafter==1.8.3`."
        )
    text = (Path(spec.origin).parent / "data.yaml").read_text()
    raw: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return CrafterData(
        actions=tuple(raw["actions"]),
        materials=tuple(raw["materials"]),
        walkable=tuple(raw["walkable"]),
        items={name: int(info["max"]) for name, info in raw["items"].items()},
        achievements=tuple(raw["achievements"]),
        recipes=(*_collect(raw["collect"]), *_place(raw["place"]), *_make(raw["make"])),
        probabilities={
            item: float(info["probability"])
            for info in raw["collect"].values()
            if "probability" in info
            for item in info["receive"]
        },
    )


def _collect(raw: Mapping[str, Any]) -> list[Recipe]:
    return [
        Recipe(
            action="do",
            kind="collect",
            target=item,
            gives={item: int(amount)},
            needs={},
            requires=dict(info["require"]),
            nearby=(),
            where=(material,),
        )
        for material, info in raw.items()
        for item, amount in info["receive"].items()
    ]


def _place(raw: Mapping[str, Any]) -> list[Recipe]:
    return [
        Recipe(
            action=f"place_{name}",
            kind="place",
            target=name,
            gives={},
            needs=dict(info["uses"]),
            requires={},
            nearby=(),
            where=tuple(info["where"]),
        )
        for name, info in raw.items()
    ]


def _make(raw: Mapping[str, Any]) -> list[Recipe]:
    return [
        Recipe(
            action=f"make_{name}",
            kind="make",
            target=name,
            gives={name: int(info["gives"])},
            needs=dict(info["uses"]),
            requires={},
            nearby=tuple(info["nearby"]),
            where=(),
        )
        for name, info in raw.items()
    ]
