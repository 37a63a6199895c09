"""A process that does one job after another and dies with the one that started it."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

from engine.bench.config import BenchConfig
from engine.bench.jobs import Job
from engine.bench.messages import Failed, Finished, JobStopped, Message, Progress, Stopped
from engine.bench.store import BenchStore
from engine.bench.work import Work
from engine.errors import EngineError

ORPHANED = 9
"""Exit code of a process whose parent is gone."""


class _Line:
    """The `Link` of the job that is under way."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stop = False

    def stop(self) -> None:
        self._stop = True

    def tell(self, progress: Progress) -> None:
        self.say(progress)

    def say(self, message: Message) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more: the watch will end this
            self._connection.send(message)

    def stopping(self) -> bool:
        return self._stop


def main(connection: Connection, config: BenchConfig, folder: Path, work: Work) -> None:
    """Do the jobs that come through the connection until None comes or it is closed.

    SIGTERM asks the job that is under way to stop at a safe point. Ctrl-C is left to the parent,
    which is in the same foreground group and asks in its turn.
    """
    line = _Line(connection)
    signal.signal(signal.SIGTERM, lambda *_: line.stop())
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    threading.Thread(target=_die_with_parent, name="watch parent", daemon=True).start()
    if config.fast_mode:
        from engine.run.fast_mode import confine_training

        confine_training(config.training.device)
    store = BenchStore(folder)
    while not line.stopping():
        try:
            job: Job | None = connection.recv()
        except (EOFError, OSError):
            return
        if job is None:
            return
        _write_to(store.log(job))
        line.say(_outcome(job, config, store, line, work))


def _outcome(
    job: Job, config: BenchConfig, store: BenchStore, line: _Line, work: Work
) -> Finished | Stopped | Failed:
    try:
        work(job, config, store, line)
    except JobStopped:
        return Stopped()
    except EngineError as error:
        traceback.print_exc()
        return Failed(error.message, error.hint)
    except MemoryError:
        traceback.print_exc()
        return Failed(
            "there is not enough memory",
            "Run the same command again with fewer --jobs; finished jobs are kept.",
        )
    except Exception as error:  # one job's defect must not take the others with it
        traceback.print_exc()
        return Failed(
            f"{type(error).__name__}: {error}",
            f"Details are in {str(store.log(job))!r}. Finished jobs are kept.",
        )
    return Finished()


def _write_to(log: Path) -> None:
    """Send all output to the log: the parent's stdout is for results alone."""
    try:
        target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o666)
    except OSError:
        target = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(target, stream)
    os.close(target)
    faulthandler.enable(file=sys.stderr)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        # At once: whoever starts the benchmark anew must find nobody at work in its folder.
        os._exit(ORPHANED)
