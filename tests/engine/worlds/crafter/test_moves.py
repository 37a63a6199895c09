from __future__ import annotations

import numpy as np
import pytest

from engine.worlds.crafter import codes
from engine.worlds.crafter.codes import DIRECTION
from engine.worlds.crafter.env import CrafterEnv
from engine.worlds.registry import get_world

TOOLS = {"wood_pickaxe": 1, "stone_pickaxe": 1, "iron_pickaxe": 1}


@pytest.mark.parametrize(
    ("drawing", "what", "held"),
    [
        ("T . . @ . .", "tree", {}),
        ("T . . @ . .\n. . . . # .", "stone", {"wood_pickaxe": 1}),
        (". # . @ #\n. # # # #\n. T . . .", "tree", {"wood_pickaxe": 1}),
        ("@ . . . ~", "water", {"drink": 3}),
        ("@ # # i", "iron", TOOLS),
        ("@ . ~ d", "diamond", {**TOOLS, "stone": 1}),
        ("@ . . C", "cow", {"food": 2}),
        ("@ . . R", "ripe_plant", {"food": 2}),
        ("@ s . s", "sand", {}),
        ("@ . . .\n. . . .", "grass", {}),
    ],
)
def test_approach_says_do_exactly_when_the_thing_is_in_front(scene, drawing, what, held):
    here = scene(drawing, **held)
    for _ in range(40):
        action = here.ask("approach", what)
        assert action is not None
        if action == "do" and here.ask("in_front") == what:
            assert here.ask("distance", what) == 0
            return
        # On the way "do" only digs or strikes what is in the way.
        assert action != "do" or here.ask("in_front") in ("stone", "tree", "path", "water")
        here.act(action)
    raise AssertionError(f"never arrived at {what}")


def test_repeating_approach_collects_drinks_and_eats(scene):
    here = scene("T . @ . ~\n. . . C .", fill=".", drink=5, food=3)
    for what, item, amount in (("tree", "wood", 1), ("water", "drink", 9), ("cow", "food", 9)):
        for _ in range(20):
            if here.inventory[item] >= amount:
                break
            here.act(here.ask("approach", what))
        assert here.inventory[item] == amount


def test_approach_takes_the_nearest_and_none_when_there_is_none(scene):
    here = scene("T . . @ . T", fill=".")
    assert here.ask("approach", "tree") == "move_right"
    assert here.ask("distance", "tree") == 1
    assert here.ask("approach", "diamond") is None
    assert here.ask("distance", "diamond") == 999
    assert here.ask("approach", "zombie") is None
    assert here.ask("distance", "zombie") == 999


def test_what_lies_behind_rock_is_out_of_reach_without_a_pickaxe(scene):
    drawing = "# # # # #\n# @ # i #\n# # # # #"
    assert scene(drawing).ask("distance", "iron") == 999
    assert scene(drawing).ask("approach", "iron") is None
    assert scene(drawing, wood_pickaxe=1).ask("distance", "iron") == 2


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        ("@ . . . t", 3),
        ("@ . # . t", 4),
        ("@ . ~ . t", 5),
        ("@ T . # t", 5),
    ],
)
def test_distance_is_the_number_of_frames_on_a_straight_way(scene, drawing, expected):
    here = scene(drawing, facing=(1, 0), wood_pickaxe=1, stone=1)
    assert here.ask("distance", "table") == expected
    for _ in range(expected):
        assert here.ask("in_front") != "table"
        here.act(here.ask("approach", "table"))
    assert here.ask("in_front") == "table"
    assert here.ask("distance", "table") == 0


def test_lava_is_walked_around_and_only_faced_in_a_straight_line(scene):
    here = scene(". . . . .\n. @ L t .\n. . . . .", fill=".")
    here.repeat("approach", "table", until="do")
    assert here.ask("in_front") == "table"
    here = scene("# # # # # #\n@ . . L # #\n# # # # # #")
    assert here.ask("approach", "lava") == "move_right"
    here.repeat("approach", "lava", until="do")
    assert here.ask("in_front") == "lava"
    # Beside lava that cannot be approached in a line there is no safe turn.
    assert scene("# # # #\n# @ L #\n# # # #").ask("approach", "lava") is None
    assert scene("# # # #\n# @ L t\n# # # #").ask("approach", "table") is None


def test_step_near_reaches_both_and_then_says_noop(scene):
    here = scene("@ . . . .\n. . t . f\n. . . . .", fill=".")
    here.repeat("step_near", "table", "furnace", until="noop")
    assert here.ask("near", "table")
    assert here.ask("near", "furnace")
    assert scene("t . . . f\n. . @ . .", fill=".").ask("step_near", "table", "furnace") is None


