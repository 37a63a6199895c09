"""Training and evaluation tasks of Language Rearrangement, as a policy's environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.llarp.controls import Blind, PlayedTasks, Untold
from engine.llarp.rollout import Outcome
from engine.llarp.settings import PolicyKind
from engine.worlds.rearrange.batch import LEAVE, RearrangeBatch
from engine.worlds.rearrange.episode import Episode
from engine.worlds.rearrange.generator import TaskGenerator

KEPT = 20_000
"""Training tasks that are kept once they were generated."""


class Source(Protocol):
    """Where the next episode comes from."""

    def next(self) -> Episode:
        """The episode to be played next."""
        ...


class TrainingTasks:
    """Training tasks in random order; its place in that order can be kept and restored."""

    def __init__(
        self, generator: TaskGenerator, *, count: int, kinds: Sequence[str], seed: int
    ) -> None:
        """Draw from the first `count` training tasks, of some kinds or, when empty, of all."""
        self._generator = generator
        self._count = count
        self._kinds = frozenset(kinds)
        self._rng = np.random.default_rng(seed)
        self._known: dict[int, Episode] = {}

    def next(self) -> Episode:
        """A task drawn uniformly."""
        while True:
            episode = self._task(int(self._rng.integers(self._count)))
            if not self._kinds or episode.kind in self._kinds:
                return episode

    @property
    def state(self) -> Mapping[str, Any]:
        """Where the order stands, as JSON."""
        return dict(self._rng.bit_generator.state)

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        self._rng.bit_generator.state = dict(state)

    def _task(self, number: int) -> Episode:
        found = self._known.get(number)
        if found is None:
            found = self._generator.training(number)
            if len(self._known) < KEPT:
                self._known[number] = found
        return found


class Flats:
    """Flats side by side, as environments to train on and as places to play given episodes."""

    def __init__(
        self,
        batch: RearrangeBatch,
        source: Source | None = None,
        *,
        on_step: Callable[[RearrangeBatch, Sequence[int]], None] = lambda _batch, _envs: None,
    ) -> None:
        """Put flats around a batch.

        Args:
            batch: plays.
            source: of the episodes that `begin` begins.
            on_step: told, before each step is taken, in which of them.
        """
        self._batch = batch
        self._source = source
        self._on_step = on_step

    @property
    def size(self) -> int:
        """How many there are."""
        return self._batch.size

    def begin(self, env: int) -> str:
        """Begin the source's next episode in `env`; its instruction.

        Raises:
            ValueError: there is no source.
        """
        if self._source is None:
            raise ValueError("these flats have no source of episodes: use `start`")
        return self.start(env, self._source.next())

    def start(self, env: int, episode: Episode) -> str:
        """Begin this episode in `env`; its instruction."""
        self._batch.begin(env, episode)
        return episode.instruction

    def episode(self, env: int) -> Episode:
        """The episode in `env`."""
        return self._batch.episode(env)

    def observe(self, envs: Sequence[int]) -> NDArray[np.generic]:
        """Pictures (n, size, size, 3) uint8."""
        return self._batch.observe(np.asarray(envs))

    def step(self, envs: Sequence[int], actions: NDArray[np.int64]) -> Outcome:
        """Take one action in each of `envs`; the others wait."""
        self._on_step(self._batch, envs)
        chosen = np.full(self._batch.size, LEAVE, np.int64)
        where = np.asarray(envs)
        chosen[where] = actions
        step = self._batch.step(chosen)
        return Outcome(
            step.rewards[where].astype(np.float32), step.done[where], step.success[where]
        )


def controlled(flats: Flats, kind: PolicyKind) -> PlayedTasks[Episode]:
    """The same flats as a control sees or hears them."""
    if kind == "blind":
        return Blind(flats)
    return Untold(flats) if kind == "no_text" else flats
