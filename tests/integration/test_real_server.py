"""A real server with a real, very weak model: answers in form, and a run that copes with them.

python tests/integration/llama_server.py build
LLM_TEST_URL=$(python tests/integration/llama_server.py start) pytest -m integration
python tests/integration/llama_server.py stop
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from engine.config import LlmConfig
from engine.llm.client import LlmClient
from engine.llm.probe import server_status
from skills_db.records import LlmCallRecord

pytestmark = [pytest.mark.integration, pytest.mark.timeout(3600)]

MOST_CALLS = 40
"""What four roles may ask of a model that never answers well, with one iteration and one retry."""


class Weather(BaseModel):
    """Something even the smallest model can say."""

    sky: Literal["clear", "cloudy"]
    warm: bool


@pytest.fixture
def config(base_url: str, model: str) -> LlmConfig:
    return LlmConfig(base_url=base_url, model=model, timeout_seconds=600)


@pytest.fixture
def calls() -> list[LlmCallRecord]:
    return []


@pytest.fixture
def client(config: LlmConfig, calls: list[LlmCallRecord]) -> Iterator[LlmClient]:
    found = LlmClient(config, recorder=calls.append, env={})
    yield found
    found.close()


def test_the_server_has_the_model(config: LlmConfig) -> None:
    status = server_status(config)
    assert status.usable, status.detail


def test_an_answer_keeps_to_its_schema_and_is_counted(
    client: LlmClient, calls: list[LlmCallRecord]
) -> None:
    answer = client.ask("critic", "You report the weather.", "How is the sky?", Weather)
    assert answer.sky in ("clear", "cloudy")
    last = calls[-1]
    assert last.mode == "json_schema"
    assert last.prompt_tokens > 0
    assert last.completion_tokens > 0
    assert last.seconds > 0


def test_a_run_by_a_weak_model_ends_bounded_and_explained_with_rl_doing_the_rest(
    script: Any, base_url: str, model: str, tmp_path: Path
) -> None:
    code = script.run(base_url, tmp_path, script.TASK, model=model)
    told = script.told(tmp_path)
    assert code == 0, told
    assert told["state"] == "finished"
    assert 0 < sum(told["calls"].values()) <= MOST_CALLS
    assert set(told["modes"]) == {"json_schema"}
    assert "rl" in {mode for _, mode in told["plan"]}
    assert told["frames_of_training"] > 0
    assert told["said"] or told["warnings"]
