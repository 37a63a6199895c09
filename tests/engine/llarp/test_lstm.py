"""The LSTM baseline: rollout and update agree, it sees what it should, learns and is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import ConfigError, EngineError
from engine.llarp.checkpoint import restore_policy, save_policy
from engine.llarp.lm import CausalLm
from engine.llarp.lm_config import TINY
from engine.llarp.lm_files import random_lm
from engine.llarp.lstm import LstmConfig, LstmPolicy, SentenceFeatures
from engine.llarp.policy import LlarpPolicy
from engine.llarp.ppo import PpoConfig
from engine.llarp.prefixes import byte_tokens
from engine.llarp.rollout import collect
from engine.llarp.training import Training

SMALL = LstmConfig(
    features=6, bridge_units=16, decoder_units=24, actions=4, max_steps=8, rnn_units=20
)


def make(lm: CausalLm, envs: int = 6, seed: int = 0, **sizes: Any) -> LstmPolicy:
    policy = LstmPolicy(replace(SMALL, **sizes), lm, byte_tokens, envs=envs, seed=seed)
    drawn = torch.Generator().manual_seed(0)  # large, so that the choice matters
    torch.nn.init.orthogonal_(policy.decoder.last.weight, generator=drawn)
    return policy


def test_rollout_and_update_agree(tiny_lm: CausalLm, buttons: Any) -> None:
    """Whatever order episodes end and begin in."""
    policy = make(tiny_lm)
    episodes = collect(policy, buttons(size=6), 60, torch.Generator().manual_seed(1))
    assert len({len(episode) for episode in episodes}) > 2
    found = policy.evaluate(episodes)
    acted = torch.cat([episode.log_probs for episode in episodes])
    torch.testing.assert_close(found.log_probs, acted, atol=1e-5, rtol=1e-5)
    values = torch.cat([episode.values for episode in episodes])
    torch.testing.assert_close(found.values, values, atol=1e-5, rtol=1e-5)
    found.log_probs.sum().backward()
    trained = policy.trained()
    assert not any(name.startswith("lm.") for name in trained)
    unused = {name for name, weight in trained.items() if weight.grad is None}
    assert unused == {"critic.layer.weight", "critic.layer.bias"}


def test_the_whole_history_and_the_instruction_are_seen(tiny_lm: CausalLm, buttons: Any) -> None:
    policy = make(tiny_lm)
    episodes = collect(policy, buttons(size=6), 60, torch.Generator().manual_seed(1))
    episode = max(episodes, key=len)
    before = policy.evaluate([episode]).values
    features = episode.features.clone()
    features[1] += 1.0
    moved = policy.evaluate([replace(episode, features=features)]).values
    assert ((moved - before).abs() > 1e-6).tolist() == [False] + [True] * (len(episode) - 1)
    other = policy.evaluate([replace(episode, instruction="press nothing")]).values
    assert ((other - before).abs() > 1e-6).all()


def test_instructions_are_read_once(tiny_lm: CausalLm) -> None:
    sentences = SentenceFeatures(tiny_lm, byte_tokens, capacity=2)
    both = sentences(["a", "bcd", "a"])
    assert sentences.computed == 2
    assert torch.equal(both[0], both[2])
    alone = SentenceFeatures(tiny_lm, byte_tokens)(["bcd"])[0]
    torch.testing.assert_close(both[1], alone, atol=1e-6, rtol=1e-5)
    sentences(["a", "e"])
    assert sentences.computed == 3
    sentences(["bcd"])
    assert sentences.computed == 4  # had made room


def test_learns_to_follow_instructions(tiny_lm: CausalLm, buttons: Any) -> None:
    """The button is at its place; which one it is, the instruction says alone."""

    class Fixed(buttons):  # type: ignore[misc]
        def begin(self, env: int) -> str:
            asked = int(self.rng.integers(4))
            self._state[env] = (np.zeros(6, np.float32), asked, int(self.rng.integers(1, 9)))
            return f"press {self.colours[asked]}"

    policy = make(tiny_lm, envs=16)
    training = Training(policy, PpoConfig(learning_rate=3e-3), rollout_steps=256, seed=0)
    tasks = Fixed(size=16)

    def first_try() -> float:
        played = collect(policy, Fixed(size=16, seed=9), 200, None)
        return float(np.mean([e.success and len(e) == 1 for e in played]))

    before = first_try()
    updates = [training.advance(tasks) for _ in range(12)]
    assert max(update.metrics.first_ratio_error for update in updates) < 1e-4
    assert before < 0.5
    assert first_try() > 0.9


def test_a_checkpoint_is_of_this_kind_of_policy(
    tiny_lm: CausalLm, make_policy: Callable[..., LlarpPolicy], tmp_path: Path
) -> None:
    path = tmp_path / "policy.safetensors"
    saved, other = make(tiny_lm), make(tiny_lm, seed=1)
    assert not torch.equal(saved.rnn.weight_ih_l0, other.rnn.weight_ih_l0)
    save_policy(path, saved)
    restore_policy(path, other)
    for name, weight in saved.trained().items():
        assert torch.equal(weight, other.trained()[name]), name
    with pytest.raises(ConfigError, match="was saved with config"):
        restore_policy(path, make_policy())


def test_refuses_what_cannot_work(tiny_lm: CausalLm) -> None:
    with pytest.raises(ConfigError, match="rnn_layers is 0"):
        LstmConfig(rnn_layers=0)
    with pytest.raises(ConfigError, match="features is 0"):
        LstmConfig(features=0)
    with pytest.raises(ConfigError, match="trainable"):
        make(random_lm(TINY, 0, trainable=True))
    policy = make(tiny_lm, envs=2, max_steps=1)
    with pytest.raises(EngineError, match="room for 0 to 1"):
        policy.begin([2], ["press red"])
    with pytest.raises(EngineError, match="has not begun"):
        policy.act([0], torch.zeros(1, 6))
    policy.begin([0], ["press red"])
    policy.act([0], torch.zeros(1, 6))
    with pytest.raises(EngineError, match="goes on after 1 steps"):
        policy.act([0], torch.zeros(1, 6))
