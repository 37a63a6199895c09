from __future__ import annotations

import warnings

import numpy as np
import pytest
from crafter import env as package
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_sb3_env

from engine.worlds.crafter.env import CrafterEnv
from engine.worlds.crafter.observation import TARGETS, observation_names
from engine.worlds.registry import get_world

NOOP, LEFT, RIGHT, UP, DOWN, DO, SLEEP = range(7)


def test_gymnasium_and_sb3_accept_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(render mode|spec|unwrapped).*")
        check_env(CrafterEnv(length=60))
        check_sb3_env(CrafterEnv(length=60))


def test_length_truncates_and_does_not_terminate():
    env = get_world("crafter").make_env(length=5)
    env.reset(seed=0)
    ends = [env.step(np.int64(NOOP))[2:4] for _ in range(5)]
    assert ends == [(False, False)] * 4 + [(False, True)]
    with pytest.raises(ResetNeeded):
        env.step(np.int64(NOOP))


def test_death_terminates():
    env = CrafterEnv(length=50)
    env.reset(seed=0)
    env.game.player.health = 0
    _, reward, terminated, truncated, _ = env.step(np.int64(NOOP))
    assert (terminated, truncated) == (True, False)
    assert reward == pytest.approx(-0.9)


def test_step_before_reset_and_an_impossible_action_are_refused():
    env = CrafterEnv()
    with pytest.raises(ResetNeeded):
        env.step(np.int64(NOOP))
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"0\.\.16, not 17"):
        env.step(np.int64(17))
    with pytest.raises(ValueError, match="not 0"):
        CrafterEnv(length=0)


def test_info_tells_what_was_unlocked_and_whether_the_action_had_an_effect():
    env = CrafterEnv()
    env.reset(seed=0)
    player = env.game.player
    env.game.world[(32, 33)] = "tree"
    env.player.memory.known[32, 33] = 6
    _, reward, _, _, info = env.step(np.int64(DO))
    assert info == {"unlocked": ("collect_wood",), "changed": True}
    assert reward == pytest.approx(1.0)
    assert env.achievements == {"collect_wood"}
    assert player.inventory["wood"] == 1
    # The package has no effect for crafting without a table.
    assert env.step(np.int64(11))[4] == {"unlocked": (), "changed": False}


def test_a_later_reset_is_the_next_episode_of_the_seed():
    env, other = CrafterEnv(), CrafterEnv()
    first, _ = env.reset(seed=7)
    second, _ = env.reset()
    other.reset(seed=7)
    again, _ = other.reset()
    assert np.array_equal(second, again)
    assert not np.array_equal(first, second)
    fresh, _ = env.reset(seed=7)
    assert np.array_equal(first, fresh)


def test_frame_is_a_picture_of_the_asked_size():
    env = CrafterEnv()
    env.reset(seed=0)
    for size in (27, 64, 100):
        picture = env.frame(size)
        assert picture.shape == (size, size, 3)
        assert picture.dtype == np.uint8
        assert len(np.unique(picture)) > 8
    with pytest.raises(ValueError, match="at least 27, not 26"):
        env.frame(26)


def test_frame_is_the_packages_picture():
    official = package.Env(seed=3, size=(90, 90))
    expected = official.reset()
    env = CrafterEnv()
    env.reset(seed=3)
    assert np.array_equal(env.frame(90), expected)


def test_observation_says_by_name_what_is_in_the_world():
    env = CrafterEnv(length=200)
    env.reset(seed=0)
    env.game.world[(32, 33)] = "stone"
    env.game.player.inventory["wood"] = 3
    observation, *_ = env.step(np.int64(DOWN))
    named = dict(zip(observation_names(), observation.tolist(), strict=True))
    assert named["view[+0,+1].is_stone"] == 1
    assert named["front.is_stone"] == 1
    assert named["inventory.wood"] == pytest.approx(3 / 9)
    assert named["facing_dy"] == 1
    assert named["episode"] == pytest.approx(1 / 200)
    assert named["stone.known"] == 1
    assert named["stone.closeness"] == 1
    assert (named["stone.step_dx"], named["stone.step_dy"]) == (0, 1)
    assert named["iron.known"] == 0
    assert len(observation) == len(set(observation_names()))
    assert {name.split(".")[0] for name in observation_names()[-6 * len(TARGETS) :]} == set(TARGETS)
    cells = observation[: 63 * 22].reshape(63, 22)
    assert (cells[:, :13].sum(1) == 1).all()
