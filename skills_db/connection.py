"""Connections: an engine with the right settings, reading and writing sessions, clear errors."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from skills_db.errors import DatabaseError, NotFound
from skills_db.models import Run
from skills_db.types import utc_now

Clock = Callable[[], datetime]

BUSY_SECONDS = 10
"""How long a writer waits for another one before it gives up."""

_HINTS = (
    (
        ("malformed", "not a database", "file is encrypted"),
        "The file is damaged or is no SQLite database. Move it away (a new one is made) or bring "
        "back a copy of it.",
    ),
    (("disk is full",), "The disk is full. Free some space, then try again; nothing was lost."),
    (
        ("readonly", "read-only", "unable to open", "permission denied"),
        "The file or its folder cannot be written. Give yourself the right to write there, or "
        "choose another place with RLGPT_STUDIO_HOME or RLGPT_STUDIO_DB.",
    ),
    (("locked",), "Another process writes for a long time. Try again in a moment."),
    (("disk i/o error",), "The disk did not answer. Check the disk and its free space."),
    (("could not connect", "connection refused"), "Check that the database server runs."),
)


class Store:
    """Base of what works on the database: a session to read, a session to write."""

    def __init__(self, engine: Engine, clock: Clock = utc_now) -> None:
        self._engine = engine
        self._clock = clock
        # A writer takes the lock at its start (BEGIN IMMEDIATE): a transaction that reads first
        # and wants to write later cannot wait for another writer, it would fail at once.
        self._writing_engine = engine.execution_options(sqlite_begin="IMMEDIATE")

    @contextmanager
    def _read(self) -> Iterator[Session]:
        with translated(self._engine.url), Session(self._engine) as session:
            yield session

    @contextmanager
    def _write(self) -> Iterator[Session]:
        with (
            translated(self._engine.url),
            Session(self._writing_engine, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    @staticmethod
    def _lock_run(session: Session, run_id: str) -> None:
        """Makes other writers of this run wait (SQLite has one writer at a time anyway)."""
        query = select(Run.id).where(Run.id == run_id).with_for_update()
        if session.scalar(query) is None:
            raise no_run(run_id)


def no_run(run_id: str, hint: str = "") -> NotFound:
    """The error for a run that is not there."""
    return NotFound(
        f"There is no run {run_id!r}.", hint or "`rlgpt-studio runs list` shows all of them."
    )


def make_engine(url: str) -> Engine:
    """An engine for a database URL; makes the folder of an SQLite file.

    An SQLite file that is there but cannot be written is opened for reading alone.

    Raises:
        DatabaseError: the URL is no good, its driver is not installed, or no folder can be made.
    """
    try:
        parsed = make_url(url)
    except exc.ArgumentError as error:
        raise DatabaseError(
            "The database URL cannot be read.",
            "Write it like sqlite:////home/me/studio.db or postgresql+psycopg://host/name.",
        ) from error
    sqlite = parsed.get_backend_name() == "sqlite"
    if sqlite:
        _prepare_folder(parsed)
        if _can_only_be_read(Path(str(parsed.database))):
            return _reading_engine(parsed)
    try:
        engine = create_engine(parsed, pool_pre_ping=not sqlite)
    except (exc.ArgumentError, ImportError) as error:
        raise DatabaseError(
            f"No driver for the database {shown(parsed)!r}: {error}.",
            "Install the driver that the URL names (for PostgreSQL: pip install psycopg[binary]).",
        ) from error
    if sqlite:
        event.listen(engine, "connect", _set_pragmas)
        event.listen(engine, "begin", _begin)
    return engine


def shown(url: URL) -> str:
    """The URL as it may be shown: without its password; just the file for SQLite."""
    if url.get_backend_name() == "sqlite" and url.database:
        return url.database
    return url.render_as_string(hide_password=True)


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """Turns the database's own errors into `DatabaseError` with the next step."""
    try:
        yield
    except exc.IntegrityError:
        raise
    except exc.DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else repr(error)
        hint = next(
            (hint for words, hint in _HINTS if any(word in reason.lower() for word in words)),
            "See the log for details; `rlgpt-studio doctor` checks the database.",
        )
        raise DatabaseError(f"The database {shown(url)!r} failed: {reason}.", hint) from error


def _prepare_folder(url: URL) -> None:
    if not url.database or url.database == ":memory:":
        raise DatabaseError(
            "A database in memory cannot be shared by a studio and its runs.",
            "Name a file: sqlite:////home/me/studio.db.",
        )
    if Path(url.database).is_dir():
        raise DatabaseError(
            f"The database {url.database!r} is a folder, not a file.",
            "Move the folder away, or name another file with RLGPT_STUDIO_DB.",
        )
    folder = Path(url.database.removeprefix("file:")).parent
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise DatabaseError(
            f"The folder {str(folder)!r} for the database cannot be made: {error.strerror}.",
            "Choose another place with RLGPT_STUDIO_HOME or RLGPT_STUDIO_DB.",
        ) from error


def _can_only_be_read(file: Path) -> bool:
    """True for a file that is there and readable where nothing can be written."""
    if not file.is_file() or not os.access(file, os.R_OK):
        return False
    return not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))


def _reading_engine(url: URL) -> Engine:
    """An engine that reads a file it cannot write; writing fails with the usual error.

    Each session connects anew: without its `-wal` file beside it SQLite must be told that nobody
    changes the database meanwhile, which may only be said for a moment.
    """
    file = Path(str(url.database)).absolute()

    def connect() -> sqlite3.Connection:
        quiet = not file.with_name(f"{file.name}-wal").exists()
        uri = f"{file.as_uri()}?mode=ro{'&immutable=1' if quiet else ''}"
        return sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)

    engine = create_engine(url, creator=connect, poolclass=NullPool)
    event.listen(engine, "begin", _begin)
    return engine


def _set_pragmas(connection: Any, _record: object) -> None:
    # The driver would open transactions by itself, and never around DDL; `_begin` does it instead.
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA foreign_keys = ON")
    finally:
        cursor.close()


def _begin(connection: Connection) -> None:
    mode = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")
