"""`SmdpPPO` against the PPO it comes from, and on the meadow."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import DummyVecEnv

from engine.rl.decisions import Rechoice
from engine.rl.episodes import TrainingSeeds
from engine.rl.ppo import SmdpPPO

SETTINGS = {"n_steps": 32, "batch_size": 32, "n_epochs": 2, "gamma": 0.9, "device": "cpu"}


def learn(batch, frames, **settings):
    set_random_seed(7)
    model = SmdpPPO("MlpPolicy", batch, **{**SETTINGS, **settings})
    batch.begin()
    while model.num_timesteps < frames:
        model.collect(batch)
        model.progress(model.num_timesteps / frames)
        model.train()
    return model


class Plain(gymnasium.Env):
    """The meadow as a plain environment, in the worlds of the same training seeds."""

    def __init__(self, world, place, size, length):
        self._env = world.make_env(length)
        self._seeds = TrainingSeeds(0, size)
        self._place = place
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(len(world.primitives))

    def reset(self, *, seed=None, options=None):
        return self._env.reset(seed=self._seeds.next_seed(self._place))

    def step(self, action):
        return self._env.step(action)

    def action_masks(self):
        return np.ones(self.action_space.n, np.bool_)


@pytest.mark.parametrize("size", [1, 3])
def test_with_primitives_alone_it_is_maskable_ppo_to_the_last_bit(make_batch, world, size):
    ours = learn(make_batch(size=size, gamma=0.9, length=10), 400)
    set_random_seed(7)
    plain = [Plain(world, place, size, 10) for place in range(size)]
    vec = DummyVecEnv([lambda env=env: env for env in plain])
    theirs = MaskablePPO("MlpPolicy", vec, **SETTINGS).learn(400, log_interval=10**9)
    assert ours.num_timesteps == theirs.num_timesteps >= 400
    expected = theirs.policy.state_dict()
    for name, value in ours.policy.state_dict().items():
        assert torch.equal(value, expected[name]), name
    set_random_seed(7)
    fresh = SmdpPPO("MlpPolicy", make_batch(size=size), **SETTINGS)
    assert not torch.equal(fresh.policy.action_net.weight, ours.policy.action_net.weight)


def test_time_steps_count_frames_whoever_acts(make_batch, make_action):
    batch = make_batch(make_action("idle", "idle", max_frames=7), size=2, length=1000)
    model = learn(batch, 1)
    assert model.num_timesteps == 2 * 32
    assert [batch.batch.frames(place) for place in range(2)] == [32, 32]
    assert 2 <= len(model.decisions) < 64
    assert (model.decisions.actions == 6).any()


def test_a_masked_action_is_never_sampled(make_batch, make_action):
    taken = []
    actions = [make_action(f"a{i}", precondition="on_gem") for i in range(20)]
    batch = make_batch(*actions, size=2, gamma=0.9)
    choose = batch.choose

    def watched(places, chosen):
        taken.extend(zip(chosen.tolist(), batch.masks(places), strict=True))
        return choose(places, chosen)

    batch.choose = watched
    learn(batch, 1500)
    assert all(mask[action] for action, mask in taken)
    assert any(action >= 6 for action, _ in taken)
    assert 0 < np.mean([mask[6:] for _, mask in taken]) < 1


@pytest.mark.parametrize("rechoice", [Rechoice(), Rechoice(every=2), Rechoice("level", 1)])
def test_it_learns_to_choose_the_action_that_pays(make_batch, make_action, rechoice):
    actions = (make_action(), make_action("idle", "idle"))
    batch = make_batch(*actions, size=4, gamma=0.95, rechoice=rechoice)
    model = learn(batch, 8000, gamma=0.95, learning_rate=3e-3, batch_size=64, n_epochs=6)
    judge = make_batch(*actions, gamma=0.95, seeds=range(1000, 1010), rechoice=rechoice)
    judge.begin()
    returns = []
    while judge.playing:
        while (waiting := judge.waiting).size:
            choice, _ = model.predict(
                judge.observe(waiting), action_masks=judge.masks(waiting), deterministic=True
            )
            judge.choose(waiting, choice)
        returns += [summary.episodic_return for summary in judge.advance().summaries]
    assert len(returns) == 10
    # Random choice gets about 1; fetching all the time about 6.
    assert np.mean(returns) > 4.0
