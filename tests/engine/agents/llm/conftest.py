"""A real world, a loopback model, and the records agents are asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from engine.agents.llm.agents import llm_agents
from engine.agents.plan import CodeProposal, Critique, SubAction, Subtask, Trial
from engine.agents.protocols import Agents, KnownSkill, TaskContext
from engine.config import LlmConfig
from engine.llm.client import LlmClient
from engine.worlds.base import World
from engine.worlds.registry import get_world
from skills_db.records import LlmCallRecord


@pytest.fixture(scope="session")
def world() -> World:
    return get_world("crafter")


@pytest.fixture
def context(world: World) -> TaskContext:
    task = next(task for task in world.tasks() if task.name == "make_wood_pickaxe")
    skill = KnownSkill("eat_cow", 2, "Eats a cow.", 'def run() -> str:\n    return "full"\n', 0.9)
    return TaskContext(task=task, world=world, training_frames=20_000, skills=(skill,))


class Played:
    """Agents over a scripted model, with what was asked of it."""

    def __init__(self, server: Any, world: World, **settings: Any) -> None:
        self.server = server
        self.calls: list[LlmCallRecord] = []
        self.client = LlmClient(
            LlmConfig(
                base_url=server.base_url, model="test-model", api_key_env="TEST_KEY", **settings
            ),
            recorder=self.calls.append,
            env={"TEST_KEY": "sk-1234567"},
            wait=lambda _seconds: None,
        )
        self.agents: Agents = llm_agents(world, self.client)

    @property
    def prompts(self) -> list[str]:
        """Text of each request so far."""
        return [request.text for request in self.server.requests]


@pytest.fixture
def play(fake: Any, world: World) -> Iterator[Callable[..., Played]]:
    """Agents over a server that follows a script."""
    with ExitStack() as stack:

        def make(script: Any, **settings: Any) -> Played:
            played = Played(stack.enter_context(fake.serving(script)), world, **settings)
            stack.callback(played.client.close)
            return played

        yield make


@pytest.fixture
def subtask() -> Subtask:
    return Subtask(name="wood", goal="hold wood", success="wood >= 1")


@pytest.fixture
def action() -> SubAction:
    return SubAction(
        name="gather_wood",
        mode="code",
        reason="easy to write",
        instruction="Gather one more wood.",
        success="wood >= 1",
        precondition="true",
        interrupt="health <= 2",
        budget=300,
    )


@pytest.fixture
def proposal(action: SubAction) -> CodeProposal:
    return CodeProposal(
        sub_action=action.name,
        version=1,
        instruction=action.instruction,
        code='def run() -> str:\n    act("noop")\n    return "tired"\n',
        author="llm:test-model",
    )


@pytest.fixture
def trials(action: SubAction) -> tuple[Trial, ...]:
    def trial(index: int, outcome: Any, detail: str, **more: Any) -> Trial:
        return Trial(
            sub_action=action.name,
            version=1,
            index=index,
            seed=500_000 + index,
            outcome=outcome,
            detail=detail,
            frames=3,
            actions=(("move_left", 2), ("noop", 1)),
            gained={"wood": 1.0} if outcome == "success" else {"health": -2.0, "wood": 0.0},
            **more,
        )

    return (
        trial(0, "success", "holding 1 wood"),
        trial(1, "failed", "tired"),
        trial(2, "error", "ValueError in line 2", started=True),
        trial(3, "failed", "not brought about", started=False),
    )


@pytest.fixture
def critique(action: SubAction) -> Critique:
    return Critique(
        sub_action=action.name,
        version=1,
        success_rate=1 / 3,
        trials=3,
        works=False,
        typical_failure="gives up too early",
        text="It stands still.",
        suggestion="Walk to a tree.",
        author="llm:test-model",
    )
