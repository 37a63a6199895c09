"""What a model is writing, put where a studio finds it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from skills_db.errors import DatabaseError
from skills_db.journal import Journal

_log = logging.getLogger(__name__)
WRITE_SECONDS = 0.2
"""A reader follows no faster than that."""


class Writing:
    """Keeps the newest text of a run's model: a few times a second, and its end in any case."""

    def __init__(
        self, journal: Journal, run_id: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._journal = journal
        self._run_id = run_id
        self._clock = clock
        self._written = float("-inf")

    def __call__(self, role: str, subject: str, text: str, *, finished: bool) -> None:
        """So much of a reply is there, or all of it."""
        now = self._clock()
        if finished or now - self._written >= WRITE_SECONDS:
            self._written = now
            try:
                self._journal.put_completion(self._run_id, role, subject, text, finished=finished)
            except DatabaseError as error:  # the call goes on: what counts of it is recorded anyway
                _log.warning("what the model writes cannot be shown: %s", error.message)
