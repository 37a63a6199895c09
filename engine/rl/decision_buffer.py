"""A rollout of decisions that last different numbers of env frames, and their advantages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import numba
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableRolloutBufferSamples

from engine.rl.decisions import Ints

Floats = NDArray[np.float32]


class DecisionBuffer:
    """Decisions of many places, as many from each as it took (semi-MDP; Sutton et al. 1999).

    A decision is opened when it is taken and closed when it has ended; each place has at most one
    open. A decision of k frames has the reward `sum(gamma**j * r_j)` and the discount `gamma**k`:

        delta_t = r_t + discount_t * V_{t+1} - V_t
        A_t     = delta_t + discount_t * gae_lambda * A_{t+1}

    `gae_lambda` counts decisions, not frames: the trace fades by how often the critic was asked
    (Schulman et al. 2016 with one discount per transition). With k = 1 everywhere this is the
    buffer of MaskablePPO to the last bit.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        device: torch.device | str = "auto",
        gae_lambda: float = 1,
        gamma: float = 0.99,
        n_envs: int = 1,
    ) -> None:
        """Arguments as of Stable-Baselines3's buffers; sizes grow as they are needed."""
        self.device = torch.device("cpu" if device == "auto" else device)
        self.gae_lambda = gae_lambda
        self.reset()

    def reset(self) -> None:
        """Empty the buffer."""
        self._opened: list[tuple[Ints, Floats, Ints, Floats, Floats, NDArray[np.bool_]]] = []
        self._count = 0
        self._latest: dict[int, int] = {}
        self._rewards: list[float] = []
        self._discounts: list[float] = []
        self._over: list[bool] = []
        self.advantages: Floats = np.zeros(0, np.float32)
        self.values: Floats = np.zeros(0, np.float32)
        self.returns: Floats = np.zeros(0, np.float32)
        self.actions: Ints = np.zeros(0, np.int64)
        self._samples: MaskableRolloutBufferSamples | None = None

    def __len__(self) -> int:
        return self._count

    def open(
        self,
        places: Ints,
        observations: Floats,
        actions: Ints,
        values: Floats,
        log_probs: Floats,
        masks: NDArray[np.bool_],
    ) -> None:
        """Decisions were taken at these places; all arrays have one row per place."""
        self._opened.append((places, observations, actions, values, log_probs, masks))
        for place in places.tolist():
            self._latest[place] = self._count
            self._count += 1
        self._rewards += [0.0] * len(places)
        self._discounts += [1.0] * len(places)
        self._over += [False] * len(places)

    def close(
        self,
        places: Ints,
        rewards: NDArray[np.float64],
        discounts: NDArray[np.float64],
        over: NDArray[np.bool_],
    ) -> None:
        """The latest decisions at these places have ended; one that is never closed took 0 frames.

        Args:
            rewards: `sum(gamma**j * r_j)`, with the value of what an episode that ran out of
                frames would have gone on with.
            discounts: `gamma**k`.
            over: whether the episode ended with it.
        """
        for row, place in enumerate(places.tolist()):
            decision = self._latest[place]
            self._rewards[decision] = float(rewards[row])
            self._discounts[decision] = float(discounts[row])
            self._over[decision] = bool(over[row])

    def finish(self, last_values: Floats) -> None:
        """Compute advantages and returns; nothing is opened after.

        Args:
            last_values: value of what each place would go on with, by place.
        """
        columns = [np.concatenate(column) for column in zip(*self._opened, strict=True)]
        # Place by place, in each in the order of time: as Stable-Baselines3 lays them out.
        order = np.argsort(columns[0], kind="stable")
        places, observations, actions, values, log_probs, masks = (c[order] for c in columns)
        discounts = np.array(self._discounts)[order]
        self.advantages = _advantages(
            places,
            np.array(self._rewards, np.float32)[order],
            values,
            # The products are taken in float64 and rounded once, as PPO rounds gamma * lambda.
            discounts.astype(np.float32),
            (discounts * self.gae_lambda).astype(np.float32),
            1.0 - np.array(self._over, np.float32)[order],
            last_values,
        )
        self.values = values
        self.returns = self.advantages + values
        self.actions = actions
        self._samples = MaskableRolloutBufferSamples(
            observations=self._tensor(observations),
            actions=self._tensor(actions.astype(np.float32).reshape(-1, 1)),
            old_values=self._tensor(values),
            old_log_prob=self._tensor(log_probs),
            advantages=self._tensor(self.advantages),
            returns=self._tensor(self.returns),
            action_masks=self._tensor(masks.astype(np.float32)),
        )

    @property
    def samples(self) -> MaskableRolloutBufferSamples:
        """All decisions, place by place."""
        if self._samples is None:
            raise RuntimeError("the samples are there after `finish`")
        return self._samples

    def get(self, batch_size: int) -> Iterator[MaskableRolloutBufferSamples]:
        """All decisions in random order, in batches of about `batch_size`.

        A rest of less than half a batch is spread over the others: no update hangs on a handful.
        """
        samples = self.samples
        indices = np.random.permutation(self._count)
        batches = max(1, round(self._count / batch_size))
        if self._count % batch_size == 0:
            chunks = np.split(indices, self._count // batch_size)
        else:
            chunks = np.array_split(indices, batches)
        for chunk in chunks:
            rows = torch.from_numpy(chunk).to(self.device)
            yield MaskableRolloutBufferSamples(*(column[rows] for column in samples))

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


@numba.njit(cache=True)
def _advantages(
    places: Ints,
    rewards: Floats,
    values: Floats,
    discounts: Floats,
    traces: Floats,
    goes_on: Floats,
    last_values: Floats,
) -> Floats:
    """From the end backwards; a decision is followed by the next row of the same place."""
    out = np.empty_like(rewards)
    next_value = np.float32(0)
    advantage = np.float32(0)
    for row in range(len(rewards) - 1, -1, -1):
        if row == len(rewards) - 1 or places[row + 1] != places[row]:
            next_value = last_values[places[row]]
            advantage = np.float32(0)
        delta = rewards[row] + discounts[row] * next_value * goes_on[row] - values[row]
        advantage = delta + traces[row] * goes_on[row] * advantage
        out[row] = advantage
        next_value = values[row]
    return out