def test_a_stone_that_would_be_dug_away_does_not_count_as_near(scene):
    here = scene("@ . . . #", fill=".", wood_pickaxe=1)
    actions = here.repeat("step_near", "stone", until="noop")
    assert "do" not in actions
    assert here.ask("near", "stone")


@pytest.mark.parametrize(
    ("thing", "drawing", "held"),
    [
        ("table", "@ . .", {"wood": 5}),
        ("table", "# # #\n# @ #\n# # #", {"wood": 5, "wood_pickaxe": 1}),
        ("table", "~ ~ ~ ~\n~ @ . .\n~ ~ ~ ~", {"wood": 5}),
        ("stone", "# # #\n# @ ~\n# # #", {"stone": 1}),
        ("stone", "# # # #\n@ . . L\n# # # #", {"stone": 1}),
        ("plant", "s s s s s\ns @ s s .\ns s s s s", {"sapling": 1}),
        ("plant", "@ T", {"sapling": 1}),
        ("furnace", "t . .\n. @ .\n. . .", {"stone": 4}),
    ],
)
def test_step_to_place_ends_with_the_thing_placed(scene, thing, drawing, held):
    here = scene(drawing, fill="#", facing=(0, -1), **held)
    here.repeat("step_to_place", thing, until=f"place_{thing}", limit=20)
    assert here.act(f"place_{thing}") is True
    assert here.ask("in_front") == thing
    assert here.ask("unlocked", f"place_{thing}") is True


def test_a_furnace_is_placed_where_the_table_is_in_reach(scene):
    here = scene("t # #\n# @ #\n# # #\n. . .", stone=4, wood_pickaxe=1, facing=(0, -1))
    here.repeat("step_to_place", "furnace", until="place_furnace")
    here.act("place_furnace")
    assert here.ask("near", "table")
    assert here.ask("near", "furnace")


def test_there_is_no_place_for_a_plant_on_rock(scene):
    assert scene("# # #\n# @ #\n# # #").ask("step_to_place", "plant") is None


def test_explore_widens_the_known_and_ends_when_all_is_known(scene):
    here = scene("@", fill=".")
    known = 0
    here.env.game._balance_chunk = lambda chunk, members: None
    for frame in range(3000):
        action = here.ask("explore")
        if action is None:
            break
        here.inventory.update(health=9, food=9, drink=9)
        here.act(action)
        if frame % 140 == 0:
            assert int((here.env.player.memory.known > 0).sum()) > known
            known = int((here.env.player.memory.known > 0).sum())
    assert here.ask("explore") is None
    assert (here.env.player.memory.known > 0).all()


def test_explore_ends_when_water_shuts_the_player_in(scene):
    assert scene("~ ~ ~\n~ @ ~\n~ ~ ~", fill="~").ask("explore") is None


def test_explore_prefers_the_land_that_is_asked_for(scene):
    rows = ["# # # # # # # # #"] * 3 + [". . . . @ . . . ."] + [". . . . . . . . ."] * 3
    here = scene("\n".join(rows), fill=".", wood_pickaxe=1)
    up = {"move_up", "do"}
    here.env.player.memory.heading = (-1, -1)
    assert here.ask("explore", "mountain") in up
    here.env.player.memory.heading = (-1, -1)
    assert here.ask("explore", "grass") == "move_down"


@pytest.mark.parametrize("seed", range(4))
def test_no_suggestion_ever_steps_into_lava(seed: int):
    env = CrafterEnv()
    env.reset(seed=seed)
    primitives = get_world("crafter").primitives
    random = np.random.default_rng(seed)
    asks = [
        ("explore", ("mountain",)), ("approach", ("diamond",)), ("approach", ("lava",)),
        ("approach", ("coal",)), ("step_to_place", ("stone",)), ("step_to_shelter", ()),
        ("dodge", ()), ("approach", ("path",)), ("step_near", ("lava",)),
    ]  # fmt: skip
    lava_seen = 0
    for _ in range(1500):
        env.game.player.inventory.update(
            health=9, food=9, drink=9, energy=9, stone=5, **TOOLS, iron_sword=1
        )
        suggestions = [env.player.answer(name, args, {}) for name, args in asks]
        for suggestion in suggestions:
            ahead = DIRECTION.get(suggestion or "")
            if ahead:
                cell = env.player.memory.ahead(ahead)
                material = env.game.world[cell][0]
                assert material != "lava" or env.player.memory.creature(cell)
        lava_seen += bool((env._percepts.materials == codes.LAVA).any())
        first = suggestions[0] if random.random() < 0.7 else None
        action = first or suggestions[int(random.integers(len(asks)))] or "noop"
        _, _, terminated, _, _ = env.step(np.int64(primitives.index(action)))
        if terminated:
            assert env.game.world[env.player.memory.position][0] != "lava"
            env.reset()
    assert lava_seen > 20
