"""Controls: what a trained policy has to beat, and what takes its eyes or its instruction away.

`Blind` and `Untold` change what is played, not the policy: train and evaluate in them as in the
tasks they wrap. The other controls are policies that have nothing to train.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import ConfigError, EngineError
from engine.llarp.evaluation import E_contra, Places
from engine.llarp.rollout import Outcome, Tasks
from engine.llarp.sequences import Choice

NOTHING_ASKED = "Do something."
"""What a policy that is told nothing hears in every episode."""


class PlayedTasks(Tasks, Places[E_contra], Protocol[E_contra]):
    """Tasks to train on in which single episodes can be played, too."""


class _Wrapped(Generic[E_contra]):
    """Passes everything on to the tasks it wraps."""

    def __init__(self, tasks: PlayedTasks[E_contra]) -> None:
        """Wrap `tasks`."""
        self._tasks = tasks

    @property
    def size(self) -> int:
        """How many environments there are."""
        return self._tasks.size

    def begin(self, env: int) -> str:
        """Begin a new episode in `env`; its instruction."""
        return self._tasks.begin(env)

    def start(self, env: int, episode: E_contra) -> str:
        """Begin this episode in `env`; its instruction."""
        return self._tasks.start(env, episode)

    def observe(self, envs: Sequence[int]) -> NDArray[np.generic]:
        """What is seen in each of `envs`."""
        return self._tasks.observe(envs)

    def step(self, envs: Sequence[int], actions: NDArray[np.int64]) -> Outcome:
        """Take one action in each of `envs`."""
        return self._tasks.step(envs, actions)


class Blind(_Wrapped[E_contra]):
    """The same tasks, seen as zeros: features of zero, or black pictures."""

    def observe(self, envs: Sequence[int]) -> NDArray[np.generic]:
        """Zeros of the shape and type of what there is to see."""
        return np.zeros_like(super().observe(envs))


class Untold(_Wrapped[E_contra]):
    """The same tasks, with the same words for every instruction."""

    def begin(self, env: int) -> str:
        """Begin a new episode in `env`."""
        super().begin(env)
        return NOTHING_ASKED

    def start(self, env: int, episode: E_contra) -> str:
        """Begin this episode in `env`."""
        super().start(env, episode)
        return NOTHING_ASKED


class RandomPolicy:
    """Every action is as likely as any other."""

    def __init__(self, actions: int, seed: int = 0) -> None:
        """Draw from `actions` actions; from a generator of its own unless it is given one."""
        self._probabilities = torch.full((actions,), 1 / actions)
        self._generator = torch.Generator().manual_seed(seed)

    def begin(self, envs: Sequence[int], instructions: Sequence[str]) -> None:
        """Nothing is remembered."""

    def end(self, envs: Sequence[int]) -> None:
        """Nothing is remembered."""

    def act(
        self, envs: Sequence[int], observations: Tensor, generator: torch.Generator | None = None
    ) -> Choice:
        """Draw an action for each of `envs`; there is no most probable one to take."""
        generator = self._generator if generator is None else generator
        drawn = self._probabilities.multinomial(len(envs), replacement=True, generator=generator)
        return _choice(drawn, self._probabilities.expand(len(envs), -1))


class AlwaysPolicy:
    """The same action at every step."""

    def __init__(self, action: int, actions: int) -> None:
        """Take `action`, one of 0 to `actions` - 1.

        Raises:
            ConfigError: there is no such action.
        """
        if not 0 <= action < actions:
            raise ConfigError(
                f"there is no action {action!r}", f"Take one from 0 to {actions - 1}."
            )
        self._action, self._actions = action, actions

    def begin(self, envs: Sequence[int], instructions: Sequence[str]) -> None:
        """Nothing is remembered."""

    def end(self, envs: Sequence[int]) -> None:
        """Nothing is remembered."""

    def act(
        self, envs: Sequence[int], observations: Tensor, generator: torch.Generator | None = None
    ) -> Choice:
        """The action, for each of `envs`."""
        return _certain([self._action] * len(envs), self._actions)


class OraclePolicy:
    """Plays the solutions that the episodes were made with; sees and reads nothing."""

    def __init__(self, solution: Callable[[int], Sequence[int]], actions: int) -> None:
        """Play from the start of each episode.

        Args:
            solution: actions that solve the episode that runs in an environment.
            actions: how many there are.
        """
        self._solution, self._actions = solution, actions
        self._left: dict[int, list[int]] = {}

    def begin(self, envs: Sequence[int], instructions: Sequence[str]) -> None:
        """Look the solutions up of what has just begun in `envs`."""
        self._left |= {env: list(self._solution(env)) for env in envs}

    def end(self, envs: Sequence[int]) -> None:
        """The episodes of `envs` are over."""
        for env in envs:
            self._left.pop(env, None)

    def act(
        self, envs: Sequence[int], observations: Tensor, generator: torch.Generator | None = None
    ) -> Choice:
        """The next action of each solution.

        Raises:
            EngineError: a solution was played to its end and its episode goes on.
        """
        spent = [env for env in envs if not self._left.get(env)]
        if spent:
            raise EngineError(
                f"the episodes in {spent!r} go on after the last action of their solution",
                "Validate solutions where episodes are made: each has to reach the goal.",
            )
        return _certain([self._left[env].pop(0) for env in envs], self._actions)


def _certain(actions: Sequence[int], count: int) -> Choice:
    chosen = torch.tensor(actions)
    return _choice(chosen, torch.nn.functional.one_hot(chosen, count).float())


def _choice(actions: Tensor, probabilities: Tensor) -> Choice:
    """Without a value, and without features: there is nothing to learn."""
    chosen = probabilities.gather(1, actions[:, None])[:, 0]
    n = len(actions)
    return Choice(actions, chosen.log(), torch.zeros(n), probabilities, torch.zeros(n, 0))
