"""Whole episodes of the official game and of the twin, compared frame for frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.worlds.crafter.codes import MOVES
from engine.worlds.crafter.data import crafter_data

ACTIONS = crafter_data().actions


@pytest.mark.parametrize("seed", [*range(12), 2**31, 10**12])
def test_the_map_of_a_seed_is_the_official_one(pair: Any, seed: int):
    pair.begun(seed)


@pytest.mark.parametrize("seed", range(4))
def test_random_actions_until_death_give_the_same_episode(pair: Any, seed: int):
    both = pair.begun(seed)
    random = np.random.default_rng(seed)
    while both.game.player.health > 0:
        both.act(ACTIONS[random.integers(len(ACTIONS))], thorough=both.game.frames % 10 == 0)
    both.check()
    assert both.game.frames > 50


def test_busy_long_lives_give_the_same_episodes(pair: Any):
    # Provided for, the players dig, build, plant, fight and sleep through days and nights.
    reached: set[str] = set()
    supplies = dict.fromkeys(("sapling", "wood", "stone", "coal", "iron"), 9)
    for seed in range(100, 104):
        both = pair.begun(seed)
        random = np.random.default_rng(seed)
        heading = "move_left"
        for frame in range(1000):
            if frame % 10 == 0 and not both.game.player.sleeping:
                both.hold(**supplies, health=9, food=9, drink=9)
            heading = str(random.choice(MOVES)) if random.random() < 0.1 else heading
            errand = "sleep" if frame % 300 > 250 else str(random.choice(ACTIONS))
            both.act(
                str(random.choice([heading, "do", errand], p=[0.5, 0.3, 0.2])),
                thorough=frame % 25 == 0,
            )
        both.check()
        reached |= both.reached
    assert len(reached) >= 18, reached
