"""Errors of the database, each with the next step."""

from __future__ import annotations


class DatabaseError(Exception):
    """Something about the database failed; `hint` says what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NotFound(DatabaseError):
    """No run, approval, skill or version of that name."""


class DamagedRecord(DatabaseError):
    """What is stored is not what was saved: somebody or something else wrote it."""


class AlreadyDecided(DatabaseError):
    """An approval request is decided once, and somebody was faster."""


class RunIsAlive(DatabaseError):
    """Another living process works on this run."""


class LostRun(DatabaseError):
    """This process no longer owns the run it works on."""


class NotRunning(DatabaseError):
    """No process works on the run, so nobody would take the command."""
