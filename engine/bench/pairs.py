"""What one arm gains over another in the very same worlds.

Every policy plays the same unseen worlds, and some worlds are harder than others for all of them.
A difference within each world leaves that out, which two intervals side by side do not: the worlds
are drawn with replacement, the same draw for both arms and all their training seeds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.agents.plan import Record
from engine.bench.records import EpisodeRecord
from engine.bench.statistics import (
    RESAMPLES,
    Estimate,
    Matrix,
    Score,
    episode_columns,
    interval,
    resampled_means,
    scores_of,
)


class Gain(Record):
    """Figures of one arm minus those of another, in the worlds that both have played."""

    score: Estimate
    """In points of percent."""
    reward: Estimate
    frames: Estimate
    task_success: Estimate
    success: dict[str, Estimate]
    """Of the share of episodes (-1..1) by achievement."""
    worlds: int


def gain(
    mine: Sequence[Sequence[EpisodeRecord]],
    other: Sequence[Sequence[EpisodeRecord]],
    achievements: Sequence[str],
    score: Score,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Gain | None:
    """What `mine` gains over `other`; None when they have no world in common.

    Args:
        mine: the episodes of each training seed; one stratum where nothing was trained.
        other: likewise.
    """
    strata = [{one.seed: one for one in stratum} for stratum in (*mine, *other)]
    if not mine or not other:
        return None
    worlds = sorted(set.intersection(*(set(stratum) for stratum in strata)))
    if not worlds:
        return None
    sides = [
        episode_columns([stratum[world] for world in worlds], achievements) for stratum in strata
    ]
    rng = np.random.default_rng(seed)
    drawn = resampled_means(np.hstack(sides), resamples, rng)
    exact = np.hstack(sides).mean(axis=0, keepdims=True)

    def difference(means: Matrix) -> Matrix:
        """The score, then every column; one row per draw."""
        parts = np.split(means, len(strata), axis=1)
        rows = [np.column_stack((scores_of(part, achievements, score), part)) for part in parts]
        found: Matrix = np.mean(rows[: len(mine)], axis=0) - np.mean(rows[len(mine) :], axis=0)
        return found

    values, draws = difference(exact)[0], difference(drawn)
    figures = [interval(float(value), draws[:, i]) for i, value in enumerate(values)]
    first, *rest = figures
    reward, frames, task_success = rest[len(achievements) :]
    return Gain(
        score=first,
        reward=reward,
        frames=frames,
        task_success=task_success,
        success=dict(zip(achievements, rest, strict=False)),
        worlds=len(worlds),
    )
