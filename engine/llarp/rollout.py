"""Rollouts of whole episodes: every episode that is begun is played to its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.llarp.sequences import Acting, Episode


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one step brought to n environments."""

    rewards: NDArray[np.float32]
    """(n,)."""
    done: NDArray[np.bool_]
    """(n,): the episode is over, by success or by its last step."""
    success: NDArray[np.bool_]
    """(n,): the task is solved."""


class Tasks(Protocol):
    """Environments that give instructions and observations; numbered from 0."""

    @property
    def size(self) -> int:
        """How many there are."""
        ...

    def begin(self, env: int) -> str:
        """Begin a new episode in `env`; its instruction."""
        ...

    def observe(self, envs: Sequence[int]) -> NDArray[np.generic]:
        """Of each of `envs`: features (n, features), or pictures (n, height, width, 3) uint8."""
        ...

    def step(self, envs: Sequence[int], actions: NDArray[np.int64]) -> Outcome:
        """Take one action in each of `envs`."""
        ...


def collect(
    policy: Acting, tasks: Tasks, steps: int, generator: torch.Generator | None
) -> list[Episode]:
    """Play at least `steps` steps and finish every episode begun, in the order they ended.

    Episodes begin as long as fewer than `steps` steps were taken; so no episode straddles two
    rollouts, nothing of an older policy is trained on, and no length is favoured.

    Args:
        policy: acts.
        tasks: the environments; whatever ran there is given up.
        steps: to take, all environments together.
        generator: draws the actions; None takes the most probable ones.
    """
    running: dict[int, _Running] = {}
    finished: list[Episode] = []
    _begin(policy, tasks, range(tasks.size), running)
    taken = 0
    while running:
        envs = list(running)
        choice = policy.act(envs, torch.from_numpy(tasks.observe(envs)), generator)
        outcome = tasks.step(envs, choice.actions.numpy())
        taken += len(envs)
        figures = zip(
            choice.features,
            choice.actions.tolist(),
            choice.log_probs.tolist(),
            choice.values.tolist(),
            outcome.rewards.tolist(),
            strict=True,
        )
        for env, step in zip(envs, figures, strict=True):
            running[env].add(*step)
        over = [env for env, done in zip(envs, outcome.done, strict=True) if done]
        solved = dict(zip(envs, outcome.success.tolist(), strict=True))
        finished += [running.pop(env).episode(solved[env]) for env in over]
        policy.end(over)
        if over and taken < steps:
            _begin(policy, tasks, over, running)
    return finished


@dataclass(slots=True)
class _Running:
    """An episode as it grows."""

    instruction: str
    features: list[Tensor] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)

    def add(
        self, features: Tensor, action: int, log_prob: float, value: float, reward: float
    ) -> None:
        self.features.append(features)
        self.actions.append(action)
        self.log_probs.append(log_prob)
        self.values.append(value)
        self.rewards.append(reward)

    def episode(self, success: bool) -> Episode:
        return Episode(
            self.instruction,
            torch.stack(self.features),
            torch.tensor(self.actions),
            torch.tensor(self.log_probs),
            torch.tensor(self.values),
            torch.tensor(self.rewards),
            success,
        )


def _begin(policy: Acting, tasks: Tasks, envs: Sequence[int], running: dict[int, _Running]) -> None:
    instructions = [tasks.begin(env) for env in envs]
    policy.begin(list(envs), instructions)
    running |= {
        env: _Running(instruction) for env, instruction in zip(envs, instructions, strict=True)
    }
