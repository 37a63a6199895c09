"""Every policy is evaluated alike; controls take away what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.errors import ConfigError, EngineError
from engine.llarp.controls import (
    NOTHING_ASKED,
    AlwaysPolicy,
    Blind,
    OraclePolicy,
    RandomPolicy,
    Untold,
)
from engine.llarp.evaluation import Result, evaluate
from engine.llarp.lm_config import TINY
from engine.llarp.lm_files import random_lm
from engine.llarp.policy import LlarpPolicy
from engine.llarp.ppo import PpoConfig
from engine.llarp.rollout import Outcome, collect
from engine.llarp.training import Training


class Doors:
    """An episode is the doors to go through, in order; a wrong one ends it without success."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.left: dict[int, list[int]] = {}
        self.began: list[tuple[int, ...]] = []

    def begin(self, env: int) -> str:
        return self.start(env, (0, 1))

    def start(self, env: int, episode: tuple[int, ...]) -> str:
        self.left[env] = list(episode)
        self.began.append(episode)
        return f"go through {episode}"

    def observe(self, envs: Sequence[int]) -> NDArray[np.float32]:
        return np.ones((len(envs), 6), np.float32)

    def step(self, envs: Sequence[int], actions: NDArray[np.int64]) -> Outcome:
        right = [self.left[env].pop(0) == action for env, action in zip(envs, actions, strict=True)]
        success = [ok and not self.left[env] for env, ok in zip(envs, right, strict=True)]
        rewards = np.array([1.0 if ok else -0.5 for ok in right], np.float32)
        done = np.array([won or not ok for won, ok in zip(success, right, strict=True)])
        return Outcome(rewards, done, np.array(success))


EPISODES = [(0,), (1, 1, 1), (0, 0), (2,), (0, 0, 0, 0), (3, 0, 1), (1,)]


def test_every_episode_is_played_once_and_told_in_order() -> None:
    doors = Doors(size=3)
    told: dict[int, Result] = {}
    found = evaluate(AlwaysPolicy(0, 4), doors, EPISODES, None, told.__setitem__)
    assert sorted(doors.began) == sorted(EPISODES)
    assert [result.success for result in found] == [True, False, True, False, True, False, False]
    assert [result.steps for result in found] == [1, 1, 2, 1, 4, 1, 1]
    assert [result.episodic_return for result in found] == [1.0, -0.5, 2.0, -0.5, 4.0, -0.5, -0.5]
    assert [told[index] for index in range(len(found))] == found
    with pytest.raises(ConfigError, match="no episode"):
        evaluate(AlwaysPolicy(0, 4), doors, [], None)


def test_the_oracle_solves_everything() -> None:
    doors = Doors(size=3)
    found = evaluate(OraclePolicy(lambda env: doors.left[env], 4), doors, EPISODES, None)
    assert all(result.success for result in found)
    assert [result.steps for result in found] == [len(episode) for episode in EPISODES]
    wrong = OraclePolicy(lambda env: doors.left[env][:1], 4)
    with pytest.raises(EngineError, match="after the last action"):
        evaluate(wrong, doors, [(1, 2)], None)


def test_random_is_uniform_and_seeded() -> None:
    policy = RandomPolicy(4, seed=3)
    choice = policy.act(range(4000), torch.zeros(4000, 6))
    counts = torch.bincount(choice.actions, minlength=4)
    assert ((counts - 1000).abs() < 150).all()
    torch.testing.assert_close(choice.log_probs, torch.full((4000,), 0.25).log())
    again = RandomPolicy(4, seed=3).act(range(4000), torch.zeros(4000, 6))
    assert torch.equal(choice.actions, again.actions)
    given = policy.act(range(50), torch.zeros(50, 6), torch.Generator().manual_seed(1))
    same = policy.act(range(50), torch.zeros(50, 6), torch.Generator().manual_seed(1))
    assert torch.equal(given.actions, same.actions)


def test_always_is_always() -> None:
    choice = AlwaysPolicy(2, 4).act([5, 1], torch.zeros(2, 6))
    assert choice.actions.tolist() == [2, 2]
    assert choice.probabilities[0].tolist() == [0, 0, 1, 0]
    with pytest.raises(ConfigError, match="no action 4"):
        AlwaysPolicy(4, 4)


def test_blind_sees_nothing_and_untold_hears_nothing() -> None:
    doors = Doors(size=1)
    blind = Blind(doors)
    assert blind.start(0, (1, 2)) == "go through (1, 2)"
    assert not blind.observe([0]).any()
    assert blind.observe([0]).shape == (1, 6)
    untold = Untold(doors)
    assert untold.begin(0) == untold.start(0, (3,)) == NOTHING_ASKED
    assert doors.left[0] == [3]
    assert untold.observe([0]).all()
    assert untold.step([0], np.array([3])).success.all()


def test_policies_without_sight_or_instruction_train_in_the_same_harness(
    make_policy: Callable[..., LlarpPolicy],
) -> None:
    doors = Doors(size=4)
    policy = make_policy()
    both = Blind(Untold(doors))
    episodes = collect(policy, both, 20, torch.Generator().manual_seed(0))
    assert {episode.instruction for episode in episodes} == {NOTHING_ASKED}
    assert not torch.cat([episode.features for episode in episodes]).any()
    found = evaluate(policy, both, EPISODES, torch.Generator().manual_seed(0))
    again = evaluate(policy, both, EPISODES, torch.Generator().manual_seed(0))
    assert found == again


def test_from_scratch_trains_the_language_model_and_its_prefixes(
    make_policy: Callable[..., LlarpPolicy], buttons: Any
) -> None:
    """A trainable model of random weights: its own weights move, kept prefixes never go stale."""
    lm = random_lm(TINY, 0, trainable=True)
    policy = make_policy(lm=lm)
    before = {name: weight.clone() for name, weight in lm.named_parameters()}
    training = Training(policy, PpoConfig(learning_rate=3e-3), rollout_steps=60, seed=0)
    tasks = buttons(size=6)
    updates = [training.advance(tasks) for _ in range(3)]
    assert max(update.metrics.first_ratio_error for update in updates) < 1e-4
    still = {name for name, weight in lm.named_parameters() if torch.equal(weight, before[name])}
    assert not still
