"""Evaluation: any policy on a fixed list of episodes, each played once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.llarp.rollout import Outcome
from engine.llarp.sequences import Acting

E_contra = TypeVar("E_contra", contravariant=True)
E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Result:
    """How one episode went."""

    success: bool
    steps: int
    """Actions taken."""
    episodic_return: float
    """Sum of the rewards, not discounted."""


class Places(Protocol[E_contra]):
    """Environments that are told which episode to play; numbered from 0."""

    @property
    def size(self) -> int:
        """How many there are."""
        ...

    def start(self, env: int, episode: E_contra) -> str:
        """Begin this episode in `env`; its instruction."""
        ...

    def observe(self, envs: Sequence[int]) -> NDArray[np.generic]:
        """Of each of `envs`: features (n, features), or pictures (n, height, width, 3) uint8."""
        ...

    def step(self, envs: Sequence[int], actions: NDArray[np.int64]) -> Outcome:
        """Take one action in each of `envs`."""
        ...


def evaluate(
    policy: Acting,
    places: Places[E],
    episodes: Sequence[E],
    generator: torch.Generator | None,
    finished: Callable[[int, Result], None] | None = None,
) -> list[Result]:
    """Play every episode once, as many at a time as there are places.

    Args:
        policy: acts; whatever ran in it is given up.
        places: where the episodes are played.
        episodes: what is played.
        generator: draws the actions, as the released code evaluates; None takes the most probable
            ones.
        finished: told the index of each episode that is over, and how it went.

    Returns:
        One result per episode, in the order of `episodes`.

    Raises:
        ConfigError: there are no episodes.
    """
    if not episodes:
        raise ConfigError("there is no episode to evaluate on", "Name a split that has some.")
    waiting = deque(range(len(episodes)))
    playing: dict[int, int] = {}
    rewards: list[list[float]] = [[] for _ in episodes]
    results: dict[int, Result] = {}
    free = list(range(places.size))
    while waiting or playing:
        fresh = free[: len(waiting)]
        if fresh:
            playing |= {env: waiting.popleft() for env in fresh}
            policy.begin(fresh, [places.start(env, episodes[playing[env]]) for env in fresh])
        envs = list(playing)
        choice = policy.act(envs, torch.from_numpy(places.observe(envs)), generator)
        outcome = places.step(envs, choice.actions.numpy())
        free = []
        for env, reward, done, success in zip(
            envs,
            outcome.rewards.tolist(),
            outcome.done.tolist(),
            outcome.success.tolist(),
            strict=True,
        ):
            taken = rewards[playing[env]]
            taken.append(reward)
            if done:
                index = playing.pop(env)
                free.append(env)
                results[index] = Result(success, len(taken), sum(taken))
                if finished is not None:
                    finished(index, results[index])
        if free:
            policy.end(free)
    return [results[index] for index in range(len(episodes))]
