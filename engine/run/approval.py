"""Asking a person: a durable request, decided once, for exactly what was shown."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from engine.agents.plan import LearningProposal, Plan
from engine.errors import EngineError
from engine.run.session import RunStopped, RunWaits, Session
from skills_db.errors import AlreadyDecided
from skills_db.records import ApprovalKind, ApprovalRecord, Decision, RunState

POLL_SECONDS = 0.2
PATIENCE_SECONDS = 900.0
"""After that long without a decision the process leaves; a decision starts a new one."""
SHORT_PATIENCE_SECONDS = 20.0
"""The same for a run with `approve=none` that somebody has attached to and decided in."""
POLICY, PERSON_ALL = "policy:all", "person:all"
UNASKED = frozenset({POLICY, PERSON_ALL})
"""Deciders that stand for a person who is not asked each time."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was decided, by whom, and the changed payload of a *modify*."""

    decision: Decision
    by: str
    comment: str
    payload: dict[str, Any]


class PlanPayload(BaseModel):
    """What a *modify* of a plan carries."""

    plan: Plan


class CodePayload(BaseModel):
    """What a *modify* of code carries."""

    code: str


class SavePayload(BaseModel):
    """What a *modify* of the skills to save carries: the names kept."""

    skills: list[str]


class LearningPayload(BaseModel):
    """What a *modify* of how to learn carries."""

    proposal: LearningProposal


class ModelPayload(BaseModel):
    """What a *modify* carries when the language model fails: go on with other agents."""

    agents: Literal["rules"]


_MODIFIED: Mapping[ApprovalKind, type[BaseModel]] = {
    "plan": PlanPayload,
    "code": CodePayload,
    "learning": LearningPayload,
    "save": SavePayload,
    "model": ModelPayload,
}


def ask(session: Session, kind: ApprovalKind, subject: str, payload: dict[str, Any]) -> Answer:
    """Ask for a decision and wait for it; one that cannot be read is asked for again.

    Raises:
        RunStopped: the person decided *stop*, or the run was told to stop meanwhile.
        RunWaits: nobody may be waited for (`approve=none`), or the patience is over.
        EngineError: the decision is for another payload than the one asked for.
    """
    while True:
        answer = _ask_once(session, kind, subject, payload)
        if answer.decision != "modify":
            return answer
        try:
            _MODIFIED[kind].model_validate(answer.payload)
            return answer
        except ValidationError as error:
            found = "; ".join(str(one["msg"]) for one in error.errors())
            session.log(f"the changed {kind} of {answer.by} cannot be read: {found}", "error")
            session.save()


def answered(session: Session, kind: ApprovalKind) -> Answer | None:
    """The decision made on the question of that kind that an earlier process left open, if any.

    Raises:
        RunStopped: it was *stop*.
    """
    asked = session.progress.asked
    request = None if asked is None else session.journal.approval(asked)
    if request is None or request.kind != kind or request.decision is None:
        return None
    if request.decision == "stop":
        raise RunStopped
    return _answer(request)


def _ask_once(
    session: Session, kind: ApprovalKind, subject: str, payload: dict[str, Any]
) -> Answer:
    request = _request(session, kind, subject, payload)
    if request.decision is None:
        session.control()  # *approve all* may have been said before this process began
        if decides_itself(session, kind):
            request = _approve(session, request)
    if request.decision is None:
        session.enter(RunState.WAITING, f"{kind}: {subject}")
        request = _wait(session, request, _patience(session))
    if request.decision == "stop":
        raise RunStopped
    return _answer(request)


def _request(
    session: Session, kind: ApprovalKind, subject: str, payload: dict[str, Any]
) -> ApprovalRecord:
    """The request this run already made for the very same payload, else a new one."""
    asked = session.progress.asked
    if asked is not None:
        request = session.journal.approval(asked)
        if request.kind == kind and dict(request.payload) == payload:
            return request
    request = session.journal.request_approval(session.run_id, kind, subject, payload)
    session.save(asked=request.id)
    return request


def decides_itself(session: Session, kind: ApprovalKind | None = None) -> bool:
    """True when a policy or *approve all* decides instead of a person.

    A model that fails is nothing to approve: who said *approve all* is asked about it all the same.
    """
    return session.config.approve == "all" or (session.progress.approve_all and kind != "model")


def _approve(session: Session, request: ApprovalRecord) -> ApprovalRecord:
    by = POLICY if session.config.approve == "all" else PERSON_ALL
    try:
        return session.journal.decide(
            request.id, "approve", by=by, expected_hash=request.payload_hash
        )
    except AlreadyDecided:
        return session.journal.approval(request.id)


def _patience(session: Session) -> float:
    """How long to wait for a person, in seconds."""
    if session.config.approve == "ask":
        return PATIENCE_SECONDS
    nobody_came_yet = session.progress.plan_approved_by is None
    return 0.0 if nobody_came_yet else SHORT_PATIENCE_SECONDS


def _wait(session: Session, request: ApprovalRecord, patience: float) -> ApprovalRecord:
    since = time.monotonic()
    while request.decision is None:
        if session.control() in ("abort", "stop_and_keep"):
            raise RunStopped
        if decides_itself(session, request.kind):
            return _approve(session, request)
        if time.monotonic() - since >= patience:
            raise RunWaits
        time.sleep(POLL_SECONDS)
        request = session.journal.approval(request.id)
    return request


def _answer(request: ApprovalRecord) -> Answer:
    decision, by = request.decision, request.decided_by
    if decision is None or by is None:
        raise EngineError(
            f"approval {request.id!r} has no decision", "Open the studio and decide it."
        )
    changed = decision == "modify" and request.decided_payload is not None
    payload = request.decided_payload if changed else request.payload
    return Answer(decision, by, request.comment, dict(payload or {}))
