"""Doing the jobs of a benchmark in processes of their own, as many at a time as there are cores."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from engine.bench.config import BenchConfig
from engine.bench.jobs import Job, TrainJob, all_jobs, ready
from engine.bench.messages import Failed, Finished, Progress, Stopped, TrainingProgress
from engine.bench.pace import Pace
from engine.bench.store import BenchStore
from engine.bench.work import Work, do
from engine.bench.worker import main

WAIT_SECONDS = 0.5
STOP_SECONDS = 30.0
"""How long a job may take to reach a safe point once it is told to stop."""
LEAVE_SECONDS = 5.0
_LOG_LINES = 12


@dataclass(frozen=True, slots=True)
class JobBegan:
    """A process has begun with the job."""

    job: Job


@dataclass(frozen=True, slots=True)
class JobGoesOn:
    """A training goes on from the checkpoint of an earlier process."""

    job: Job
    frames: int


@dataclass(frozen=True, slots=True)
class JobEnded:
    """The job is over: its record is kept, or why there is none."""

    job: Job
    seconds: float
    failure: Failed | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """Where everything stands; told every now and then."""

    running: dict[Job, Progress | None]
    left: dict[Job, float | None]
    """Seconds each running job will take; None where nobody can know."""
    finished: int
    total: int
    eta_seconds: float | None


News = JobBegan | JobGoesOn | JobEnded | Status


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the work ended; what is finished stays so in every case."""

    failures: dict[Job, Failed]
    stopped: bool
    """True when a person ended it before everything was done."""


@dataclass(slots=True)
class _Worker:
    """A process, and the job it is at."""

    process: BaseProcess
    connection: Connection
    job: Job | None = None
    began: float = 0.0
    progress: Progress | None = None


