"""Reasons to stop that come from outside the run: signals, and a database that is no more."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from engine.errors import EngineError


class StopWish:
    """Set once by a signal; asked by the run at its safe points."""

    def __init__(self, database_file: Path | None) -> None:
        self._set = threading.Event()
        self._file = database_file
        self._inode = self._now()

    def is_set(self) -> bool:
        """True when the run should stop at the next safe point."""
        return self._set.is_set() or self.database_is_gone

    def obey_signals(self) -> None:
        """SIGTERM, SIGINT and SIGHUP ask for a stop instead of killing the run."""
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, lambda *_: self._set.set())

    @property
    def database_is_gone(self) -> bool:
        """True when the database's file was removed or replaced.

        The open connection still writes, but to a file nobody can open any more.
        """
        return self._file is not None and self._now() != self._inode

    def require_database(self) -> None:
        """Refuse to end well when nothing of it was kept.

        Raises:
            EngineError: the file was removed or replaced.
        """
        if self.database_is_gone:
            raise EngineError(
                f"the database file {str(self._file)!r} was removed or replaced while the run "
                "worked: nothing it did since then is kept",
                "Put the file back if you can, or start the task again.",
            )

    def _now(self) -> tuple[int, int] | None:
        if self._file is None:
            return None
        try:
            found = os.stat(self._file)
        except OSError:
            return None
        return found.st_dev, found.st_ino
