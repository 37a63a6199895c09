"""One job, done: a training with its curve and checkpoints, or an evaluation of some worlds."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

from engine.bench import arms
from engine.bench.config import BenchConfig
from engine.bench.curve import CurveLog, usage_by_part
from engine.bench.jobs import EvalJob, Job, TrainJob
from engine.bench.messages import EvaluationProgress, JobStopped, Link, TrainingProgress
from engine.bench.records import CurvePoint, EvaluationRecord, TrainingRecord
from engine.bench.store import BenchStore
from engine.bench.versions import source_digest
from engine.errors import EngineError
from engine.rl.control import Control

TELL_SECONDS = 1.0

Work = Callable[[Job, BenchConfig, BenchStore, Link], None]


def do(job: Job, config: BenchConfig, store: BenchStore, link: Link) -> None:
    """Do the job and keep its record.

    Raises:
        JobStopped: it was told to stop; a training goes on from its checkpoint next time.
        EngineError: it cannot be done.
    """
    if isinstance(job, TrainJob):
        _Training(job, config, store, link).do()
    else:
        _evaluate(job, config, store, link)


class _Training:
    """One training under way."""

    def __init__(self, job: TrainJob, config: BenchConfig, store: BenchStore, link: Link) -> None:
        self._job = job
        self._config = config
        self._store = store
        self._link = link
        self._curve = CurveLog(store.curve(job), config.frames)
        self._before = self._curve.seconds
        self._began = time.monotonic()
        self._told = 0.0

    def do(self) -> None:
        """Train to the end of the budget."""
        source = source_digest()
        watch = arms.Watch(self._started, self._update, self._curve.flush, self._control)
        trained = arms.train(self._job, self._config, self._store.checkpoint(self._job), watch)
        self._curve.flush()
        if trained.ended == "stopped":
            raise JobStopped
        points = tuple(self._curve.points)
        self._store.finish(
            self._job,
            TrainingRecord(
                arm=self._job.arm,
                seed=self._job.seed,
                frames=trained.frames,
                seconds=self._seconds(),
                ended=trained.ended,
                policy_spec=trained.policy_spec,
                policy_sha256=self._store.keep_policy(self._job, trained.weights),
                training_success=trained.training_success,
                training_episodes=trained.training_episodes,
                usage=usage_by_part(points),
                curve=points,
                peak_memory_gb=_peak_memory_gb(),
                source=source,
            ),
        )

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._began

    def _started(self, frames_done: int) -> None:
        self._curve.go_on_from(frames_done)
        self._before, self._began = self._curve.seconds, time.monotonic()
        self._link.tell(TrainingProgress(frames_done, self._before))

    def _update(self, update: arms.Update) -> None:
        seconds = self._seconds()
        self._curve.add(
            CurvePoint(
                frames=update.frames,
                seconds=seconds,
                episodic_return=update.episodic_return,
                success_rate=update.success_rate,
                usage=dict(update.usage),
            )
        )
        if seconds - self._told >= TELL_SECONDS:
            self._told = seconds
            self._link.tell(
                TrainingProgress(
                    update.frames,
                    seconds,
                    update.sps,
                    update.episodic_return,
                    update.success_rate,
                )
            )

    def _control(self) -> Control:
        return "stop_and_keep" if self._link.stopping() else "go"


def _evaluate(job: EvalJob, config: BenchConfig, store: BenchStore, link: Link) -> None:
    source = source_digest()
    trained, sha256 = arms.Policies(), None
    if job.needs is not None:
        record = store.training(job.needs)
        if record is None:
            raise EngineError(
                f"{job.title}: its policy is not trained", "Run the same command again."
            )
        trained = arms.Policies(record.policy_spec, store.policy(job.needs))
        sha256 = record.policy_sha256
    began = time.monotonic()
    episodes = arms.play(
        job,
        config,
        trained,
        should_stop=link.stopping,
        progress=lambda done, seconds: link.tell(EvaluationProgress(done, seconds)),
    )
    if len(episodes) < job.episodes:
        raise JobStopped
    store.finish(
        job,
        EvaluationRecord(
            arm=job.arm,
            seed=job.seed,
            policy_sha256=sha256,
            episodes=tuple(episodes),
            seconds=time.monotonic() - began,
            source=source,
        ),
    )


def _peak_memory_gb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e9 if sys.platform == "darwin" else 1e9 / 1024)