@dataclass
class Scheduler:
    """Gives jobs to processes until all are done.

    Every training gets a fresh process; evaluations use one again, since it has loaded everything.

    Args:
        parallel: processes at a time.
        tell: hears of jobs that begin and end, and of the status every `status_seconds`.
        presses: how often a person has asked to stop: once lets jobs reach a safe point, twice
            ends them at once.
        work: what a process does with a job; a function that `spawn` can find by its name.
    """

    store: BenchStore
    config: BenchConfig
    parallel: int
    tell: Callable[[News], None]
    presses: Callable[[], int] = lambda: 0
    work: Work = do
    status_seconds: float = 10.0
    _workers: list[_Worker] = field(default_factory=list)
    _leaving: list[_Worker] = field(default_factory=list)
    _failures: dict[Job, Failed] = field(default_factory=dict)

    def run(self) -> Outcome:
        """Do what is not finished yet."""
        total = all_jobs(self.config)
        self._finished = {job for job in total if self.store.is_finished(job)}
        self._waiting = [job for job in total if job not in self._finished]
        self._pace = Pace(self.config)
        self._total = len(total)
        self._stop_by: float | None = None
        self._status_at = time.monotonic() + self.status_seconds
        try:
            while True:
                if self.presses():
                    self._stop()
                else:
                    self._give_jobs()
                if not self._busy():
                    break
                self._listen()
                self._tell_status()
        finally:
            self._dismiss_all()
        unfinished = len(self._finished) + len(self._failures) < self._total
        return Outcome(self._failures, stopped=self._stop_by is not None and unfinished)

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.job is not None]

    # --- giving jobs --------------------------------------------------------------------

    def _give_jobs(self) -> None:
        while len(self._busy()) < self.parallel:
            job = next((job for job in self._waiting if ready(job, self._finished)), None)
            if job is None:
                return
            self._waiting.remove(job)
            worker = self._worker_for(job)
            worker.job, worker.began, worker.progress = job, time.monotonic(), None
            self.tell(JobBegan(job))
            with contextlib.suppress(OSError):  # it is dead: `_listen` finds out and says so
                worker.connection.send(job)

    def _worker_for(self, job: Job) -> _Worker:
        idle = [worker for worker in self._workers if worker.job is None]
        if idle and not isinstance(job, TrainJob):
            return idle[0]
        for worker in idle:
            self._dismiss(worker)
        here, there = multiprocessing.get_context("spawn").Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=main, args=(there, self.config, self.store.folder, self.work), daemon=False
        )
        with _quiet_start():
            process.start()
        there.close()
        worker = _Worker(process, here)
        self._workers.append(worker)
        return worker

    # --- hearing from them --------------------------------------------------------------

    def _listen(self) -> None:
        busy = self._busy()
        wait(
            [part for worker in busy for part in (worker.connection, worker.process.sentinel)],
            timeout=WAIT_SECONDS,
        )
        for worker in busy:
            alive = worker.process.is_alive()  # asked first: what it said before is still to come
            self._hear(worker)
            if not alive and worker.job is not None:
                self._bury(worker)

    def _hear(self, worker: _Worker) -> None:
        try:
            while worker.job is not None and worker.connection.poll():
                message = worker.connection.recv()
                if isinstance(message, Finished):
                    self._end(worker)
                elif isinstance(message, Failed):
                    self._end(worker, message)
                elif isinstance(message, Stopped):
                    self._leave_undone(worker)
                else:
                    if worker.progress is None and isinstance(message, TrainingProgress):
                        self._tell_going_on(worker.job, message)
                    worker.progress = message
                    self._pace.see(worker.job, message)
        except (EOFError, OSError):
            return  # the end of a process is seen by its sentinel

    def _tell_going_on(self, job: Job, progress: TrainingProgress) -> None:
        if progress.sps is None and progress.frames:
            self.tell(JobGoesOn(job, progress.frames))

    def _end(self, worker: _Worker, failure: Failed | None = None) -> None:
        job, worker.job = worker.job, None
        assert job is not None
        if failure is None:
            self._finished.add(job)
        else:
            self._failures[job] = failure
            self._waiting = [
                other
                for other in self._waiting
                if isinstance(other, TrainJob) or other.needs != job
            ]
        self.tell(JobEnded(job, time.monotonic() - worker.began, failure))

    def _leave_undone(self, worker: _Worker) -> None:
        if worker.job is not None:
            self._waiting.append(worker.job)
        worker.job = None

    def _bury(self, worker: _Worker) -> None:
        """The process has died: its job is finished if its record is there."""
        assert worker.job is not None
        self._workers.remove(worker)
        worker.process.join()
        if self.store.is_finished(worker.job):
            self._end(worker)
        elif self._stop_by is not None:
            self._leave_undone(worker)
        else:
            self._end(worker, _died(worker.process.exitcode, worker.job, self.store))
        worker.connection.close()

    def _tell_status(self) -> None:
        if time.monotonic() < self._status_at:
            return
        self._status_at = time.monotonic() + self.status_seconds
        running = {worker.job: worker.progress for worker in self._busy() if worker.job}
        self.tell(
            Status(
                running=running,
                left={job: self._pace.left(job, progress) for job, progress in running.items()},
                finished=len(self._finished),
                total=self._total,
                eta_seconds=self._pace.all_left(running, self._waiting, self.parallel),
            )
        )

    # --- stopping -----------------------------------------------------------------------

    def _stop(self) -> None:
        """Ask every job to stop at a safe point; end what does not within its time."""
        if self._stop_by is None:
            self._stop_by = time.monotonic() + STOP_SECONDS
            for worker in self._busy():
                worker.process.terminate()
        elif self.presses() > 1 or time.monotonic() > self._stop_by:
            for worker in self._busy():
                worker.process.kill()

    def _dismiss(self, worker: _Worker) -> None:
        """Let an idle process go; nobody waits for that before the end."""
        self._workers.remove(worker)
        self._leaving.append(worker)
        with contextlib.suppress(OSError):
            worker.connection.send(None)

    def _dismiss_all(self) -> None:
        for worker in self._busy():  # only after an error in this very process
            worker.process.kill()
        for worker in tuple(self._workers):
            self._dismiss(worker)
        until = time.monotonic() + LEAVE_SECONDS
        for worker in self._leaving:
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.connection.close()


@contextlib.contextmanager
def _quiet_start() -> Iterator[None]:
    """What a new process inherits: one thread for numbers, and Ctrl-C kept from it at its birth."""
    signals = {signal.SIGINT, signal.SIGHUP}
    threads = os.environ.get("OMP_NUM_THREADS")
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if threads is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = threads
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _died(exitcode: int | None, job: Job, store: BenchStore) -> Failed:
    hint = f"Run the same command again: finished jobs are kept. Its log: {str(store.log(job))!r}"
    if exitcode == -signal.SIGKILL:
        return Failed(
            f"the process of {job.title} was killed, most likely because memory ran out",
            f"{hint} With fewer --jobs it needs less memory.",
        )
    how = f"by signal {-exitcode}" if exitcode and exitcode < 0 else f"with exit code {exitcode}"
    tail = _tail(store, job)
    return Failed(f"the process of {job.title} ended {how}{tail}", hint)


def _tail(store: BenchStore, job: Job) -> str:
    try:
        lines = store.log(job).read_text(errors="replace").splitlines()[-_LOG_LINES:]
    except OSError:
        return ""
    return ":\n" + "\n".join(lines) if lines else ""
