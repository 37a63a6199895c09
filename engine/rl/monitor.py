"""Follows a training from the inside: metrics per update, and checkpoints between updates."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from engine.events import TrainingMetrics
from engine.rl.control import Valve
from engine.rl.option_env import EpisodeSummary
from engine.rl.training_state import Counters, FinishedEpisode

EPISODES = 100
"""Finished episodes the running averages look back on."""


class TrainingMonitor(BaseCallback):
    """Counts frames, decisions and episodes, and tells of each update.

    `between_updates` is called before each rollout and once after the last update: the only
    moments at which a training can be saved.
    """

    def __init__(
        self,
        budget: int,
        primitives: int,
        valve: Valve,
        *,
        tell: Callable[[TrainingMetrics], None],
        between_updates: Callable[[Counters], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._budget = budget
        self._primitives = primitives
        self._valve = valve
        self._tell = tell
        self._between_updates = between_updates
        self._clock = clock
        self._decisions = 0
        self._updates = 0
        self._recent: deque[FinishedEpisode] = deque(maxlen=EPISODES)
        self._coded = 0
        self._chosen = 0
        self._untold = False
        self._frames = 0
        self._started = (0, 0.0)
        self._last = (0, 0.0)

    @property
    def counters(self) -> Counters:
        """How far the training is."""
        return Counters(self._frames, self._decisions, self._updates, tuple(self._recent))

    @property
    def success_rate(self) -> float | None:
        """Share of the recent episodes in which the task's predicate came true."""
        return _mean(episode.task_success for episode in self._recent)

    def go_on(self, counters: Counters) -> None:
        """Continue the counts of an earlier process."""
        self._frames = counters.frames
        self._decisions = counters.decisions
        self._updates = counters.updates
        self._recent.extend(counters.recent)

    def finish(self) -> None:
        """Tell of the last update; no rollout begins after it that would."""
        self._boundary()

    def _on_training_start(self) -> None:
        self._started = self._last = (self._frames, self._seconds())

    def _on_rollout_start(self) -> None:
        self._boundary()

    def _on_step(self) -> bool:
        actions = np.asarray(self.locals["chosen"])
        self._chosen += actions.size
        self._coded += int((actions >= self._primitives).sum())
        for info in self.locals["infos"]:
            summary = info.get("summary")
            if isinstance(summary, EpisodeSummary):
                self._recent.append(
                    FinishedEpisode(
                        episodic_return=summary.episodic_return,
                        frames=summary.frames,
                        task_success=summary.task_success,
                    )
                )
        return True

    def _on_rollout_end(self) -> None:
        self._frames = self.num_timesteps
        self._decisions += self._chosen
        self._updates += 1
        self._untold = True

    def _boundary(self) -> None:
        if self._untold:
            self._tell(self._metrics())
            self._untold = False
        self._chosen = self._coded = 0
        self._between_updates(self.counters)

    def _metrics(self) -> TrainingMetrics:
        now = self._seconds()
        since = (self._frames - self._last[0]) / max(now - self._last[1], 1e-9)
        overall = (self._frames - self._started[0]) / max(now - self._started[1], 1e-9)
        self._last = (self._frames, now)
        losses = self.logger.name_to_value
        left = max(self._budget - self._frames, 0)
        return TrainingMetrics(
            frames=self._frames,
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
            decisions=self._decisions,
            coded_share=self._coded / max(self._chosen, 1),
            eta_seconds=left / overall if overall > 0 else None,
        )

    def _seconds(self) -> float:
        """Time at work: pauses do not count."""
        return self._clock() - self._valve.paused_seconds


def _mean(values: Iterable[float]) -> float | None:
    collected = list(values)
    return sum(collected) / len(collected) if collected else None
