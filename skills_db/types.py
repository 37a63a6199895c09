"""Column types that keep their meaning on every database: true UTC times and JSON as text."""

from __future__ import annotations

import hashlib
import json
import reprlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator

from skills_db.errors import DamagedRecord
from skills_db.records import Json


class UtcDateTime(TypeDecorator[datetime]):
    """An aware `datetime`, stored in UTC.

    SQLite has no time zones and would hand back a naive value, so UTC is put on again here.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To the database: UTC, naive where the database knows no zones."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a naive datetime cannot be stored: {value!r}; give it a time zone")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """From the database: always aware, always UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class JsonText(TypeDecorator[Mapping[str, Any]]):
    """A JSON object as text.

    Text and not the database's own JSON type: figures of a training may be NaN, which PostgreSQL's
    type refuses, and nothing is ever queried by what is inside.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Mapping[str, Any] | None, dialect: Dialect) -> str | None:
        """To the database: compact text in the order of the keys as given."""
        return None if value is None else to_json(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Mapping[str, Any] | None:
        """From the database: a fresh object.

        Raises:
            DamagedRecord: what is stored is no JSON object.
        """
        if value is None:
            return None
        try:
            found = json.loads(value)
        except (ValueError, TypeError, RecursionError) as error:
            raise _damaged(value, str(error)) from error
        if not isinstance(found, dict):
            raise _damaged(value, "it is no JSON object")
        return found


def to_json(value: Json, *, sort_keys: bool = False) -> str:
    """Compact JSON text of an object."""
    return json.dumps(
        dict(value), ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys, default=_plain
    )


def json_hash(value: Json) -> str:
    """SHA-256 of the canonical JSON text (keys sorted), as hexadecimal text."""
    return hashlib.sha256(to_json(value, sort_keys=True).encode()).hexdigest()


def utc_now() -> datetime:
    """The time now, aware."""
    return datetime.now(UTC)


def _damaged(value: object, reason: str) -> DamagedRecord:
    return DamagedRecord(
        f"A record in the database is damaged: {reprlib.repr(value)} ({reason}).",
        "Bring back a copy of the database file, or go on with another one by RLGPT_STUDIO_DB.",
    )


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} cannot be stored as JSON; dump the record with mode='json'")
