"""The door to the database: opens it, brings its schema up to date, hands out its two parts."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Engine, update

from skills_db.connection import Clock, make_engine, translated
from skills_db.journal import Journal
from skills_db.library import Library
from skills_db.models import Run
from skills_db.schema import bring_up_to_date
from skills_db.types import utc_now


class Database:
    """An open database. May be used from several threads; a context manager."""

    def __init__(self, url: str, engine: Engine, clock: Clock) -> None:
        self.url = url
        self.engine = engine
        self.journal = Journal(engine, clock)
        self.library = Library(engine, clock)

    @classmethod
    def open(cls, url: str, *, clock: Clock = utc_now) -> Database:
        """Opens `sqlite:////path/studio.db` (its folder is made) or another SQLAlchemy URL.

        Raises:
            DatabaseError: the file is damaged, cannot be written, or is of a newer program.
        """
        engine = make_engine(url)
        try:
            bring_up_to_date(engine)
        except BaseException:
            engine.dispose()
            raise
        return cls(url, engine, clock)

    @property
    def file(self) -> Path | None:
        """The SQLite file; None in memory or on a server."""
        url = self.engine.url
        if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
            return None
        return Path(str(url.database))

    def check_writable(self) -> None:
        """Writes and takes it back.

        Raises:
            DatabaseError: nothing can be written; says why and what to do.
        """
        with translated(self.engine.url), self.engine.connect() as connection:
            writing = connection.execution_options(sqlite_begin="IMMEDIATE")
            with writing.begin() as transaction:
                writing.execute(update(Run).where(Run.id == "").values(frames=0))
                transaction.rollback()

    def close(self) -> None:
        """Closes all connections."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
