"""How sure a success rate is."""

from __future__ import annotations

import math

_Z = 1.959963984540054
"""Of a normal distribution: 97.5 % lie below."""


def wilson(successes: int, episodes: int) -> tuple[float, float]:
    """Bounds of the 95 % interval of a success rate (Wilson 1927); (0, 1) without episodes."""
    if episodes == 0:
        return 0.0, 1.0
    rate = successes / episodes
    spread = _Z * math.sqrt(rate * (1 - rate) / episodes + _Z**2 / (4 * episodes**2))
    middle = rate + _Z**2 / (2 * episodes)
    scale = 1 + _Z**2 / episodes
    # Rounding may leave the bounds of 0 and of 1 a hair on either side.
    low = 0.0 if successes == 0 else max(0.0, (middle - spread) / scale)
    high = 1.0 if successes == episodes else min(1.0, (middle + spread) / scale)
    return low, high


def lower_bound(successes: int, episodes: int) -> float:
    """The rate that the true one is above with 97.5 % confidence."""
    return wilson(successes, episodes)[0]
