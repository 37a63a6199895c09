"""Words about decisions in a batch: when they are asked for, what they earn, how they ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.rl.episodes import EpisodeSummary
from engine.worlds.base import Observation

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
"""Which actions may be chosen, shape (rows, actions)."""


@dataclass(frozen=True, slots=True)
class Bonus:
    """Extra reward in training, paid once per episode; zero in evaluation."""

    goal: float = 0.0
    """For each goal of the plan that comes true."""
    task: float = 0.0
    """For the task itself."""
    part: float = 0.0
    """For each part of a task that has several (`engine.rl.task_parts`), times how rare it is."""


@dataclass(frozen=True, slots=True)
class Rechoice:
    """When a coded action that still runs is put to the policy, which may let it go on."""

    interrupt: Literal["edge", "level"] = "edge"
    """`edge`: in the frame in which its interrupt rule comes true; `level`: while it holds."""
    every: int = 0
    """Also every so many frames; 0 for never, 1 lets the policy end an option at any frame."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Decisions that ended with a frame; arrays with one entry per decision."""

    places: Ints
    rewards: NDArray[np.float64]
    """`sum(gamma**j * r_j)`, with bonuses."""
    discounts: NDArray[np.float64]
    """`gamma**k`."""
    frames: Ints
    over: NDArray[np.bool_]
    """The episode ended with it."""
    cut: NDArray[np.bool_]
    """The episode did not end by itself but ran out of frames."""
    last: Observation
    """What was seen last in the episodes that were cut, in the order of `places[cut]`."""
    outcomes: tuple[str, ...]
    """How coded actions ended: an `Outcome`; `died`, `done` (the task is) or `cut` (out of frames)
    with the episode; `yielded` when they can go on; empty for primitives."""
    summaries: tuple[EpisodeSummary, ...]
    """Of the episodes that ended."""
