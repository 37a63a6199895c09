"""The numbers that compiled code works with are the package's own data."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.worlds.crafter import codes
from engine.worlds.crafter.data import crafter_data
from engine.worlds.crafter.twin.state import Place, place_type
from engine.worlds.crafter.twin.tables import Rules, rules


def amounts(row: Any) -> dict[str, int]:
    """A row of the table as a recipe writes it."""
    return {codes.ITEMS[item]: int(count) for item, count in enumerate(row) if count}


def names(row: Any) -> set[str]:
    """Materials of a row."""
    return {codes.MATERIALS[material] for material in np.flatnonzero(row)}


def test_every_recipe_is_in_the_table():
    data, table = crafter_data(), rules()[0]
    for recipe in data.recipes:
        if recipe.kind == "collect":
            (material,) = (codes.MATERIAL_CODE[name] for name in recipe.where)
            assert table["collects"][material]
            assert amounts(table["requires"][material]) == dict(recipe.requires)
            assert amounts(table["receives"][material]) == dict(recipe.gives)
            assert table["chance"][material] == data.probabilities.get(recipe.target, 1)
            continue
        action = data.actions.index(recipe.action)
        assert amounts(table["uses"][action]) == dict(recipe.needs)
        assert amounts(table["gives"][action]) == dict(recipe.gives)
        assert names(table["nearby"][action]) == set(recipe.nearby)
        assert names(table["where"][action]) == set(recipe.where)
        assert data.achievements[table["reaches"][action]] == recipe.action


def test_limits_and_ways_are_the_packages():
    data, table = crafter_data(), rules()[0]
    assert table["most"].tolist() == list(data.items.values())
    assert names(table["free"][0]) == set(data.walkable)
    assert names(table["free"][1]) == {*data.walkable, "lava"}
    assert names(table["free"][2]) == {*data.walkable, "lava", "water"}
    assert [data.achievements[table[name]] for name in ("wakes_up", "eats_cow", "eats_plant")] == [
        "wake_up", "eat_cow", "eat_plant",
    ]  # fmt: skip


def test_nobody_can_write_to_the_rules():
    assert not rules().flags.writeable


def test_the_type_checker_knows_every_field():
    assert set(Place.__annotations__) == set(place_type().names or ())
    assert set(Rules.__annotations__) == set(rules().dtype.names or ())
