"""The run's process seen from outside and inside: launching it, naming it, its heartbeat."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.config import Home
from skills_db.database import Database
from skills_db.errors import DatabaseError, LostRun
from skills_db.liveness import process_is_gone, this_host
from skills_db.records import Owner

_log = logging.getLogger(__name__)

BEAT_SECONDS = 2.0
LOG_NAME = "process.log"
_HARMLESS = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "VIRTUAL_ENV",
        "TMPDIR", "TMP", "TEMP", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES",
    }
)  # fmt: skip
_HARMLESS_BEGINNINGS = (
    "LC_", "XDG_", "LD_", "DYLD_", "PYTHON", "OMP_", "MKL_", "OPENBLAS_", "KMP_", "GOMP_",
    "NUMBA_", "CUDA_", "CUBLAS_", "TORCH_", "PYTORCH_",
)  # fmt: skip
_SECRET_ENDINGS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS")


def launch(run_id: str, *, db_url: str, home: Path) -> int:
    """Starts `python -m engine run RUN` so that it outlives this process and its terminal.

    It gets a session of its own, nothing to read, and writes to the run's `process.log`.

    Returns:
        The process id.

    Raises:
        OSError: the folder, the log or the process cannot be made.
    """
    log = log_file(run_id, home)
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    # One thread: the world steps on the same core, and more threads only fight for it.
    environment.setdefault("OMP_NUM_THREADS", "1")
    # By the environment: a URL may hold a password, and arguments are everybody's to read.
    environment["RLGPT_STUDIO_DB"] = db_url
    arguments = [sys.executable, "-m", "engine", "run", run_id, "--home", str(home.absolute())]
    with log.open("ab") as output:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=environment,
            # Not where the person stands: `-m` looks there first, and may find another `engine`.
            cwd=log.parent,
        )
    # Nobody waits for a detached run, but an ended child stays a zombie until somebody does.
    threading.Thread(target=process.wait, name=f"reap {run_id}", daemon=True).start()
    return process.pid


def log_file(run_id: str, home: Path) -> Path:
    """Where the process of a run writes its log and its last words."""
    return Home(home).run_folder(run_id) / LOG_NAME


def log_tail(run_id: str, home: Path, lines: int = 20) -> str:
    """The last lines of a run's log; empty when there is none."""
    try:
        with log_file(run_id, home).open("rb") as file:
            file.seek(0, os.SEEK_END)
            start = max(0, file.tell() - 64 * 1024)
            file.seek(start)
            found = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    if start and len(found) > 1:
        del found[0]  # its beginning was not read
    return "\n".join(found[-lines:])


def how_it_ended(code: int) -> str:
    """How a process ended, by the exit code that `subprocess` gives: `by signal 6 (SIGABRT)`."""
    if code == -signal.SIGKILL:
        return "by SIGKILL, most likely because memory ran out"
    if code >= 0:
        return f"with exit code {code}"
    try:
        return f"by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"by signal {-code}"


def scrubbed(environment: Mapping[str, str], secrets: Collection[str] = ()) -> dict[str, str]:
    """What a process that runs policy code may know of an environment: no keys, no passwords.

    Kept are the names that programs and numeric libraries need, not all but the known secrets:
    nobody knows all of these.

    Args:
        secrets: names that are left out whatever they look like.
    """
    return {
        name: value
        for name, value in environment.items()
        if (name in _HARMLESS or name.startswith(_HARMLESS_BEGINNINGS))
        and not name.upper().endswith(_SECRET_ENDINGS)
        and name not in secrets
    }


def is_running(pid: int) -> bool:
    """True while that process runs on this machine."""
    return not process_is_gone(pid)


def owner() -> Owner:
    """This process as the owner of a run; the token is new at each call."""
    return Owner(pid=os.getpid(), host=this_host(), token=secrets.token_hex(16))


def stop_this_process() -> None:
    """Asks this very process to stop, as a person's SIGTERM would."""
    os.kill(os.getpid(), signal.SIGTERM)


class Heartbeat:
    """A thread that says every two seconds that the run's process lives; a context manager.

    It has a database connection of its own, so that a long transaction or a long computation of
    the run cannot silence it.

    Args:
        on_lost: called once, in the thread, when another process has taken the run over.
    """

    def __init__(
        self,
        db_url: str,
        run_id: str,
        token: str,
        *,
        seconds: float = BEAT_SECONDS,
        frames: Callable[[], int] | None = None,
        on_lost: Callable[[], None] = stop_this_process,
    ) -> None:
        self._db_url = db_url
        self._run_id = run_id
        self._token = token
        self._seconds = seconds
        self._frames = frames
        self._on_lost = on_lost
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"heartbeat {run_id}", daemon=True)
        self.lost = False
        """True once another process owns the run: this one must stop."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end.set()
        self._thread.join()

    def _work(self) -> None:
        database: Database | None = None
        try:
            while True:
                try:
                    database = database or Database.open(self._db_url)
                    frames = None if self._frames is None else self._frames()
                    database.journal.heartbeat(self._run_id, self._token, frames)
                except LostRun as error:
                    _log.error("%s %s", error.message, error.hint)
                    self.lost = True
                    self._on_lost()
                    return
                except DatabaseError as error:
                    # A full disk or a long lock may pass; the run itself will say if it does not.
                    _log.warning("no heartbeat: %s %s", error.message, error.hint)
                if self._end.wait(self._seconds):
                    return
        finally:
            if database is not None:
                database.close()
