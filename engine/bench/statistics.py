"""Stratified-bootstrap intervals over episodes, the strata being the training seeds.

After Agarwal et al. 2021, "Deep RL at the Edge of the Statistical Precipice" (arXiv 2108.13264,
section 4): episodes are drawn with replacement within each stratum, the figure is computed anew
for each draw, and the interval goes from its 2.5 % to its 97.5 % quantile. A score is computed
for each stratum from its success rates and then averaged, as Crafter's own evaluation does over
training seeds (arXiv 2109.06780). So an interval tells of the chance in worlds and episodes of
these training seeds; how training seeds differ, the figures by seed show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from engine.agents.plan import Record
from engine.bench.records import EpisodeRecord

CONFIDENCE = 0.95
RESAMPLES = 4_000
_BATCH = 2_000_000
"""Episodes drawn at a time, which bounds the memory."""

Matrix = NDArray[np.float64]
Score = Callable[[Mapping[str, float]], float]


class Estimate(Record):
    """A figure with its interval; both ends are the figure where all episodes agree."""

    value: float
    low: float
    high: float

    def is_apart_from(self, other: Estimate) -> bool:
        """True when the two intervals do not overlap."""
        return self.low > other.high or other.low > self.high


class Summary(Record):
    """All figures of one arm."""

    score: Estimate
    """In percent, by the benchmark's formula."""
    reward: Estimate
    frames: Estimate
    """Length of an episode in env frames."""
    task_success: Estimate
    success: dict[str, Estimate]
    """Share of episodes (0..1) by achievement."""
    episodes: int = Field(ge=1)


def summarise(
    strata: Sequence[Sequence[EpisodeRecord]],
    achievements: Sequence[str],
    score: Score,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Summary:
    """Figures and intervals of one arm.

    Args:
        strata: the episodes of each training seed; one stratum where nothing was trained.
        score: the benchmark's score from success rates by achievement.
        seed: of the draws, so that the same episodes give the same intervals.

    Raises:
        ValueError: no stratum, or one without episodes.
    """
    if not strata or not all(strata):
        raise ValueError("every stratum needs at least one episode")
    columns = [episode_columns(stratum, achievements) for stratum in strata]
    rng = np.random.default_rng(seed)
    drawn = [resampled_means(column, resamples, rng) for column in columns]
    exact = [column.mean(axis=0, keepdims=True) for column in columns]
    values, draws = np.mean(exact, axis=0), np.mean(drawn, axis=0)

    def scores(means: Sequence[Matrix]) -> Matrix:
        found: Matrix = np.mean([scores_of(rows, achievements, score) for rows in means], axis=0)
        return found

    figures = [
        interval(float(values[0, index]), draws[:, index]) for index in range(values.shape[1])
    ]
    of_achievements, others = figures[: len(achievements)], figures[len(achievements) :]
    return Summary(
        score=interval(float(scores(exact)[0]), scores(drawn)),
        reward=others[0],
        frames=others[1],
        task_success=others[2],
        success=dict(zip(achievements, of_achievements, strict=True)),
        episodes=sum(len(stratum) for stratum in strata),
    )


def success_rates(
    episodes: Sequence[EpisodeRecord], achievements: Sequence[str]
) -> dict[str, float]:
    """Share of episodes by achievement."""
    return {
        name: sum(name in episode.achievements for episode in episodes) / len(episodes)
        for name in achievements
    }


def resampled_means(columns: Matrix, resamples: int, rng: np.random.Generator) -> Matrix:
    """Column means of `resamples` draws of the rows with replacement.

    Args:
        columns: one row per episode, shape (episodes, figures).

    Returns:
        Shape (resamples, figures).
    """
    count = len(columns)
    at_once = max(1, _BATCH // count)
    means = []
    for first in range(0, resamples, at_once):
        rows = min(at_once, resamples - first)
        drawn = rng.integers(0, count, (rows, count)) + count * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)
        means.append(times @ columns / count)
    return np.concatenate(means)


def interval(value: float, draws: Matrix, confidence: float = CONFIDENCE) -> Estimate:
    """The figure with the percentile interval of its draws."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, (tail, 1 - tail))
    return Estimate(value=value, low=float(low), high=float(high))


def episode_columns(episodes: Sequence[EpisodeRecord], achievements: Sequence[str]) -> Matrix:
    """One row per episode: each achievement (0 or 1), reward, env frames, task success."""
    return np.array(
        [
            [
                *(float(name in episode.achievements) for name in achievements),
                episode.reward,
                float(episode.frames),
                float(episode.task_success),
            ]
            for episode in episodes
        ]
    )


def scores_of(rows: Matrix, achievements: Sequence[str], score: Score) -> Matrix:
    """Score of each row of success rates; columns behind the achievements are left out."""
    return np.array([score(dict(zip(achievements, row, strict=False))) for row in rows.tolist()])
