"""A database of its own for each test, and a clock that stands still until it is moved."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from skills_db.database import Database
from skills_db.records import RunRecord, SkillDraft


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 14, 3, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'new' / 'folder' / 'studio.db'}"


@pytest.fixture
def database(url: str, clock: Clock) -> Iterator[Database]:
    with Database.open(url, clock=clock) as opened:
        yield opened


@pytest.fixture
def run(database: Database) -> RunRecord:
    return database.journal.create_run(
        kind="task", task="collect a diamond", world="crafter", agents="rules", config={"seed": 1}
    )


@pytest.fixture
def make_draft():
    def make(name: str = "collect_wood", **changes: object) -> SkillDraft:
        values: dict[str, object] = {
            "name": name,
            "world": "crafter",
            "kind": "coded_action",
            "description": "walks to a tree and takes wood",
            "code": "def run() -> str:\n    return 'done'\n",
            "success_rate": 0.8,
            "episodes": 5,
            "run_id": None,
            "agents": "rules",
            "approver": "person",
        }
        return SkillDraft(**{**values, **changes})

    return make
