"""A training: rollout after rollout, with checkpoints it can be resumed from exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from engine.llarp.checkpoint import Kept, TrainingState, restore_training, save_training
from engine.llarp.ppo import Learner, PpoConfig, UpdateMetrics
from engine.llarp.rollout import Tasks, collect
from engine.llarp.sequences import Acting, Episode


@dataclass(frozen=True, slots=True)
class Update:
    """What one rollout and update brought."""

    episodes: Sequence[Episode]
    metrics: UpdateMetrics


class Training:
    """Policy, learner and random numbers of one training.

    Rollouts hold whole episodes, so between two updates no world has a state to keep.
    """

    def __init__(self, policy: Kept, config: PpoConfig, *, rollout_steps: int, seed: int) -> None:
        """Begin at step 0.

        Args:
            policy: what is trained.
            config: of PPO.
            rollout_steps: environment steps per rollout, at least; 32 per environment as released.
            seed: of the actions drawn and of the minibatches.
        """
        self.policy = policy
        self.learner = Learner(policy, config)
        self.rollout_steps = rollout_steps
        self.steps = 0
        """Environment steps so far."""
        self.updates = 0
        self._generator = torch.Generator().manual_seed(seed)
        self._rng = np.random.default_rng(seed)

    def advance(self, tasks: Tasks, acting: Acting | None = None) -> Update:
        """One rollout, one update.

        A rollout that is broken off by an exception leaves everything as it was before it.

        Args:
            tasks: the environments.
            acting: plays in the policy's place, by asking it; None for the policy itself.
        """
        drawn = self._generator.get_state()
        try:
            episodes = collect(acting or self.policy, tasks, self.rollout_steps, self._generator)
        except BaseException:
            self._generator.set_state(drawn)
            raise
        metrics = self.learner.update(episodes, self._rng)
        self.steps += metrics.steps
        self.updates += 1
        return Update(episodes, metrics)

    def save(self, path: Path, extra: Mapping[str, object] | None = None) -> str:
        """Write a checkpoint; the SHA-256 of the file.

        Args:
            path: of the file; the one before is kept beside it.
            extra: what the caller wants back, as JSON: where its tasks stand, say.

        Raises:
            EngineError: it cannot be written.
        """
        state = TrainingState(
            steps=self.steps,
            updates=self.updates,
            numpy_random=self._rng.bit_generator.state,
            extra=dict(extra or {}),
        )
        return save_training(path, self.policy, self.learner.optimizer, self._generator, state)

    def resume(self, path: Path) -> Mapping[str, object]:
        """Go on from the checkpoint at `path`; the `extra` it was saved with.

        Raises:
            DamagedCheckpoint: it cannot be read.
            ConfigError: there is none, or it is of a policy with other parts.
        """
        state = restore_training(path, self.policy, self.learner.optimizer, self._generator)
        self._rng.bit_generator.state = state.numpy_random
        self.steps, self.updates = state.steps, state.updates
        return state.extra
