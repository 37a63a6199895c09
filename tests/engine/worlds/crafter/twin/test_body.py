"""What the player does and feels, one rule after the other, beside the official player."""

from __future__ import annotations

from typing import Any

import pytest
from crafter import objects

from engine.worlds.crafter.codes import MOVES, SIZE
from engine.worlds.crafter.data import crafter_data
from engine.worlds.crafter.twin.frame import daylight

MAKES = tuple(name for name in crafter_data().actions if name.startswith("make_"))
TOOLS = {"wood_pickaxe": 1, "stone_pickaxe": 1, "iron_pickaxe": 1}
LETTERS = {
    ".": "grass", "#": "stone", "_": "path", "~": "water", "s": "sand", "T": "tree", "L": "lava",
    "c": "coal", "i": "iron", "d": "diamond", "t": "table", "f": "furnace",
}  # fmt: skip
MATERIALS = "".join(LETTERS)
PLACES = tuple(name for name in crafter_data().actions if name.startswith("place_"))


def front(both: Any) -> str:
    """The material in front of the official player."""
    player = both.game.player
    return str(both.game.world[player.pos + player.facing][0])


@pytest.mark.parametrize("action", MOVES)
@pytest.mark.parametrize("material", MATERIALS)
def test_walking_against_every_material(pair: Any, action: str, material: str):
    both = pair.drawn("@", fill=material)
    before = both.game.player.pos.copy()
    both.act(action)
    assert (both.game.player.pos == before).all() == (material not in "._sL")
    assert (both.held["health"] == 0) == (material == "L")


@pytest.mark.parametrize("corner", [(0, 0), (SIZE - 1, 0), (0, SIZE - 1), (SIZE - 1, SIZE - 1)])
def test_the_edge_of_the_map_stops_everything(pair: Any, corner: tuple[int, int]):
    both = pair.drawn("@", fill=".", at=corner, wood=9, stone=9, sapling=9)
    for move in MOVES:
        for _ in range(2):
            for action in (move, "do", "place_stone", "place_plant", "make_wood_pickaxe"):
                both.act(action)


def test_creatures_and_plants_stand_in_the_way(pair: Any):
    for letter in "CZSpR":
        both = pair.drawn(f"@{letter}")
        before = both.game.player.pos.copy()
        both.act("move_right")
        assert (both.game.player.pos == before).all()


@pytest.mark.parametrize("material", MATERIALS)
@pytest.mark.parametrize("tool", ["none", *TOOLS])
def test_collecting_every_material_with_every_tool(pair: Any, material: str, tool: str):
    both = pair.drawn(f"@{material}", drink=3, **({} if tool == "none" else {tool: 1}))
    for _ in range(3):
        both.act("do")


def test_collecting_needs_the_tools_of_the_recipes(pair: Any):
    needs = {"#": "wood_pickaxe", "c": "wood_pickaxe", "i": "stone_pickaxe", "d": "iron_pickaxe"}
    for material, needed in needs.items():
        for tool in TOOLS:
            both = pair.drawn(f"@{material}", **{tool: 1})
            both.act("do")
            assert (front(both) == "path") == (tool == needed)
            assert bool(both.reached) == (tool == needed)


def test_no_item_grows_beyond_its_most(pair: Any):
    both = pair.drawn("@T", wood=8)
    for _ in range(3):
        both.game.world[both.game.player.pos + both.game.player.facing] = "tree"
        both.reload()
        both.act("do")
    assert both.held["wood"] == 9


def test_saplings_come_by_chance(pair: Any):
    tries = 300
    both = pair.drawn("@.", fill="#")
    found = 0
    for _ in range(tries):
        both.hold(sapling=0, health=9, food=9, drink=9, energy=9)
        both.act("do", thorough=False)
        found += both.held["sapling"]
    both.check()
    assert 0.05 * tries < found < 0.17 * tries


@pytest.mark.parametrize("action", PLACES)
@pytest.mark.parametrize("material", MATERIALS)
def test_placing_on_every_material(pair: Any, action: str, material: str):
    both = pair.drawn(f"@{material}", wood=9, stone=9, sapling=9)
    both.act(action)
    both.act(action)
    recipe = next(recipe for recipe in crafter_data().recipes if recipe.action == action)
    assert (action in both.reached) == (LETTERS[material] in recipe.where)


@pytest.mark.parametrize("action", PLACES)
def test_placing_takes_what_the_recipe_says(pair: Any, action: str):
    recipe = next(recipe for recipe in crafter_data().recipes if recipe.action == action)
    for missing in (0, 1):
        held = {item: amount - missing for item, amount in recipe.needs.items()}
        both = pair.drawn("@.", **held)
        both.act(action)
        assert (action in both.reached) == (missing == 0)
        assert all(both.held[item] == (0 if missing == 0 else held[item]) for item in held)


def test_nothing_is_placed_on_a_creature(pair: Any):
    for letter in "CZSp<":
        both = pair.drawn(f"@{letter}", wood=9, stone=9, sapling=9)
        both.act("place_stone")
        assert not both.reached


