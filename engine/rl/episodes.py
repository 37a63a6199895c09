"""Episodes of a batch: which worlds they are played in, and what came of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """What happened in one finished episode; the return is the world's own, without bonuses."""

    seed: int
    """Of the world."""
    episodic_return: float
    frames: int
    achievements: tuple[str, ...]
    task_success: bool
    goals: tuple[str, ...]
    decisions: int
    coded_decisions: int


class SeedSource(Protocol):
    """Says in which world the next episode of a place is played."""

    def next_seed(self, index: int) -> int | None:
        """Seed of the next episode at a place; None when none shall begin there."""
        ...


class TrainingSeeds:
    """Endless world seeds below a limit, one random stream per place."""

    def __init__(self, seed: int, size: int, limit: int = 1_000_000) -> None:
        """Streams of a training seed; held-out world seeds start at `limit`."""
        self._rngs = [np.random.default_rng((seed, index)) for index in range(size)]
        self._limit = limit

    def next_seed(self, index: int) -> int:
        """The next world seed at a place."""
        return int(self._rngs[index].integers(0, self._limit))

    def state(self, index: int) -> str:
        """Where the stream of a place stands, as JSON."""
        return json.dumps(self._rngs[index].bit_generator.state)

    def restore(self, index: int, state: str) -> None:
        """Go on from a state."""
        self._rngs[index].bit_generator.state = json.loads(state)


class ListedSeeds:
    """Each seed of a list once, given to whichever place is free."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._left: Iterator[int] = iter(seeds)

    def next_seed(self, index: int) -> int | None:
        """The next seed of the list."""
        return next(self._left, None)
