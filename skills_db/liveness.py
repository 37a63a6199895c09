"""Is a run's process alive? Decided from its process id on this machine and its heartbeat."""

from __future__ import annotations

import socket
from datetime import datetime, timedelta

import psutil

from skills_db.models import Run
from skills_db.records import RunState

STALE = timedelta(seconds=30)
"""A process beats every two seconds; after this long without a beat it is taken for dead."""
UNCLAIMED = timedelta(seconds=60)
"""A new run whose process has not shown up after this long will not start any more."""


def this_host() -> str:
    """Name under which this machine owns runs."""
    return socket.gethostname()


def process_is_gone(pid: int) -> bool:
    """True when no such process runs on this machine (a zombie has ended, too)."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


def is_owned(run: Run, now: datetime) -> bool:
    """True when a living process works on the run."""
    if run.owner_token is None or run.owner_pid is None:
        return False
    if run.owner_host == this_host() and process_is_gone(run.owner_pid):
        return False
    return run.heartbeat_at is not None and now - run.heartbeat_at < STALE


def seen_state(run: Run, now: datetime) -> RunState:
    """What a person should be told: `interrupted` when the process went away while at work.

    A run that waits for an approval may be free: its process ended on purpose, and another one
    goes on once somebody has decided.
    """
    state = RunState(run.state)
    if state.is_final:
        return state
    free = run.owner_token is None
    if free and state is RunState.WAITING:
        return state
    if free and state is RunState.CREATED:
        return state if now - run.created_at < UNCLAIMED else RunState.INTERRUPTED
    return state if is_owned(run, now) else RunState.INTERRUPTED
