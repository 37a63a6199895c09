"""Choosing the agents of a run and telling them what they may know."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.agents.protocols import Agents, KnownSkill, TaskContext
from engine.agents.rules.agents import rules_agents
from engine.events import TokensUsed
from engine.run.patient_agents import patient
from engine.run.session import COMMAND_SECONDS, Session
from engine.run.writing import Writing
from engine.worlds.base import World
from engine.worlds.tasks import find_task
from skills_db.library import Library
from skills_db.records import LlmCallRecord

if TYPE_CHECKING:
    from engine.llm.replay import Replay

REPLAY = "replay:"


def agents_and_context(session: Session) -> None:
    """Give the session its agents and their context."""
    session.agents = _agents(session)
    left = session.progress.look.left
    session.context = TaskContext(
        task=find_task(session.world, session.config.task),
        world=session.world,
        training_frames=session.config.frames if left is None else left,
        skills=known_skills(session.library, session.world),
    )


def known_skills(library: Library, world: World) -> tuple[KnownSkill, ...]:
    """The newest version of every coded action of a world."""
    return tuple(
        KnownSkill(
            name=skill.name,
            version=skill.latest.version,
            description=skill.description,
            code=skill.latest.code,
            success_rate=skill.latest.success_rate,
        )
        for skill in library.skills(world=world.name, kind="coded_action")
    )


def _agents(session: Session) -> Agents:
    if session.config.agents == "rules":
        return rules_agents(session.world)
    # openai takes most of a second to import: only a run that uses a model pays for it.
    from engine.agents.llm.agents import llm_agents
    from engine.agents.prompts.render import PromptBook
    from engine.llm.client import LlmClient
    from engine.llm.failures import PICTURE_REFUSED

    own = session.config.prompts
    book = PromptBook(Path(own) if own is not None else None)
    earlier = session.journal.calls(session.run_id)
    tokens = sum(call.prompt_tokens + call.completion_tokens for call in earlier)
    cost = sum(call.cost_usd for call in earlier)
    recorder = _Recorder(session, tokens, cost)
    client = LlmClient(
        session.config.llm,
        run_id=session.run_id,
        recorder=recorder,
        tokens_spent=tokens,
        cost_spent=cost,
        pictures_refused=any(
            call.model == session.config.llm.model and call.error.startswith(PICTURE_REFUSED)
            for call in earlier
        ),
        wait=lambda seconds: _wait(session, seconds),
        between=session.checkpoint_stop,
        on_text=Writing(session.journal, session.run_id),
        on_warning=lambda text: session.log(text, "warning"),
        transport=_recording(session, earlier),
        modes_file=session.home.llm_modes,
    )
    recorder.max_cost_usd = client.budget.max_cost_usd
    return patient(session, llm_agents(session.world, client, book))


def _recording(session: Session, given: Sequence[LlmCallRecord]) -> Replay | None:
    """Recorded calls that answer instead of a server; None where a server is to answer.

    Args:
        given: calls that earlier processes of this run got answers to.
    """
    if not session.config.agents.startswith(REPLAY):
        return None
    from engine.llm.replay import RecordedCall, Replay, calls_in_file

    source = session.config.agents.removeprefix(REPLAY)
    if Path(source).is_file():
        calls = calls_in_file(Path(source))
    else:
        calls = tuple(
            RecordedCall(call.role, call.prompt, call.reply)
            for call in session.journal.calls(session.journal.run(source).id)
            if not call.error
        )
    return Replay(
        calls,
        source,
        used=[RecordedCall(call.role, call.prompt, call.reply) for call in given if not call.error],
        on_warning=lambda text: session.log(text, "warning"),
    )


def _wait(session: Session, seconds: float) -> None:
    """Sleep, but not past a person's wish to stop."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        session.checkpoint_stop()
        time.sleep(min(left, COMMAND_SECONDS))


class _Recorder:
    """Keeps each call of a model and tells the running total."""

    def __init__(self, session: Session, tokens: int, cost_usd: float) -> None:
        self._session = session
        self._tokens = tokens
        self._cost_usd = cost_usd
        self.max_cost_usd: float | None = None
        """None where money is not counted."""

    def __call__(self, call: LlmCallRecord) -> None:
        self._session.journal.record_call(call)
        self._tokens += call.prompt_tokens + call.completion_tokens
        self._cost_usd += call.cost_usd
        self._session.emit(
            TokensUsed(
                tokens=self._tokens,
                cost_usd=self._cost_usd,
                max_tokens=self._session.config.llm.max_tokens_total,
                max_cost_usd=self.max_cost_usd,
            )
        )
