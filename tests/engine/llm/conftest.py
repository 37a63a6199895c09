"""The loopback server as fixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from engine.config import LlmConfig
from engine.llm.client import LlmClient
from skills_db.records import LlmCallRecord

KEY = "sk-very-secret-0123456789"
FREE: dict[str, Any] = {
    "model": "test-model",
    "api_key_env": "TEST_KEY",
    "usd_per_million_prompt": 0.0,
    "usd_per_million_completion": 0.0,
}


@pytest.fixture
def serve(fake: Any) -> Iterator[Callable[..., Any]]:
    """Starts servers that give replies in turn; they close with the test."""
    with ExitStack() as stack:
        yield lambda *replies: stack.enter_context(fake.serving(fake.in_turn(*replies)))


class Asker:
    """A client of a server, with what it recorded and how long it waited."""

    def __init__(self, base_url: str, **settings: Any) -> None:
        env = {"TEST_KEY": settings.pop("key", KEY)}
        spent = {
            name: settings.pop(name)
            for name in (
                "tokens_spent",
                "between",
                "on_text",
                "transport",
                "modes_file",
                "pictures_refused",
            )
            if name in settings
        }
        self.warnings: list[str] = []
        self.calls: list[LlmCallRecord] = []
        self.waits: list[float] = []
        self.client = LlmClient(
            LlmConfig(**{**FREE, "base_url": base_url, **settings}),
            run_id="r1",
            recorder=self.calls.append,
            env=env,
            wait=self.waits.append,
            on_warning=self.warnings.append,
            **spent,
        )


@pytest.fixture
def asker() -> Iterator[Callable[..., Asker]]:
    made: list[Asker] = []

    def make(base_url: str, **settings: Any) -> Asker:
        made.append(Asker(base_url, **settings))
        return made[-1]

    yield make
    for one in made:
        one.client.close()
