from __future__ import annotations

import math

import pytest
from crafter import constants, env, objects

from engine.worlds.crafter import codes
from engine.worlds.crafter.data import AREA, VIEW, crafter_data
from engine.worlds.crafter.game import Game
from engine.worlds.crafter.stub import query_names, stub_functions, stub_literals
from engine.worlds.crafter.tasks import ACHIEVEMENT_WORDS
from engine.worlds.predicate import parse
from engine.worlds.registry import get_world

WORLD = get_world("crafter")
PLACED = ("stone", "furnace")


def test_the_stub_names_exactly_what_the_package_has():
    literals = stub_literals()
    assert literals["Action"] == tuple(constants.actions)
    assert literals["Item"] == tuple(constants.items)
    assert literals["Material"] == tuple(constants.materials)
    assert literals["Achievement"] == tuple(constants.achievements)
    assert literals["Creature"] == codes.CREATURES[1:]


def test_codes_follow_the_package():
    world = Game(10).world
    assert [world._mat_names[code] for code in range(1, len(codes.MATERIALS))] == list(
        codes.MATERIALS[1:]
    )
    assert tuple(constants.items) == codes.ITEMS
    assert {codes.MATERIALS[code] for code in codes.WALKABLE} == set(constants.walkable)
    assert max(info["max"] for info in constants.items.values()) == codes.MOST
    assert constants.actions[1:5] == list(codes.MOVES)
    assert len(constants.achievements) == codes.ACHIEVEMENTS
    numbers = {name: getattr(codes, name.upper()) for name in (*codes.MOVES, "noop", "do")}
    numbers |= {f"place_{name}": getattr(codes, f"PLACE_{name}".upper()) for name in PLACED}
    assert all(constants.actions[number] == name for name, number in numbers.items())
    assert (codes.SIZE, codes.SIZE) == AREA == tuple(world.area)
    assert (codes.VIEW_WIDTH, codes.VIEW_HEIGHT) == VIEW


def test_view_is_what_the_package_draws():
    official = env.Env(seed=0)
    assert tuple(official._local_view._grid) == VIEW
    assert tuple(official._local_view._offset) == (codes.REACH_X, codes.REACH_Y)


def test_recipes_are_those_of_the_package():
    recipes = {recipe.action: recipe for recipe in WORLD.recipes() if recipe.kind != "collect"}
    for name, info in constants.make.items():
        recipe = recipes[f"make_{name}"]
        assert (recipe.needs, recipe.nearby) == (info["uses"], tuple(info["nearby"]))
        assert recipe.gives == {name: info["gives"]}
    for name, info in constants.place.items():
        recipe = recipes[f"place_{name}"]
        assert (recipe.needs, recipe.where) == (info["uses"], tuple(info["where"]))
    collected = {recipe.where[0]: recipe for recipe in WORLD.recipes() if recipe.kind == "collect"}
    assert collected.keys() == constants.collect.keys()
    for material, info in constants.collect.items():
        recipe = collected[material]
        assert (recipe.action, recipe.requires, recipe.gives) == (
            "do",
            info["require"],
            info["receive"],
        )


def test_queries_are_the_stub_without_act():
    assert query_names() == set(stub_functions()) - {"act"}
    assert WORLD.queries == query_names()
    assert WORLD.primitives == tuple(constants.actions)
    assert WORLD.primitive_function == "act"


def test_every_task_is_worded_and_its_success_can_be_parsed():
    assert ACHIEVEMENT_WORDS.keys() == set(constants.achievements)
    tasks = WORLD.tasks()
    assert (tasks[0].name, tasks[0].words) == ("collect_diamond", "collect a diamond")
    assert len({task.name for task in tasks}) == len(tasks)
    for task in tasks:
        parse(task.success, WORLD.vocabulary())


def test_score_is_the_geometric_mean_of_the_paper():
    assert WORLD.score({}) == 0
    assert WORLD.score({name: 1.0 for name in WORLD.achievements}) == pytest.approx(100)
    expected = math.exp(math.log(1 + 50) / 22) - 1
    assert WORLD.score({"collect_wood": 0.5}) == pytest.approx(expected)


def test_facts_tell_the_recipes_and_the_dangers():
    facts = WORLD.facts()
    for name in (*constants.make, *constants.place):
        assert name in facts
    assert "2 wood" in facts
    assert "lava" in facts
    zombie = objects.Zombie(Game(10).world, (1, 1), None)
    assert f"A zombie has {zombie.health} health" in facts
    assert crafter_data().probabilities == {"sapling": 0.1}
