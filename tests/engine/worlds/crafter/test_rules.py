"""Our game beside the package's own code: nothing but the accidents of memory may differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from crafter import env as package

from engine.worlds.crafter.env import CrafterEnv
from engine.worlds.crafter.game import Game


def _inside_of(game: Any) -> tuple[Any, ...]:
    world = game._world
    things = [
        (
            type(thing).__name__,
            thing.pos.tolist(),
            {name: np.asarray(value).tolist() for name, value in vars(thing).items()
             if name not in ("world", "random", "player", "pos")},
        )
        for thing in world._objects
        if thing
    ]  # fmt: skip
    random = world.random.get_state()
    return world._mat_map.tobytes(), things, random[1].tobytes(), random[2], world.daylight


@pytest.mark.parametrize("seed", range(4))
def test_until_the_first_balancing_of_chunks_the_official_game_is_the_same(seed: int):
    # From frame 10 on the package itself is not reproducible: its sets are ordered by address.
    official = package.Env(seed=seed)
    official.reset()
    ours = CrafterEnv()
    ours.reset(seed=seed)
    actions = np.random.default_rng(seed).integers(17, size=9)
    for action in actions:
        _, reward, done, info = official.step(action)
        _, our_reward, terminated, truncated, our_info = ours.step(action)
        assert our_reward == reward
        assert (terminated or truncated) == done
        assert ours.game.player.inventory == info["inventory"]
        assert ours.game.player.achievements == info["achievements"]
        assert our_info["unlocked"] == tuple(
            name for name in info["achievements"] if name in our_info["unlocked"]
        )
        assert _inside_of(ours.game) == _inside_of(official)


@pytest.mark.parametrize("seed", range(3))
def test_the_quicker_frame_is_the_packages_own_step(seed: int):
    # Both games have ordered sets; one is driven by the package's `step`, one by `advance`.
    quick, official = Game(10_000), Game(10_000)
    quick.begin(seed, 1)
    official.begin(seed, 1)
    random = np.random.default_rng(seed)
    for frame in range(700):
        if frame % 5 == 0:
            for game in (quick, official):
                game.player.inventory.update(health=9, food=9, drink=9, energy=5)
        action = int(random.integers(17))
        advance = quick.advance(action)
        _, reward, dead, _ = official.step(action)
        assert (advance.reward, advance.dead) == (reward, dead)
        if frame % 20 == 0:
            assert _inside_of(quick) == _inside_of(official)
    assert quick.unlocked == official.unlocked
    assert _inside_of(quick) == _inside_of(official)


@pytest.mark.parametrize("seed", range(5))
def test_maps_of_several_episodes_are_the_packages(seed: int):
    official = Game(10_000)
    official._seed = seed
    ours = Game(10_000)
    for episode in range(1, 7):
        official.reset()
        ours.begin(seed, episode)
        assert _inside_of(ours) == _inside_of(official)
