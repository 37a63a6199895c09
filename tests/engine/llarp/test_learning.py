"""Rollouts, advantages, minibatches, PPO's losses, and that a policy learns by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.errors import ConfigError
from engine.llarp.policy import LlarpPolicy
from engine.llarp.ppo import Learner, PpoConfig, advantages_of, split
from engine.llarp.rollout import collect
from engine.llarp.sequences import Choice, Episode, Valuation
from engine.llarp.training import Training

Make = Callable[..., LlarpPolicy]


def episode(rewards: list[float], values: list[float], **changes: Any) -> Episode:
    n = len(rewards)
    fields: dict[str, Any] = {
        "instruction": "",
        "features": torch.zeros(n, 1),
        "actions": torch.zeros(n, dtype=torch.int64),
        "log_probs": torch.zeros(n),
        "values": torch.tensor(values),
        "rewards": torch.tensor(rewards),
        "success": False,
    }
    return Episode(**(fields | changes))


class Scripted:
    """A "policy" whose valuation is its parameters, one of each kind per step."""

    def __init__(self, log_probs: list[float], values: list[float]) -> None:
        self.log_probs = torch.nn.Parameter(torch.tensor(log_probs))
        self.values = torch.nn.Parameter(torch.tensor(values))

    def begin(self, envs: Sequence[int], instructions: Sequence[str]) -> None:
        raise NotImplementedError

    def act(self, envs: Sequence[int], observations: Tensor, generator: Any = None) -> Choice:
        raise NotImplementedError

    def end(self, envs: Sequence[int]) -> None:
        raise NotImplementedError

    def changed(self) -> None:
        pass

    def evaluate(self, episodes: Sequence[Episode]) -> Valuation:
        return Valuation(self.log_probs, self.values, self.log_probs * 0 + 0.5)

    def trained(self) -> dict[str, torch.nn.Parameter]:
        return {"log_probs": self.log_probs, "values": self.values}


def test_advantages_by_hand() -> None:
    found = advantages_of(episode([1.0, 0.0, 2.0], [0.5, 1.0, -1.0]), 0.9, 0.5)
    last = 2.0 + 1.0
    middle = 0.0 + 0.9 * -1.0 - 1.0 + 0.45 * last
    first = 1.0 + 0.9 * 1.0 - 0.5 + 0.45 * middle
    torch.testing.assert_close(found, torch.tensor([first, middle, last]))


def test_lambda_one_is_the_return_less_the_value() -> None:
    found = advantages_of(episode([1.0, 1.0, 1.0], [3.0, 2.0, 1.0]), 1.0, 1.0)
    torch.testing.assert_close(found, torch.zeros(3))


def test_every_episode_is_in_one_minibatch_of_like_size() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 33, 100).tolist()
    groups = split(lengths, 8, rng)
    assert sorted(index for group in groups for index in group) == list(range(100))
    steps = [sum(lengths[index] for index in group) for group in groups]
    assert len(groups) == 8
    assert max(steps) - min(steps) <= 2 * 32
    assert split(lengths, 8, rng) != groups
    assert split([5], 8, rng) == [[0]]


def test_losses_by_hand() -> None:
    """Ratios of 1 and far above; a value that moved little and one that moved too far."""
    policy = Scripted([0.0, 1.0], [0.1, 3.0])
    played = episode([1.0, 1.0], [0.0, 0.0])
    config = PpoConfig(epochs=1, minibatches=1, gamma=0.0, weight_decay=0.0, max_grad_norm=1e9)
    metrics = Learner(policy, config).update([played], np.random.default_rng(0))
    assert metrics.policy_loss == pytest.approx(-(1.0 + 1.2) / 2)  # advantages are both 1
    assert metrics.value_loss == pytest.approx(0.5 * (0.9**2 + 0.8**2) / 2)
    assert metrics.entropy == pytest.approx(0.5)
    assert metrics.clipfrac == pytest.approx(0.5)
    assert metrics.approx_kl == pytest.approx((np.e - 2) / 2, rel=1e-5)
    assert metrics.first_ratio_error == pytest.approx(np.e - 1, rel=1e-5)
    # gradients: -1/2 and 0 (clipped); 0.5 * (0.1 - 1) / 2 and 0 (clipped)
    assert metrics.grad_norm == pytest.approx(np.hypot(0.5, 0.225), rel=1e-5)
    assert policy.log_probs.tolist()[1] == 1.0
    assert policy.values.tolist()[1] == 3.0
    assert policy.log_probs.tolist()[0] == pytest.approx(3e-4, rel=1e-3)


def test_a_value_may_go_on_when_it_is_not_clipped() -> None:
    policy = Scripted([0.0, 0.0], [0.1, 3.0])
    config = PpoConfig(epochs=1, minibatches=1, gamma=0.0, clip_values=False)
    metrics = Learner(policy, config).update(
        [episode([1.0, 1.0], [0.0, 0.0])], np.random.default_rng(0)
    )
    assert metrics.value_loss == pytest.approx(0.5 * (0.9**2 + 2.0**2) / 2)
    assert policy.values.tolist()[1] < 3.0


def test_released_settings() -> None:
    config = PpoConfig()
    optimizer = Learner(Scripted([0.0], [0.0]), config).optimizer
    assert isinstance(optimizer, torch.optim.AdamW)
    group = optimizer.param_groups[0]
    assert (group["lr"], group["eps"], group["weight_decay"]) == (3e-4, 1e-5, 0.01)
    assert (config.clip, config.epochs, config.minibatches) == (0.2, 2, 8)
    assert (config.entropy_coef, config.value_coef, config.max_grad_norm) == (0.01, 0.5, 0.2)
    assert (config.gamma, config.gae_lambda, config.normalise_advantages) == (0.99, 0.95, False)


def test_refuses_what_cannot_work() -> None:
    with pytest.raises(ConfigError, match="minibatches is 0"):
        PpoConfig(minibatches=0)
    with pytest.raises(ConfigError, match=r"gamma is 1\.5"):
        PpoConfig(gamma=1.5)
    with pytest.raises(ConfigError, match="no episode"):
        Learner(Scripted([0.0], [0.0]), PpoConfig()).update([], np.random.default_rng(0))


def test_a_rollout_finishes_every_episode(make_policy: Make, buttons: Any) -> None:
    tasks = buttons(size=6)
    begun: list[int] = []
    begin = tasks.begin
    tasks.begin = lambda env: begun.append(env) or begin(env)
    episodes = collect(make_policy(), tasks, 40, torch.Generator().manual_seed(0))
    assert len(episodes) == len(begun)
    assert 40 <= sum(map(len, episodes)) < 40 + 6 * 8
    for played in episodes:
        assert played.success == (float(played.rewards[-1]) == 1.0)
        assert (played.rewards[:-1] == torch.tensor(-0.1)).all()
        assert len(played.features) == len(played.values) == len(played)


def test_the_same_seed_gives_the_same_rollout(make_policy: Make, buttons: Any) -> None:
    runs = [
        collect(make_policy(), buttons(size=6), 40, torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    ]
    actions = [torch.cat([played.actions for played in run]).tolist() for run in runs]
    assert actions[0] == actions[1] != actions[2]


def test_without_generator_the_best_is_chosen(make_policy: Make, buttons: Any) -> None:
    policy, tasks = make_policy(), buttons(size=3)
    envs = [2, 0, 1]
    policy.begin(envs, [tasks.begin(env) for env in envs])
    choice = policy.act(envs, torch.from_numpy(tasks.observe(envs)))
    assert torch.equal(choice.actions, choice.probabilities.argmax(-1))
    torch.testing.assert_close(choice.probabilities.sum(-1), torch.ones(3))


def test_learns_to_follow_what_it_reads_and_sees(make_policy: Make, buttons: Any) -> None:
    """The features say where which button is, the instruction which one is asked for."""
    policy = make_policy(envs=16)
    begin = torch.Generator().manual_seed(0)
    torch.nn.init.orthogonal_(policy.decoder.last.weight, gain=0.01, generator=begin)
    config = PpoConfig(learning_rate=3e-3, clip_values=False, normalise_advantages=True)
    training = Training(policy, config, rollout_steps=256, seed=0)
    tasks = buttons(size=16, colours=("red", "ultramarine"))
    updates = [training.advance(tasks) for _ in range(36)]
    first_try = [
        np.mean([e.success and len(e) == 1 for e in update.episodes]) for update in updates
    ]
    assert np.mean(first_try[:3]) < 0.4
    assert np.mean(first_try[-8:]) > 0.6  # whoever does not read comes to a half
    assert max(update.metrics.first_ratio_error for update in updates) < 1e-4
    assert training.steps == sum(len(e) for update in updates for e in update.episodes)
    assert updates[-1].metrics.entropy < updates[0].metrics.entropy
