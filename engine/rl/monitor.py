"""Follows a training from the inside: counts, averages, and the figures of each update."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from engine.events import TrainingMetrics
from engine.rl.control import Valve
from engine.rl.decisions import Finished
from engine.rl.option_batch import OptionBatch
from engine.rl.ppo import SmdpPPO
from engine.rl.training_state import Counters, FinishedEpisode

EPISODES = 100
"""Finished episodes the running averages look back on."""


class TrainingMonitor:
    """Counts frames, decisions and episodes of one training.

    Its figures are those of the last update: a rollout that is thrown away leaves no trace in them.
    """

    def __init__(
        self,
        budget: int,
        batch: OptionBatch,
        valve: Valve,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin at nothing.

        Args:
            budget: env frames in all.
        """
        self._budget = budget
        self._batch = batch
        self._valve = valve
        self._clock = clock
        self._counters = Counters(usage=tuple(batch.usage.tolist()))
        self._recent: deque[FinishedEpisode] = deque(maxlen=EPISODES)
        self._unlocked: Counter[str] = Counter()
        self._episodes = 0
        self.halvings = 0
        self._earlier = 0.0
        self._started = self._last = (0, self._now())

    @property
    def counters(self) -> Counters:
        """How far the training was after its last update."""
        return self._counters

    @property
    def success_rate(self) -> float | None:
        """Share of the recent episodes in which the task's predicate came true."""
        return _mean(episode.task_success for episode in self._counters.recent)

    @property
    def successes(self) -> tuple[int, int]:
        """Of the recent episodes: in how many the task's predicate came true, and of how many."""
        recent = self._counters.recent
        return sum(episode.task_success for episode in recent), len(recent)

    def goal_rates(self, names: Iterable[str]) -> dict[str, float]:
        """Share of the recent episodes in which each of these goals was reached."""
        rates = {name: _mean(name in e.goals for e in self._counters.recent) for name in names}
        return {name: rate for name, rate in rates.items() if rate is not None}

    def go_on(self, counters: Counters) -> None:
        """Continue the counts of an earlier process."""
        self._counters = counters
        self._recent.extend(counters.recent)
        self._unlocked.update(counters.unlocked)
        self._episodes = counters.episodes
        self.halvings = counters.halvings
        self._earlier = counters.seconds
        self._started = self._last = (counters.frames, self._now())

    @property
    def seconds(self) -> float:
        """Time at work on this training so far, in all processes; pauses do not count."""
        return self._earlier + self._now() - self._started[1]

    def see(self, finished: Finished) -> None:
        """Take note of what ended in one frame."""
        for summary in finished.summaries:
            self._episodes += 1
            self._unlocked.update(summary.achievements)
            self._recent.append(
                FinishedEpisode(
                    episodic_return=summary.episodic_return,
                    frames=summary.frames,
                    task_success=summary.task_success,
                    goals=summary.goals,
                )
            )

    def updated(self, model: SmdpPPO) -> TrainingMetrics:
        """Figures of the update that has just been made."""
        before = self._counters
        usage = tuple(self._batch.usage.tolist())
        self._counters = Counters(
            frames=model.num_timesteps,
            decisions=before.decisions + len(model.decisions),
            updates=before.updates + 1,
            recent=tuple(self._recent),
            episodes=self._episodes,
            unlocked=dict(self._unlocked),
            usage=usage,
            part_rates=tuple(self._batch.part_rates.rates.tolist()),
            part_episodes=self._batch.part_rates.episodes,
            halvings=self.halvings,
            seconds=self.seconds,
        )
        now = self._now()
        frames = self._counters.frames
        since = (frames - self._last[0]) / max(now - self._last[1], 1e-9)
        overall = (frames - self._started[0]) / max(now - self._started[1], 1e-9)
        self._last = (frames, now)
        losses = model.logger.name_to_value
        chosen = model.decisions.actions
        options = self._batch.options
        return TrainingMetrics(
            frames=frames,
            frames_total=self._budget,
            success_rate=self.success_rate,
            episodic_return=_mean(episode.episodic_return for episode in self._recent),
            episodic_length=_mean(episode.frames for episode in self._recent),
            sps=since,
            entropy=-float(losses["train/entropy_loss"]),
            approx_kl=float(losses["train/approx_kl"]),
            clipfrac=float(losses["train/clip_fraction"]),
            explained_variance=float(losses["train/explained_variance"]),
            policy_loss=float(losses["train/policy_gradient_loss"]),
            value_loss=float(losses["train/value_loss"]),
            decisions=self._counters.decisions,
            coded_share=float(np.mean(chosen >= options.primitives)),
            eta_seconds=max(self._budget - frames, 0) / overall if overall > 0 else None,
            usage=_shares(options.names[options.primitives :], before.usage, usage),
            plan_share=model.plan_share,
        )

    def _now(self) -> float:
        """A clock that stands still in pauses."""
        return self._clock() - self._valve.paused_seconds


def _shares(coded: Sequence[str], before: Sequence[int], after: Sequence[int]) -> dict[str, float]:
    """Share of the frames between two counts by coded action, where it is not 0."""
    frames = np.array(after) - np.array(before)
    total = max(int(frames.sum()), 1)
    own = frames[len(frames) - len(coded) :].tolist()
    return {name: round(count / total, 4) for name, count in zip(coded, own, strict=True) if count}


def _mean(values: Iterable[float]) -> float | None:
    collected = list(values)
    return sum(collected) / len(collected) if collected else None
