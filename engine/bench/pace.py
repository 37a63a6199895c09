"""How fast jobs go and how long all that is left will take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.bench.config import Arm, BenchConfig
from engine.bench.jobs import EvalJob, Job, TrainJob
from engine.bench.messages import EvaluationProgress, Progress, TrainingProgress


class Pace:
    """Learns from what jobs tell; an arm that has not told yet is taken to be like another one."""

    def __init__(self, config: BenchConfig) -> None:
        self._config = config
        self._frame_seconds: dict[Arm, float] = {}
        self._episode_seconds: dict[Arm, float] = {}

    def see(self, job: Job, progress: Progress) -> None:
        """Take what a job told."""
        if isinstance(progress, TrainingProgress):
            if progress.frames and progress.seconds > 0:
                self._frame_seconds[job.arm] = progress.seconds / progress.frames
        elif progress.done:
            self._episode_seconds[job.arm] = progress.seconds / progress.done

    def left(self, job: Job, progress: Progress | None = None) -> float | None:
        """Seconds until the job is over; None while nobody can know."""
        if isinstance(job, EvalJob):
            done = progress.done if isinstance(progress, EvaluationProgress) else 0
            each = _known(self._episode_seconds, job.arm)
            return None if each is None else each * (job.episodes - done)
        return self._training_left(job, progress)

    def _training_left(self, job: TrainJob, progress: Progress | None) -> float | None:
        frames, seconds = 0, 0.0
        if isinstance(progress, TrainingProgress):
            frames, seconds = progress.frames, progress.seconds
        bounds = []
        if self._config.minutes is not None:
            bounds.append(max(0.0, 60 * self._config.minutes - seconds))
        each = _known(self._frame_seconds, job.arm)
        if self._config.frames is not None and each is not None:
            bounds.append(max(0, self._config.frames - frames) * each)
        return min(bounds, default=None)

    def all_left(
        self, running: Mapping[Job, Progress | None], waiting: Iterable[Job], parallel: int
    ) -> float | None:
        """Seconds until everything is over; None while nobody can know.

        The work there is, shared evenly; but no less than the longest job takes.
        """
        parts = [self.left(job, progress) for job, progress in running.items()]
        parts += [self.left(job) for job in waiting]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return max(sum(known) / parallel, max(known, default=0.0))


def _known(pace: Mapping[Arm, float], arm: Arm) -> float | None:
    if arm in pace:
        return pace[arm]
    return max(pace.values(), default=None)
