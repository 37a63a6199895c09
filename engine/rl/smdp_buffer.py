"""A rollout buffer whose transitions last different numbers of env frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer


class SmdpRolloutBuffer(MaskableRolloutBuffer):
    """GAE with one discount per transition (semi-MDP; Sutton et al. 1999, Schulman et al. 2016).

    A decision of k frames has the discount `gamma**k` and the reward `sum(gamma**j * r_j)`:

        delta_t = r_t + discount_t * V_{t+1} - V_t
        A_t     = delta_t + discount_t * gae_lambda * A_{t+1}

    `gae_lambda` counts decisions, not frames: the trace fades by how often the critic was asked.
    With k = 1 everywhere this is `MaskableRolloutBuffer` to the last bit.
    """

    discounts: NDArray[np.float64]
    """Shape (buffer_size, n_envs)."""

    def reset(self) -> None:
        """Empty the buffer."""
        super().reset()
        self.discounts = np.full((self.buffer_size, self.n_envs), self.gamma, dtype=np.float64)

    def add(self, *args: Any, discounts: NDArray[np.float64] | None = None, **kwargs: Any) -> None:
        """Add one transition of each environment; `discounts` has shape (n_envs,)."""
        if discounts is not None:
            self.discounts[self.pos] = discounts
        super().add(*args, **kwargs)

    def compute_returns_and_advantage(
        self, last_values: torch.Tensor, dones: NDArray[np.bool_]
    ) -> None:
        """Fill `advantages` and `returns` from the end backwards.

        Args:
            last_values: value of the observation after the last transition, one per environment.
            dones: whether the last transition ended its episode.
        """
        next_values = last_values.clone().cpu().numpy().flatten()
        advantage: NDArray[np.float32] = np.zeros(self.n_envs, dtype=np.float32)
        # The products are taken in float64 and rounded once, as plain PPO rounds gamma*lambda.
        discounts = self.discounts.astype(np.float32)
        traces = (self.discounts * self.gae_lambda).astype(np.float32)
        goes_on = 1.0 - np.concatenate((self.episode_starts[1:], [dones]), dtype=np.float32)
        for step in reversed(range(self.buffer_size)):
            delta = (
                self.rewards[step]
                + discounts[step] * next_values * goes_on[step]
                - self.values[step]
            )
            advantage = delta + traces[step] * goes_on[step] * advantage
            self.advantages[step] = advantage
            next_values = self.values[step]
        self.returns = self.advantages + self.values
