"""Letting a person see what a policy sees and thinks: picture, instruction, odds, value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.llarp.sequences import Acting, Choice
from engine.worlds.rearrange.names import ACTIONS

TOLD_ACTIONS = 3
"""Of the most probable actions, those that are told."""

Draw = Callable[[NDArray[np.uint8], str], None]


class Seen:
    """A policy whose first environment can be watched; it acts as the one it wraps."""

    def __init__(self, policy: Acting, watched: Callable[[], bool], draw: Draw) -> None:
        """Wrap a policy.

        Args:
            policy: acts.
            watched: whether somebody looks.
            draw: shows a picture (size, size, 3) with a caption.
        """
        self._policy = policy
        self._watched = watched
        self._draw = draw
        self._instruction = ""
        self._env = -1

    def begin(self, envs: Sequence[int], instructions: Sequence[str]) -> None:
        """Start an episode in each of `envs`."""
        self._policy.begin(envs, instructions)
        if self._env < 0 and envs:
            self._env, self._instruction = envs[0], instructions[0]

    def act(
        self,
        envs: Sequence[int],
        observations: Tensor,
        generator: torch.Generator | None = None,
    ) -> Choice:
        """Choose, and show what is seen and thought in one of them."""
        choice = self._policy.act(envs, observations, generator)
        if self._env in envs and observations.dim() == 4 and self._watched():
            index = list(envs).index(self._env)
            caption = told(self._instruction, choice.probabilities[index], choice.values[index])
            self._draw(observations[index].cpu().numpy(), caption)
        return choice

    def end(self, envs: Sequence[int]) -> None:
        """The episodes of `envs` are over."""
        self._policy.end(envs)
        if self._env in envs:
            self._env = -1


def told(instruction: str, probabilities: Tensor, value: Tensor) -> str:
    """Instruction, the most probable actions with their odds, and the value, in one line."""
    best = torch.topk(probabilities, TOLD_ACTIONS)
    odds = ", ".join(
        f"{ACTIONS[int(action)].name} {float(share):.0%}"
        for share, action in zip(best.values, best.indices, strict=True)
    )
    return f"“{instruction}”  {odds}  value {float(value):.1f}"
