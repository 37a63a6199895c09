"""Transcripts of played models, played back: each run ends as it did when it was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.config import RunConfig
from engine.run.work import work
from skills_db.database import Database

FEW_FRAMES = 2000
ONE_EPISODE = {"eval_episodes": 1}
TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.jsonl"))
NONE_YET = pytest.param(None, marks=pytest.mark.skip("no transcript has been kept yet"), id="none")


@pytest.mark.slow
@pytest.mark.parametrize("calls", TRANSCRIPTS or [NONE_YET], ids=lambda path: path.stem)
def test_a_run_ends_as_recorded(
    report: Any, calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process installs signal handlers; a test process keeps its own.
    monkeypatch.setattr("engine.run.stop.signal.signal", lambda *_: None)
    kept = json.loads(calls.with_suffix(".json").read_text(encoding="utf-8"))
    recorded = RunConfig.model_validate(kept["config"])
    # What RL reaches is no part of the transcript: the fewest frames will do, and no look at them.
    fewer = {"frames": min(recorded.frames, FEW_FRAMES), "review_success": 0.0} | ONE_EPISODE
    config = recorded.model_copy(
        update=fewer | {"agents": f"replay:{calls.absolute()}", "approve": "all"}
    )
    home = tmp_path / "home"
    url = f"sqlite:///{home / 'studio.db'}"
    database = Database.open(url)
    run = database.journal.create_run(
        kind="task",
        task=config.task,
        world=config.world,
        agents=config.agents,
        config=config.model_dump(mode="json"),
    )
    database.close()
    assert work(run.id, url, home) == 0
    assert report.ending(report.read(home, run.id)) == kept["ended"]
