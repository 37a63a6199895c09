"""Do two samples come from one distribution? Textbook tests for large samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def two_proportions(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Two-sided p value of the pooled z test; 1 where both shares are 0 or both 1."""
    pooled = (first.sum() + second.sum()) / (len(first) + len(second))
    variance = pooled * (1 - pooled) * (1 / len(first) + 1 / len(second))
    if variance == 0:
        return 1.0
    return math.erfc(abs(first.mean() - second.mean()) / math.sqrt(2 * variance))


def holm(values: Sequence[float]) -> list[float]:
    """p values adjusted for their number (Holm 1979)."""
    adjusted, highest = [0.0] * len(values), 0.0
    for rank, index in enumerate(np.argsort(values).tolist()):
        highest = max(highest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = highest
    return adjusted


def welch(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Two-sided p value for equal means; the normal limit, for samples of 30 and more."""
    variance = first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second)
    if variance == 0:
        return float(first.mean() == second.mean())
    return math.erfc(abs(first.mean() - second.mean()) / math.sqrt(2 * variance))


def kolmogorov_smirnov(first: NDArray[Any], second: NDArray[Any]) -> float:
    """p value for equal distributions, by the limit of the statistic; ties make it cautious."""
    points = np.concatenate([first, second])
    below = [np.searchsorted(np.sort(x), points, side="right") / len(x) for x in (first, second)]
    gap = np.abs(below[0] - below[1]).max()
    root = math.sqrt(len(first) * len(second) / (len(first) + len(second)))
    scaled = (root + 0.12 + 0.11 / root) * gap
    if scaled < 0.3:
        return 1.0  # the series below has not converged, and the value rounds to 1
    terms = [(-1) ** (k - 1) * math.exp(-2 * (k * scaled) ** 2) for k in range(1, 101)]
    return min(1.0, max(0.0, 2 * sum(terms)))
