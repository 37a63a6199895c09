"""A whole run whose agents are a language model: plan, code, trials, training, skill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.config import LlmConfig, RunConfig, TrainingConfig
from engine.run.work import work
from skills_db.database import Database

KEY = "sk-very-secret-0123456789"


def test_a_model_leads_a_run_from_task_to_skill(
    fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process installs signal handlers; a test process keeps its own.
    monkeypatch.setattr("engine.run.stop.signal.signal", lambda *_: None)
    monkeypatch.setenv("TEST_KEY", KEY)
    url = f"sqlite:///{tmp_path / 'studio.db'}"
    with fake.serving(fake.CrafterModel(slips=True)) as server:
        config = RunConfig(
            task="make a wood pickaxe",
            agents="llm",
            approve="all",
            frames=1000,
            trials=2,
            eval_episodes=1,
            episode_length=200,
            llm=LlmConfig(base_url=server.base_url, model="test-model", api_key_env="TEST_KEY"),
            training=TrainingConfig(n_envs=2, n_steps=64, batch_size=64, net_arch=(16,)),
        )
        database = Database.open(url)
        run = database.journal.create_run(
            kind="task",
            task=config.task,
            world=config.world,
            agents=config.agents,
            config=config.model_dump(mode="json"),
        )
        assert work(run.id, url, tmp_path) == 0
    result = database.journal.run(run.id).result
    calls = database.journal.calls(run.id)
    events = database.journal.events(run.id, limit=1000)
    database.close()
    assert result is not None
    assert [(part["name"], part["mode"]) for part in result["subtasks"]] == [
        ("wood", "code"),
        ("the_rest", "rl"),
    ]
    assert "gather_wood" in [skill["name"] for skill in result["skills"]]
    assert result["agents"] == "llm:test-model"
    assert [call.role for call in calls] == ["planner", "slow", "fast", "fast", "fast"]
    (decided,) = [event.payload for event in events if event.kind == "learning_decided"]
    assert decided["proposal"]["shaping"] == [{"predicate": "wood >= 2", "bonus": 0.5}]
    assert decided["proposal"]["author"] == "llm:test-model"
    assert result["tokens"] == sum(call.prompt_tokens + call.completion_tokens for call in calls)
    logged = " ".join(str(event.payload.get("text")) for event in events if event.kind == "log")
    assert "birch" in logged
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"gather_wood" in kept
    assert KEY.encode() not in kept
