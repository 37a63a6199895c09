"""`SmdpPPO` against the PPO it comes from, and on the meadow."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import DummyVecEnv

from engine.rl.ppo import SmdpPPO

SETTINGS = {"n_steps": 32, "batch_size": 32, "n_epochs": 2, "gamma": 0.9, "device": "cpu"}


def learn(kind, envs, frames, **settings):
    set_random_seed(7)
    vec = DummyVecEnv([lambda env=env: env for env in envs])
    return kind("MlpPolicy", vec, **{**SETTINGS, **settings}).learn(frames, log_interval=10**9)


def test_with_primitives_alone_it_is_maskable_ppo_to_the_last_bit(make_env):
    def envs():
        return [make_env(gamma=0.9, episode_seeds=(0, i), length=10) for i in range(3)]

    ours, theirs = learn(SmdpPPO, envs(), 400), learn(MaskablePPO, envs(), 400)
    assert ours.num_timesteps == theirs.num_timesteps == 480
    expected = theirs.policy.state_dict()
    for name, value in ours.policy.state_dict().items():
        assert torch.equal(value, expected[name]), name
    set_random_seed(7)
    fresh = SmdpPPO("MlpPolicy", DummyVecEnv([lambda: make_env(gamma=0.9)]), **SETTINGS)
    assert not torch.equal(fresh.policy.action_net.weight, ours.policy.action_net.weight)


def test_time_steps_count_frames(make_env, make_action):
    env = make_env(make_action("idle", "idle", max_frames=7), length=1000)
    model = learn(SmdpPPO, [env], 1)
    coded = int((model.rollout_buffer.actions == 6).sum())
    assert coded > 0
    assert model.num_timesteps == 7 * coded + (32 - coded) == env.env.count


def test_truncation_inside_an_option_bootstraps_with_its_discount(make_env, make_action):
    env = make_env(make_action("idle", "idle", max_frames=7), gamma=0.9, length=3)
    model = SmdpPPO("MlpPolicy", DummyVecEnv([lambda: env]), **SETTINGS)
    terminal = np.ones(env.observation_space.shape, np.float32)
    with torch.no_grad():
        value = float(model.policy.predict_values(torch.from_numpy(terminal[None]))[0])
    rewards = np.array([1.0], np.float32)
    info = {
        "discount": 0.9**3,
        "terminal_observation": terminal,
        "TimeLimit.truncated": True,
    }
    model._bootstrap_truncated(rewards, np.array([True]), [info])
    assert rewards[0] == pytest.approx(1.0 + 0.9**3 * value, rel=1e-5)
    model._bootstrap_truncated(rewards, np.array([True]), [{**info, "TimeLimit.truncated": False}])
    assert rewards[0] == pytest.approx(1.0 + 0.9**3 * value, rel=1e-5)


def test_a_masked_action_is_never_sampled(make_env, make_action):
    taken = []

    def spy(env):
        step = env.step

        def watched(action):
            taken.append((int(action), env.action_masks().copy()))
            return step(action)

        env.step = watched
        return env

    actions = [make_action(f"a{i}", precondition="on_gem") for i in range(20)]
    learn(SmdpPPO, [spy(make_env(*actions, gamma=0.9))], 1500)
    assert all(mask[action] for action, mask in taken)
    assert any(action >= 6 for action, _ in taken)
    assert 0 < np.mean([mask[6:] for _, mask in taken]) < 1


def test_it_learns_to_choose_the_action_that_pays(make_env, make_action):
    actions = (make_action(), make_action("idle", "idle"))
    envs = [make_env(*actions, gamma=0.95, episode_seeds=(0, i)) for i in range(4)]
    model = learn(SmdpPPO, envs, 6000, gamma=0.95, learning_rate=3e-3, batch_size=64, n_epochs=6)
    env = make_env(*actions, gamma=0.95)
    returns = []
    for seed in range(1000, 1010):
        observation, _ = env.reset(seed=seed)
        summary = None
        while summary is None:
            choice, _ = model.predict(
                observation, action_masks=env.action_masks(), deterministic=True
            )
            observation, *_, info = env.step(choice)
            summary = info.get("summary")
        returns.append(summary.episodic_return)
    # Random choice gets about 1; fetching all the time about 6.
    assert np.mean(returns) > 4.0
