"""A training goes on exactly; frozen parts are named, not stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import ConfigError
from engine.llarp.checkpoint import restore_policy, save_policy
from engine.llarp.lm_config import TINY
from engine.llarp.lm_files import random_lm
from engine.llarp.policy import LlarpPolicy
from engine.llarp.ppo import PpoConfig
from engine.llarp.training import Training
from engine.rl.checkpoint import Checkpoint, DamagedCheckpoint, load_checkpoint, save_checkpoint

Make = Callable[..., LlarpPolicy]
CONFIG = PpoConfig(minibatches=3)


def weights(policy: LlarpPolicy) -> dict[str, torch.Tensor]:
    return {name: weight.detach().clone() for name, weight in policy.trained().items()}


def assert_equal(first: LlarpPolicy, second: LlarpPolicy) -> None:
    mine, theirs = weights(first), weights(second)
    assert mine.keys() == theirs.keys()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)


@pytest.mark.parametrize("trainable", [False, True])
def test_resumes_to_the_last_bit(
    make_policy: Make, buttons: Any, tmp_path: Path, trainable: bool
) -> None:
    def make(seed: int) -> Training:
        lm = random_lm(TINY, seed=seed if trainable else 0, trainable=trainable)
        return Training(make_policy(lm=lm, seed=seed), CONFIG, rollout_steps=40, seed=seed)

    path = tmp_path / "checkpoint.safetensors"
    tasks = buttons(size=6)
    straight = make(0)
    straight.advance(tasks)
    straight.save(path, {"tasks": "seed 1"})
    later = buttons(size=6, seed=1)
    expected = [straight.advance(later) for _ in range(2)]

    resumed = make(5)
    assert resumed.resume(path) == {"tasks": "seed 1"}
    assert (resumed.updates, resumed.steps) == (1, straight.steps - _steps(expected))
    later = buttons(size=6, seed=1)
    found = [resumed.advance(later) for _ in range(2)]
    assert [update.metrics for update in found] == [update.metrics for update in expected]
    assert_equal(resumed.policy, straight.policy)
    assert resumed.steps == straight.steps


def test_holds_the_trained_parts_alone(make_policy: Make, tmp_path: Path) -> None:
    policy = make_policy()
    path = tmp_path / "policy.safetensors"
    save_policy(path, policy)
    checkpoint = load_checkpoint(path)
    assert checkpoint is not None
    assert {name.split(".")[1] for name in checkpoint.tensors} == {"bridge", "decoder", "critic"}
    frozen = json.loads(checkpoint.state)["frozen"]
    assert frozen == {"language model": policy.lm.source_hash}
    other = make_policy(seed=7, kept_instructions=3)
    restore_policy(path, other)
    assert_equal(policy, other)


def test_a_policy_can_be_taken_from_a_training(
    make_policy: Make, buttons: Any, tmp_path: Path
) -> None:
    training = Training(make_policy(), CONFIG, rollout_steps=20, seed=0)
    training.advance(buttons(size=6))
    path = tmp_path / "checkpoint.safetensors"
    training.save(path)
    other = make_policy(seed=7)
    restore_policy(path, other)
    assert_equal(training.policy, other)


def test_refuses_another_policys_checkpoint(make_policy: Make, tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    with pytest.raises(ConfigError, match="there is no checkpoint"):
        restore_policy(path, make_policy())
    save_policy(path, make_policy())
    other = make_policy(lm=random_lm(TINY, 9), seed=3)
    before = weights(other)
    with pytest.raises(ConfigError, match="was saved with frozen"):
        restore_policy(path, other)
    with pytest.raises(ConfigError, match="was saved with config"):
        restore_policy(path, make_policy(decoder_units=8))
    half_frozen = make_policy()
    half_frozen.critic.requires_grad_(False)
    with pytest.raises(ConfigError, match="other names or shapes"):
        restore_policy(path, half_frozen)
    assert all(torch.equal(weights(other)[name], before[name]) for name in before)
    with pytest.raises(ConfigError, match="no training to go on with"):
        Training(make_policy(), CONFIG, rollout_steps=20, seed=0).resume(path)
    save_checkpoint(path, Checkpoint({}, "not JSON"))
    with pytest.raises(DamagedCheckpoint, match="no checkpoint of a LLaRP policy"):
        restore_policy(path, make_policy())


def _steps(updates: list[Any]) -> int:
    return sum(update.metrics.steps for update in updates)
