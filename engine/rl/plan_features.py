"""What the plan says of each coded action now: the part of the observation that options add."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.rl.conditions import Flags

FEATURES: Final = ("may_run", "done", "running", "comes_next")
FEATURE_WEIGHT: Final = 3.0
"""What a true feature counts: a handful of them stands beside a hundred cells of view."""


def feature_count(coded_actions: int) -> int:
    """Numbers that `plan_features` adds to the observation."""
    return len(FEATURES) * coded_actions


class PlanSays(NamedTuple):
    """What an observation tells of the plan: a block per feature, shape (rows, coded actions)."""

    may_run: Flags
    done: Flags
    running: Flags
    comes_next: Flags


def plan_says(observations: NDArray[np.float32], coded_actions: int) -> PlanSays:
    """The `plan_features` at the end of observations, read back."""
    first = observations.shape[1] - feature_count(coded_actions)
    blocks = observations[:, first:].reshape(len(observations), len(FEATURES), coded_actions)
    return PlanSays(*(blocks[:, number] > 0 for number in range(len(FEATURES))))


def plan_features(
    may_run: Flags,
    dues: Flags,
    successes: Flags,
    interrupts: Flags,
    running: NDArray[np.int64],
) -> NDArray[np.float32]:
    """One block per feature of `FEATURES`, 0 for no, shape (places, feature_count).

    `comes_next` is what code alone would run: the one that can go on, unless its interrupt rule
    holds; else the first in plan order that may run, is due and not done. Whether to follow the
    plan is what the policy learns.

    Args:
        may_run: shape (places, coded actions), as are `dues`, `successes` and `interrupts`.
        running: number of the coded action that stands still and can go on; -1 for none.
    """
    places, actions = may_run.shape
    features = np.zeros((places, len(FEATURES), actions), np.float32)
    if actions:
        rows = np.arange(places)
        features[:, 0] = may_run
        features[:, 1] = successes
        candidates = may_run & dues & ~successes
        stands = np.flatnonzero(running >= 0)
        features[stands, 2, running[stands]] = 1.0
        calm = stands[~interrupts[stands, running[stands]]]
        candidates[calm] = False
        candidates[calm, running[calm]] = True
        first = candidates.argmax(axis=1)
        features[rows, 3, first] = candidates[rows, first]
    return features.reshape(places, len(FEATURES) * actions) * np.float32(FEATURE_WEIGHT)
