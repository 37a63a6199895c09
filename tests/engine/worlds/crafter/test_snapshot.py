from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pytest
from crafter import objects

from engine.errors import EngineError
from engine.worlds.crafter.codes import DIRECTION, GRASS
from engine.worlds.crafter.env import CrafterEnv
from engine.worlds.crafter.memory import MapMemory
from engine.worlds.registry import get_world

CRAFTER = get_world("crafter")
FRAMES = 500


def _busy_env(seed: int, frames: int) -> CrafterEnv:
    """An environment some frames into an episode with a player that cannot die of hunger."""
    env = CrafterEnv()
    env.reset(seed=seed)
    random = np.random.default_rng(seed)
    for _ in range(frames):
        _keep_alive(env)
        env.step(_safe(env, random.integers(17)))
        env.player.answer("explore", (), {})
        env.player.answer("step_to_shelter", (), {})
    return env


def _keep_alive(env: CrafterEnv) -> None:
    env.game.player.inventory.update(
        health=9, food=9, drink=9, energy=9, sapling=3, wood_pickaxe=1, stone=5, wood=3
    )


def _free_cell(env: CrafterEnv) -> tuple[int, int]:
    world = env.game.world
    x, y = np.argwhere((world.material_map == GRASS) & (world.object_map == 0))[0]
    return int(x), int(y)


def _safe(env: CrafterEnv, action: np.int64) -> np.int64:
    """The action, unless it steps into lava."""
    name = CRAFTER.primitives[action]
    ahead = DIRECTION.get(name)
    return np.int64(0) if ahead and env.player.answer("look", ahead, {}) == "lava" else action


def _follow(env: CrafterEnv, frames: int = FRAMES) -> list[Any]:
    random = np.random.default_rng(99)
    seen = []
    for _ in range(frames):
        _keep_alive(env)
        observation, *rest = env.step(_safe(env, random.integers(17)))
        queries = [
            env.player.answer(name, (), {}) for name in ("explore", "dodge", "step_to_shelter")
        ]
        seen.append((observation.tobytes(), rest, queries, env.player.terms()))
    return seen


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_after_a_restore_the_same_500_frames_follow(seed: int):
    env = _busy_env(seed, 150)
    before = env.snapshot()
    expected = _follow(env)
    observation = env.restore(before)
    assert env.snapshot() == before
    assert _follow(env) == expected

    fresh = CrafterEnv()
    assert np.array_equal(fresh.restore(before), observation)
    assert fresh.snapshot() == before
    assert _follow(fresh) == expected
    # Also the next episode, with its map, is the same.
    env.restore(before)
    fresh.restore(before)
    assert np.array_equal(env.reset()[0], fresh.reset()[0])


def test_every_field_of_every_object_survives():
    env = _busy_env(3, 260)
    env.game.world.add(objects.Plant(env.game.world, _free_cell(env)))
    env.game.world.add(objects.Arrow(env.game.world, _free_cell(env), np.array((0, 1))))
    fresh = CrafterEnv()
    fresh.restore(env.snapshot())
    kinds = set()
    for thing, copy in zip(env.game.world.objects, fresh.game.world.objects, strict=True):
        kinds.add(type(thing).__name__)
        assert type(thing) is type(copy)
        assert vars(thing).keys() == vars(copy).keys()
        for name, value in vars(thing).items():
            if name not in ("world", "random", "player"):
                assert np.array_equal(value, getattr(copy, name)), name
        assert copy.random is fresh.game.world.random
        if hasattr(copy, "player"):
            assert copy.player is fresh.game.player
    assert kinds == {"Player", "Cow", "Zombie", "Skeleton", "Arrow", "Plant"}


def test_memory_survives_whole():
    env = _busy_env(4, 120)
    fresh = CrafterEnv()
    fresh.restore(env.snapshot())
    before, after = env.player.memory, fresh.player.memory
    for name in vars(MapMemory):
        if isinstance(getattr(MapMemory, name), property):
            assert getattr(before, name) == getattr(after, name), name
    for name in ("known", "creatures", "inventory", "unlocked"):
        assert np.array_equal(getattr(before, name), getattr(after, name)), name


def test_a_frame_drawn_after_restore_is_the_same():
    env = _busy_env(5, 200)
    fresh = CrafterEnv()
    fresh.restore(env.snapshot())
    assert np.array_equal(env.frame(63), fresh.frame(63))


def test_an_ended_episode_stays_ended():
    env = CrafterEnv(length=3)
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.int64(0))
    fresh = CrafterEnv()
    fresh.restore(env.snapshot())
    with pytest.raises(Exception, match="episode is over"):
        fresh.step(np.int64(0))


def test_a_snapshot_is_plain_json_and_a_damaged_one_is_refused():
    env = _busy_env(6, 5)
    snapshot = env.snapshot()
    state = json.loads(zlib.decompress(snapshot))
    position = env.player.memory.position
    twice = state["game"]["objects"][:1] * 2
    broken = [
        b"",
        b"nonsense",
        snapshot[:-9],
        zlib.compress(b"{}"),
        zlib.compress(b"[1]"),
        zlib.compress(json.dumps({**state, "format": "crafter-0"}).encode()),
        zlib.compress(json.dumps({**state, "memory": {}}).encode()),
        zlib.compress(json.dumps({**state, "game": {**state["game"], "objects": []}}).encode()),
        zlib.compress(json.dumps({**state, "game": {**state["game"], "objects": twice}}).encode()),
        zlib.compress(json.dumps({**state, "random": {}}).encode()),
    ]
    for bad in broken:
        with pytest.raises(EngineError) as caught:
            env.restore(bad)
        assert caught.value.hint
    assert env.player.memory.position == position
    assert env.snapshot() == snapshot
