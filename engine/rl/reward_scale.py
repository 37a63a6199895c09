"""Rewards on a common scale: divided by the spread of what the policy has earned so far."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.rl.decisions import Ints

CLIP: Final = 10.0
"""No scaled reward is farther from zero."""
_TINY: Final = 1e-8


class RewardScale:
    """Divides rewards by the running standard deviation of the discounted return so far.

    As `VecNormalize` of Stable-Baselines3 does it, with one discount per decision. Worlds whose
    rewards are all of one order do not need it; where they lie in the hundreds or thousandths, one
    setting of learning rate and value loss serves them all.
    """

    def __init__(self, size: int) -> None:
        """Nothing is known yet.

        Args:
            size: places of the batch.
        """
        self.returns: NDArray[np.float64] = np.zeros(size)
        """What each place has earned since its episode began, discounted."""
        self.moments: NDArray[np.float64] = np.zeros(3)
        """How many returns were seen, their mean, and the sum of squared distances to it."""

    @property
    def deviation(self) -> float:
        """Standard deviation of the returns seen; 1 before there are two that differ."""
        count, _, squares = self.moments.tolist()
        variance = squares / count if count else 0.0
        return float(np.sqrt(variance)) if variance > _TINY else 1.0

    def scaled(
        self,
        places: Ints,
        rewards: NDArray[np.float64],
        discounts: NDArray[np.float64],
        over: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """The rewards of decisions that have ended, after taking note of them.

        Args:
            discounts: `gamma**k` of each.
            over: whether the episode ended with it.
        """
        self.returns[places] = self.returns[places] * discounts + rewards
        for value in self.returns[places].tolist():
            self._see(value)
        self.returns[places[over]] = 0.0
        return np.clip(rewards / self.deviation, -CLIP, CLIP)

    def _see(self, value: float) -> None:
        """Welford's update."""
        self.moments[0] += 1
        away = value - self.moments[1]
        self.moments[1] += away / self.moments[0]
        self.moments[2] += away * (value - self.moments[1])
