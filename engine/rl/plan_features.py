"""What the plan says of each coded action now: the part of the observation that options add."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.rl.conditions import Flags

FEATURES: Final = ("may_run", "done", "running", "comes_next")
FEATURE_WEIGHT: Final = 3.0
"""What a true feature counts: a handful of them stands beside a hundred cells of view."""


def feature_count(coded_actions: int) -> int:
    """Numbers that `plan_features` adds to the observation."""
    return len(FEATURES) * coded_actions


def plan_features(
    may_run: Flags, dues: Flags, successes: Flags, running: NDArray[np.int64]
) -> NDArray[np.float32]:
    """One block per feature of `FEATURES`, 0 for no, shape (places, feature_count).

    `comes_next` is the first coded action in plan order that may run, is due and not done: what
    code alone would run. Whether to follow the plan is what the policy learns.

    Args:
        may_run: shape (places, coded actions), as are `dues` and `successes`.
        running: number of the coded action that stands still and can go on; -1 for none.
    """
    places, actions = may_run.shape
    features = np.zeros((places, len(FEATURES), actions), np.float32)
    if actions:
        rows = np.arange(places)
        features[:, 0] = may_run
        features[:, 1] = successes
        features[rows[running >= 0], 2, running[running >= 0]] = 1.0
        candidates = may_run & dues & ~successes
        first = candidates.argmax(axis=1)
        features[rows, 3, first] = candidates[rows, first]
    return features.reshape(places, -1) * np.float32(FEATURE_WEIGHT)
