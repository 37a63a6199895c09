"""Following a headless run: its events as lines on stderr, Ctrl-C, and how it ended."""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.process import is_running, log_tail
from skills_db.errors import DatabaseError, NotRunning
from skills_db.liveness import STALE, this_host
from skills_db.records import EventRecord, RunRecord, RunState
from skills_db.types import utc_now
from studio.cli_output import FAILED, FINISHED, INTERRUPTED, WAITING, tell
from studio.event_words import FREQUENT_KINDS, describe, line_of
from studio.words import fails_by_model

if TYPE_CHECKING:
    from skills_db.journal import Journal

POLL_SECONDS = 0.25
METRICS_SECONDS = 5.0
EPISODES_SECONDS = 30.0
"""How often the episodes of an evaluation are told between the first and the last one."""
STOP_SECONDS = 30.0
"""How long a run may take to reach a safe point after Ctrl-C before it is left alone."""
FULL_BYTES = 5 * 2**20
"""A disk with less free space than this is why a process died: it could not even say so."""
_PAGE = 500
_LAST = re.compile(r"episode (\d+) of \1$")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a followed run ended, as far as this process saw it."""

    run: RunRecord
    code: int
    error: str = ""
    hint: str = ""


class Follower:
    """Follows one run until its process has ended.

    Args:
        pid: the process, when this one launched it; else the database alone tells.
        after: `seq` of the last event that is already known.
    """

    def __init__(
        self, journal: Journal, run: RunRecord, home: Path, *, pid: int | None, after: int
    ) -> None:
        self._journal = journal
        self._before = run
        self._home = home
        self._pid = pid
        self._seq = after
        self._told_metrics = 0.0
        self._line: str | None = None
        self._told_line = 0.0
        self._wake = threading.Event()
        self._presses = 0
        self._stop_by: float | None = None

    def follow(self) -> Ending:
        """Tells what happens until the run is over, waits, or the person has left it."""
        with self._signals():
            while True:
                ended = self._pid is not None and not is_running(self._pid)
                self._tell_events()
                run = self._journal.run(self._before.id)
                if ended and _is_worked_on(run):
                    # It was started twice at once, and the other process was faster.
                    tell(f"Another process works on run {run.id}; following it.")
                    self._pid, ended = None, False
                if ended or (self._pid is None and self._is_over(run)):
                    self._tell_events()
                    return self._ending(run)
                if self._obey_signals():
                    tell(f"Left run {run.id}; it may still be stopping.")
                    return Ending(run, INTERRUPTED)
                self._wake.wait(POLL_SECONDS)
                self._wake.clear()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        def press(*_: object) -> None:
            self._presses += 1
            self._wake.set()

        before = {name: signal.signal(name, press) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def _obey_signals(self) -> bool:
        """Asks the run to stop at the first Ctrl-C; true when it is time to leave."""
        if not self._presses:
            return False
        if self._stop_by is None:
            self._stop_by = time.monotonic() + STOP_SECONDS
            tell("Stopping the run; what it has is kept. Ctrl-C again leaves it at once.")
            try:
                self._journal.send(self._before.id, "abort")
            except NotRunning:
                if self._pid is not None and is_running(self._pid):
                    os.kill(self._pid, signal.SIGTERM)
            self._presses = 1
            return False
        return self._presses > 1 or time.monotonic() > self._stop_by

    def _is_over(self, run: RunRecord) -> bool:
        if run.state is not RunState.FINISHED and _is_worked_on(run):
            return False  # a resumed run has its old state until its process has set another
        return run.seen_state.is_final or (run.state is RunState.WAITING and run.owner is None)

    def _tell_events(self) -> None:
        while True:
            events = self._journal.events(self._before.id, after=self._seq, limit=_PAGE)
            for event in events:
                self._tell(event)
            if len(events) < _PAGE:
                return

    def _tell(self, event: EventRecord) -> None:
        self._seq = event.seq
        if event.kind in FREQUENT_KINDS:
            now = time.monotonic()
            if event.kind != "metrics" or now - self._told_metrics < METRICS_SECONDS:
                return
            self._told_metrics = now
        elif self._is_more_of_the_same(event):
            return
        tell(f"{event.time.astimezone():%H:%M:%S}  {describe(event)}")
        if event.kind == "state" and event.payload.get("state") == RunState.WAITING:
            tell(f"          decide in a studio: rlgpt-studio attach {event.run_id}")
            if fails_by_model(str(event.payload.get("detail", ""))):
                again = f"rlgpt-studio resume {event.run_id} --set agents=rules"
                tell(f"          or go on with the rules agents: {again}")

    def _is_more_of_the_same(self, event: EventRecord) -> bool:
        """True for one more episode of an evaluation that was told of just now."""
        line, now = line_of(event), time.monotonic()
        same = line is not None and line == self._line
        last = _LAST.search(str(event.payload.get("detail", "")))
        if same and not last and now - self._told_line < EPISODES_SECONDS:
            return True
        self._line, self._told_line = line, now
        return False

    def _ending(self, run: RunRecord) -> Ending:
        if run.state is RunState.FINISHED:
            return Ending(run, FINISHED)
        if self._presses or (run.state is RunState.STOPPED and self._went_on(run)):
            return Ending(run, INTERRUPTED)
        if run.state is RunState.WAITING and run.owner is None and self._went_on(run):
            return Ending(run, WAITING)
        resume = f"Go on with it: rlgpt-studio resume {run.id}"
        if run.state is RunState.FAILED and self._went_on(run):
            failed = self._journal.events(run.id, kinds={"failed"})
            payload = failed[-1].payload if failed else {}
            return Ending(
                run, FAILED, str(payload.get("message", run.detail)), str(payload.get("hint", ""))
            )
        tail = log_tail(run.id, self._home)
        tell(tail or "Its process.log is empty.")
        if _is_full(self._home):
            return Ending(
                run,
                FAILED,
                f"The process of run {run.id} is gone: the disk of {str(self._home)!r} is full.",
                f"Free some space, then go on with it: rlgpt-studio resume {run.id}",
            )
        return Ending(run, FAILED, f"The process of run {run.id} is gone (killed?).", resume)

    def _went_on(self, run: RunRecord) -> bool:
        """True when a process has worked on the run since it is followed."""
        return self._pid is None or run.updated_at > self._before.updated_at


def _is_worked_on(run: RunRecord) -> bool:
    """True when the run has a living process, whatever its state says."""
    if run.owner is None or run.heartbeat_at is None:
        return False
    if run.owner.host == this_host() and not is_running(run.owner.pid):
        return False
    return utc_now() - run.heartbeat_at < STALE


def _is_full(home: Path) -> bool:
    try:
        return shutil.disk_usage(home).free < FULL_BYTES
    except OSError:
        return False


def follow(
    journal: Journal, run: RunRecord, home: Path, *, pid: int | None, after: int = 0
) -> Ending:
    """Follows a run to its end; see `Follower`.

    Raises:
        DatabaseError: the database cannot be read any more.
    """
    try:
        return Follower(journal, run, home, pid=pid, after=after).follow()
    except DatabaseError:
        tell(f"Run {run.id} goes on without being followed.")
        raise
