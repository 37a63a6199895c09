from __future__ import annotations

import numpy as np
import pytest
from crafter import objects

from engine.worlds.crafter.env import CrafterEnv
from engine.worlds.registry import get_world


def _can_be_entered(env: CrafterEnv) -> bool:
    """Whether any cell outside the small room could walk in, on the true map."""
    world = env.game.world
    todo, seen = [tuple(int(part) for part in env.game.player.pos)], set()
    while todo:
        cell = todo.pop()
        if cell in seen:
            continue
        seen.add(cell)
        if len(seen) > 6:
            return True
        for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            ahead = (cell[0] + dx, cell[1] + dy)
            material, thing = world[ahead]
            if isinstance(thing, objects.Zombie | objects.Skeleton | objects.Cow):
                return True
            if material in ("grass", "sand", "path") and not isinstance(thing, objects.Plant):
                todo.append(ahead)
    return False


@pytest.mark.parametrize(
    ("drawing", "fill", "held"),
    [
        ("@ . .", "#", {"wood_pickaxe": 1}),
        (". . . . .\n. . @ . .\n. . . . .\n# # # # #\n# # # # #", "#", {"wood_pickaxe": 1}),
        ("@", ".", {"wood_pickaxe": 1, "stone": 9}),
        ("~ ~ ~\n~ @ .\n~ ~ ~", "#", {"stone": 1}),
        ("_ _ _ _ _\n# @ _ # #\n# # # # #", "#", {"wood_pickaxe": 1, "stone": 3}),
        (". . ~ ~ ~ ~\n. @ ~ ~ ~ ~\n. . ~ ~ ~ ~", ".", {"wood_pickaxe": 1, "stone": 2}),
    ],
)
def test_shelter_ends_in_a_room_nothing_can_enter(scene, drawing, fill, held):
    here = scene(drawing, fill=fill, facing=(1, 0), **held)
    here.repeat("step_to_shelter", until=None, limit=70)
    assert here.ask("enclosed") is True
    assert not _can_be_entered(here.env)


@pytest.mark.parametrize("seed", range(4))
def test_enclosed_is_true_to_the_map_in_real_worlds(seed: int):
    env = CrafterEnv()
    env.reset(seed=seed)
    primitives = get_world("crafter").primitives
    enclosed = 0
    for frame in range(600):
        env.game.player.inventory.update(health=9, food=9, drink=9, wood_pickaxe=1, stone=9)
        if env.player.answer("enclosed", (), {}):
            assert not _can_be_entered(env)
            enclosed += 1
        query = "step_to_shelter" if frame % 80 > 30 else "explore"
        action = env.player.answer(query, (), {}) or "noop"
        env.step(np.int64(primitives.index(action)))
    assert enclosed > 50


def test_no_shelter_without_stone_and_pickaxe(scene):
    assert scene("@", fill=".").ask("step_to_shelter") is None
    assert scene("@", fill=".", stone=9).ask("step_to_shelter") is None


def test_a_creature_inside_or_a_gap_makes_a_room_no_shelter(scene):
    assert scene("@", fill="#").ask("enclosed") is True
    assert scene("@ C", fill="#").ask("enclosed") is False
    assert scene("@ p", fill="#").ask("enclosed") is True
    assert scene("@ . . . . .", fill="#").ask("enclosed") is False
    assert scene("# # #\n# @ L\n# # #", fill=".").ask("enclosed") is True
    assert scene("# # #\n# @ .\n# # #", fill=".").ask("enclosed") is False


def _with_arrow(scene, at, heading, drawing="@", **held):
    here = scene(drawing, fill=held.pop("fill", "_"), **held)
    world = here.env.game.world
    world.add(objects.Arrow(world, (32 + at[0], 32 + at[1]), np.array(heading)))
    here.env.look()
    return here


@pytest.mark.parametrize(
    ("at", "heading"), [((3, 0), (-1, 0)), ((0, -2), (0, 1)), ((-1, 0), (1, 0))]
)
def test_dodge_leaves_the_path_of_an_arrow(scene, at, heading):
    here = _with_arrow(scene, at, heading)
    assert here.ask("threat") == abs(at[0]) + abs(at[1])
    action = here.ask("dodge")
    assert action is not None
    for _ in range(4):
        here.act(action)
        action = here.ask("dodge") or "noop"
    assert here.inventory["health"] == 9


def test_dodge_ignores_arrows_that_will_not_hit(scene):
    assert _with_arrow(scene, (3, 0), (1, 0)).ask("dodge") is None
    assert _with_arrow(scene, (3, 1), (-1, 0)).ask("dodge") is None
    assert _with_arrow(scene, (3, 0), (-1, 0), drawing="@ # _ _").ask("dodge") is None
    assert scene("@").ask("dodge") is None


def test_dodge_blocks_with_a_stone_what_comes_from_ahead(scene):
    here = _with_arrow(scene, (3, 0), (-1, 0), fill="#", drawing="@ _ _ _", facing=(1, 0), stone=1)
    assert here.ask("dodge") == "place_stone"
    for _ in range(4):
        here.act(here.ask("dodge") or "noop")
    assert here.inventory["health"] == 9


def test_dodge_digs_a_way_out_of_a_corridor(scene):
    here = _with_arrow(
        scene, (3, 0), (-1, 0), fill="#", drawing="@ _ _ _", facing=(0, 1), wood_pickaxe=1
    )
    taken = []
    for _ in range(4):
        taken.append(here.ask("dodge") or "noop")
        here.act(taken[-1])
    assert here.inventory["health"] == 9
    assert taken[:2] == ["do", "move_down"]


def test_danger_is_what_hits_next(scene):
    assert scene("@ Z", fill=".").ask("danger") is True
    assert scene("@ .\n. Z", fill=".").ask("danger") is False
    assert scene("@ S", fill="_").ask("danger") is False
    assert _with_arrow(scene, (2, 0), (-1, 0)).ask("danger") is True
    assert _with_arrow(scene, (2, 0), (1, 0)).ask("danger") is False


def test_nobody_walks_into_the_path_of_an_arrow(scene):
    here = _with_arrow(scene, (1, 2), (0, -1), drawing="@ _ _ _ d", iron_pickaxe=1)
    taken = []
    for _ in range(6):
        taken.append(here.ask("approach", "diamond"))
        here.act(taken[-1])
    assert taken[:2] == ["noop", "noop"]
    assert "move_right" in taken
    assert here.inventory["health"] == 9


def test_ways_keep_clear_of_zombies(scene):
    here = scene("@ . . . T\n. . Z . .\n. . . . .", fill=".")
    first = here.ask("approach", "tree")
    assert first == "move_up"
    assert scene("@ . . . T", fill=".").ask("approach", "tree") == "move_right"
