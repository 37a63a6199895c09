"""The schema's version: brings a database up to date, refuses one from the future."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

from skills_db.connection import shown, translated
from skills_db.errors import DatabaseError

if TYPE_CHECKING:
    from alembic.config import Config

SCHEMA_VERSION = "0002"
"""The newest migration. Known here so that Alembic is imported only when there is work for it."""


def bring_up_to_date(engine: Engine) -> None:
    """Runs the migrations a database lacks, in one transaction.

    Raises:
        DatabaseError: the schema is newer than this program, or the database cannot be used.
    """
    with translated(engine.url):
        with engine.connect() as connection:
            found = current_version(connection)
        if found == SCHEMA_VERSION:
            return
        writer = engine.execution_options(sqlite_begin="IMMEDIATE")
        with writer.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(20240229)"))
            found = current_version(connection)
            if found is not None and found > SCHEMA_VERSION:
                raise DatabaseError(
                    f"The database {shown(engine.url)!r} has schema {found!r}; this program knows "
                    f"{SCHEMA_VERSION!r} and older.",
                    "Update rlgpt-studio, or choose another database with RLGPT_STUDIO_DB.",
                )
            if found is None and inspect(connection).get_table_names():
                raise DatabaseError(
                    f"The database {shown(engine.url)!r} belongs to another program: it has tables "
                    "but no schema version.",
                    "Choose another database with RLGPT_STUDIO_DB.",
                )
            if found != SCHEMA_VERSION:
                _upgrade(connection)


def current_version(connection: Connection) -> str | None:
    """Version of the schema in the database; None when it is empty."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def alembic_config() -> Config:
    """Alembic's configuration, made here: there is no alembic.ini to find."""
    from alembic.config import Config

    config = Config()
    config.set_main_option(
        "script_location", str(Path(__file__).parent / "migrations").replace("%", "%%")
    )
    return config


def _upgrade(connection: Connection) -> None:
    from alembic import command

    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
