"""What passes between world, policy and learner: choices, whole episodes, their valuation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Choice:
    """What a policy chose for n observations; all on the CPU."""

    actions: Tensor
    """(n,), int64."""
    log_probs: Tensor
    """Of the chosen actions, (n,), float32."""
    values: Tensor
    """(n,), float32."""
    probabilities: Tensor
    """Of all actions, (n, actions), float32."""
    features: Tensor
    """What the frozen encoder made of the observations, (n, features), float32."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One whole episode of t steps as the learner needs it; tensors are on the CPU."""

    instruction: str
    features: Tensor
    """(t, features); pictures are not kept."""
    actions: Tensor
    """(t,), int64."""
    log_probs: Tensor
    """Under the policy that acted, (t,)."""
    values: Tensor
    """As that policy saw them, (t,)."""
    rewards: Tensor
    """(t,)."""
    success: bool

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True, slots=True)
class Valuation:
    """What the present policy thinks of the steps of some episodes, one after another (n,)."""

    log_probs: Tensor
    """Of the actions taken."""
    values: Tensor
    entropies: Tensor


class Acting(Protocol):
    """A policy over running episodes, each known by the number of its environment."""

    def begin(self, envs: Sequence[int], instructions: Sequence[str]) -> None:
        """Start an episode in each of `envs`."""
        ...

    def act(
        self,
        envs: Sequence[int],
        observations: Tensor,
        generator: torch.Generator | None = None,
    ) -> Choice:
        """Choose for the next observation of each running episode; without generator: the best."""
        ...

    def end(self, envs: Sequence[int]) -> None:
        """The episodes of `envs` are over."""
        ...


class Trainable(Acting, Protocol):
    """A policy that PPO can train."""

    def evaluate(self, episodes: Sequence[Episode]) -> Valuation:
        """Value whole episodes, with gradients."""
        ...

    def trained(self) -> dict[str, torch.nn.Parameter]:
        """What is trained, by name."""
        ...

    def changed(self) -> None:
        """What is trained has other values now."""
        ...