@pytest.mark.parametrize("action", MAKES)
@pytest.mark.parametrize("around", ["...", "t..", "f..", "tf."])
def test_making_needs_what_must_be_near(pair: Any, action: str, around: str):
    rich = {"wood": 9, "stone": 9, "coal": 9, "iron": 9}
    both = pair.drawn(f"{around}\n.@.", **rich)
    both.act(action)
    recipe = next(recipe for recipe in crafter_data().recipes if recipe.action == action)
    near = {"table": "t" in around, "furnace": "f" in around}
    assert (action in both.reached) == all(near[name] for name in recipe.nearby)
    spent = {item: rich[item] - both.held[item] for item in rich}
    expected = recipe.needs if action in both.reached else {}
    assert {item: amount for item, amount in spent.items() if amount} == dict(expected)


@pytest.mark.parametrize("action", MAKES)
def test_making_needs_every_ingredient(pair: Any, action: str):
    recipe = next(recipe for recipe in crafter_data().recipes if recipe.action == action)
    for missing in recipe.needs:
        held = {item: amount - (item == missing) for item, amount in recipe.needs.items()}
        both = pair.drawn("t@f", **held)
        both.act(action)
        assert not both.reached


@pytest.mark.parametrize("at", [(0, 5), (5, 0), (1, 1), (SIZE - 1, 5), (5, SIZE - 1)])
def test_near_the_upper_left_edge_the_package_sees_no_table(pair: Any, at: tuple[int, int]):
    both = pair.drawn("@", fill="t", at=at, wood=9)
    both.act("make_wood_pickaxe")
    assert (both.held["wood_pickaxe"] == 1) == (at[0] > 0 and at[1] > 0)


@pytest.mark.parametrize("sword", ["none", "wood_sword", "stone_sword", "iron_sword"])
@pytest.mark.parametrize("letter", "CZS")
def test_blows_by_sword(pair: Any, sword: str, letter: str):
    for stream in range(5):
        both = pair.drawn(
            f"###\n@{letter}#\n###",
            stream=stream,
            food=1,
            **({} if sword == "none" else {sword: 1}),
        )
        for _ in range(6):
            both.act("do")


def test_a_plant_is_eaten_once_it_is_ripe(pair: Any):
    for letter, food in (("p", 3), ("R", 7)):
        both = pair.drawn(f"@{letter}", food=3)
        both.act("do")
        assert both.held["food"] == food
        both.act("do")
        assert both.held["food"] == food
        assert ("eat_plant" in both.reached) == (letter == "R")


def test_a_plant_ripens_after_300_frames(pair: Any):
    both = pair.drawn("@p")
    ripe_at = 0
    while not both.things(objects.Plant)[0].ripe:
        both.hold(health=9, food=9, drink=9, energy=9)
        both.act("noop", thorough=False)
        ripe_at += 1
    both.check()
    assert ripe_at == 301
    both.act("do")
    assert "eat_plant" in both.reached


@pytest.mark.parametrize("action", ["noop", "sleep"])
def test_hunger_thirst_fatigue_and_healing_until_death(pair: Any, action: str):
    both = pair.drawn("@", health=6, energy=5)
    felt = set()
    while both.game.player.health > 0:
        both.act(action, thorough=both.game.frames % 5 == 0)
        held = both.held
        felt.add((held["food"], held["drink"], held["energy"], held["health"]))
    both.check()
    assert min(food for food, *_ in felt) == min(drink for _, drink, *_ in felt) == 0
    assert {health for *_, health in felt} >= {0, 7}


def test_sleeping_until_rested_wakes_up(pair: Any):
    both = pair.drawn("@", energy=7)
    both.act("sleep")
    assert both.twin.percepts.sleeping[both.place]
    before = both.game.player.pos.copy()
    while "wake_up" not in both.reached:
        both.hold(food=9, drink=9)
        both.act("move_left", thorough=False)  # no action counts while asleep
        assert (both.game.player.pos == before).all()
    both.check()
    both.act("sleep")
    assert not both.twin.percepts.sleeping[both.place]  # fully rested


def test_the_frame_of_waking_up_already_obeys(pair: Any):
    both = pair.drawn("@.", energy=9)
    both.game.player.sleeping = True
    both.reload()
    before = both.game.player.pos.copy()
    both.act("move_right")
    assert (both.game.player.pos - before).tolist() == [1, 0]


def test_damage_wakes_a_sleeper(pair: Any):
    both = pair.drawn("@", energy=3, food=0)
    both.game.player._recover = -14.9
    both.game.player.sleeping = True
    both.reload()
    both.act("sleep")
    assert both.held["health"] == 8
    assert not both.twin.percepts.sleeping[both.place]


def test_daylight_of_all_frames_is_the_official_one(pair: Any):
    both = pair.drawn("@")
    for frame, light in enumerate(daylight(10_000)):
        both.game._step = frame
        both.game._update_time()
        assert both.game.world.daylight == light


def test_the_reward_is_for_unlocks_and_health(pair: Any):
    both = pair.drawn("@T\n.#", health=5)
    both.game.player._recover = 25
    both.game.player._last_health = 5
    both.game._last_health = 5
    both.reload()
    assert both.act("do") == pytest.approx(1.1)
    both.act("noop")
    assert both.act("noop") == 0.0
