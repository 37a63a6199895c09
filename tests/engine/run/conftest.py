"""A run in a database of its own, worked on in this process with a small budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.config import RunConfig, TrainingConfig
from engine.run.work import work
from skills_db.database import Database
from skills_db.records import RunRecord

SMALL = {
    "frames": 2_000,
    "trials": 2,
    "eval_episodes": 2,
    "episode_length": 300,
    "training": TrainingConfig(n_envs=2, n_steps=32, batch_size=32, n_epochs=1, net_arch=(16,)),
}


@dataclass
class Workbench:
    """Create runs and work on them, as the launched process would."""

    database: Database
    url: str
    home: Path

    @property
    def database_file(self) -> Path:
        return Path(self.url.removeprefix("sqlite:///"))

    def create(self, task: str = "make a wood pickaxe", **config: Any) -> RunRecord:
        wanted = RunConfig(task=task, **{**SMALL, **config})
        return self.database.journal.create_run(
            kind="task",
            task=wanted.task,
            world=wanted.world,
            agents=wanted.agents,
            config=wanted.model_dump(mode="json"),
        )

    def work(self, run_id: str) -> int:
        return work(run_id, self.url, self.home)

    def kinds(self, run_id: str) -> list[str]:
        return [event.kind for event in self.database.journal.events(run_id, limit=100_000)]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    # The process installs signal handlers; a test process keeps its own.
    monkeypatch.setattr("engine.run.stop.signal.signal", lambda *_: None)
    url = f"sqlite:///{tmp_path / 'studio.db'}"
    database = Database.open(url)
    yield Workbench(database, url, tmp_path / "home")
    database.close()
