"""A batch of any world's own environments: the plain way, for worlds without a faster one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import REST, BatchStep, Observation, PlayerState, World, WorldEnv
from engine.worlds.predicate_table import term_names, term_values


class EnvBatch:
    """`WorldBatch` over environments of their own, stepped one after another."""

    def __init__(self, world: World, size: int, length: int | None = None) -> None:
        """Make `size` environments; `length` overrides the world's `episode_length`."""
        self.size = size
        self.envs: tuple[WorldEnv, ...] = tuple(world.make_env(length) for _ in range(size))
        self._vocabulary = world.vocabulary()
        self.term_names = term_names(self._vocabulary)
        self.terms: NDArray[np.float64] = np.zeros((size, len(self.term_names)), np.float64)
        self.observation_size = int(np.prod(self.envs[0].observation_space.shape or ()))
        self._observations: Observation = np.zeros((size, self.observation_size), np.float32)

    @property
    def players(self) -> Sequence[PlayerState]:
        """What each player knows now."""
        return [env.player for env in self.envs]

    def begin(self, index: int, seed: int) -> None:
        """Start the first episode of a seed at one place of the batch."""
        observation, _ = self.envs[index].reset(seed=seed)
        self._look(index, observation)

    def step(self, actions: NDArray[np.int64]) -> BatchStep:
        """One frame of every episode."""
        rewards = np.zeros(self.size, np.float64)
        terminated, truncated, changed = (np.zeros(self.size, np.bool_) for _ in range(3))
        for index, env in enumerate(self.envs):
            if actions[index] == REST:
                continue
            observation, reward, dead, cut, info = env.step(actions[index])
            rewards[index] = reward
            terminated[index], truncated[index] = dead, cut
            changed[index] = info["changed"]
            self._look(index, observation)
        return BatchStep(rewards, terminated, truncated, changed)

    def observe(self, indices: NDArray[np.int64]) -> Observation:
        """Observations of some places, shape (len(indices), observation_size)."""
        return self._observations[indices]

    def achievements(self, index: int) -> frozenset[str]:
        """What was unlocked in this episode."""
        return self.envs[index].achievements

    def frames(self, index: int) -> int:
        """Env frames of this episode."""
        return self.envs[index].episode_frames

    def snapshot(self, index: int) -> bytes:
        """The whole state of one episode."""
        return self.envs[index].snapshot()

    def restore(self, index: int, snapshot: bytes) -> None:
        """Go on from a snapshot."""
        self._look(index, self.envs[index].restore(snapshot))

    def frame(self, index: int, size: int = 64) -> NDArray[np.uint8]:
        """A picture for the eye, shape (size, size, 3)."""
        return self.envs[index].frame(size)

    def close(self) -> None:
        """Close the environments."""
        for env in self.envs:
            env.close()

    def _look(self, index: int, observation: Observation) -> None:
        self._observations[index] = observation.ravel()
        self.terms[index] = list(term_values(self.envs[index].player, self._vocabulary))
