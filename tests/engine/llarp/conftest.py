"""A tiny random language model, a policy on it, and a tiny world to play in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.llarp.lm import CausalLm
from engine.llarp.lm_config import TINY, LmConfig
from engine.llarp.lm_files import random_lm
from engine.llarp.policy import LlarpPolicy, PolicyConfig
from engine.llarp.prefixes import byte_tokens
from engine.llarp.rollout import Outcome

COLOURS = ("red", "green", "dark blue", "ultramarine")
FEATURES = 6


@dataclass
class Buttons:
    """Press the button that the instruction names; which one that is, the features say.

    Features: where each of four buttons is. Action i presses place i; others do nothing. An
    episode ends when the right one is pressed, or after 1 to `longest` steps.
    """

    size: int
    seed: int = 0
    longest: int = 8
    colours: tuple[str, ...] = COLOURS

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self._state: dict[int, tuple[NDArray[np.float32], int, int]] = {}

    def begin(self, env: int) -> str:
        place = self.rng.permutation(4)
        asked = int(self.rng.integers(len(self.colours)))
        seen = np.append(place / 3, self.rng.random(FEATURES - 4)).astype(np.float32)
        self._state[env] = (seen, int(place[asked]), int(self.rng.integers(1, self.longest + 1)))
        return f"press {self.colours[asked]}"

    def observe(self, envs: Sequence[int]) -> NDArray[np.float32]:
        noise = self.rng.normal(0, 0.03, (len(envs), FEATURES)).astype(np.float32)
        return np.stack([self._state[env][0] for env in envs]) + noise

    def step(self, envs: Sequence[int], actions: NDArray[np.int64]) -> Outcome:
        rewards, done, success = [], [], []
        for env, action in zip(envs, actions.tolist(), strict=True):
            seen, right, left = self._state[env]
            self._state[env] = (seen, right, left - 1)
            success.append(action == right)
            done.append(action == right or left == 1)
            rewards.append(1.0 if action == right else -0.1)
        return Outcome(np.array(rewards, np.float32), np.array(done), np.array(success))


@pytest.fixture
def buttons() -> type[Buttons]:
    """The tiny world."""
    return Buttons


@pytest.fixture
def tiny_lm() -> CausalLm:
    """Two layers, random weights large enough that attention matters."""
    lm = random_lm(TINY, seed=0)
    with torch.no_grad():
        for name, weight in lm.named_parameters():
            if "norm" not in name and "bias" not in name:
                weight.mul_(8.0)
    return lm


@pytest.fixture
def make_policy(tiny_lm: CausalLm) -> Callable[..., LlarpPolicy]:
    """Builds small policies; arguments of `PolicyConfig` and `LlarpPolicy`."""

    def make(
        lm: CausalLm | None = None, envs: int = 6, seed: int = 0, encoder: Any = None, **sizes: Any
    ) -> LlarpPolicy:
        small = PolicyConfig(
            features=FEATURES,
            bridge_units=16,
            decoder_units=24,
            actions=4,
            max_steps=8,
            longest_instruction=40,
        )
        config = replace(small, **sizes)
        lm = tiny_lm if lm is None else lm
        policy = LlarpPolicy(config, lm, byte_tokens, envs=envs, seed=seed, encoder=encoder)
        drawn = torch.Generator().manual_seed(0)  # large, so that the choice matters
        torch.nn.init.orthogonal_(policy.decoder.last.weight, generator=drawn)
        return policy

    return make


@pytest.fixture
def tiny_config() -> LmConfig:
    """Of the tiny model."""
    return TINY
