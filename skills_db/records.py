"""The frozen records that cross the border of the database; rows never leave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

Json = Mapping[str, Any]

Decision = Literal["approve", "modify", "reject", "stop"]
ApprovalKind = Literal["plan", "code", "learning", "save", "model"]
"""`learning` is how an rl sub-action is to be learnt; `model` asks how to go on when the server of
the language model fails."""
CommandKind = Literal["pause", "continue", "stop_and_keep", "abort", "approve_all"]
SkillKind = Literal["coded_action", "policy"]
RunKind = Literal["task", "play"]


class RunState(StrEnum):
    """Where a run stands. `interrupted` is what a studio shows for a run whose process died."""

    CREATED = "created"
    PLANNING = "planning"
    CODING = "coding"
    TRIALS = "trials"
    TRAINING = "training"
    EVALUATING = "evaluating"
    SAVING = "saving"
    PLAYING = "playing"
    WAITING = "waiting"
    PAUSED = "paused"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"

    @property
    def is_final(self) -> bool:
        """True when nothing more will happen unless the run is resumed."""
        return self in {RunState.FINISHED, RunState.STOPPED, RunState.FAILED, RunState.INTERRUPTED}


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that works on a run. `token` is new at each claim."""

    pid: int
    host: str
    token: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One execution of one task.

    `state` is what the run's process wrote last; `seen_state` is what a person should be told:
    `interrupted` when the process is gone although the run was at work.
    """

    id: str
    kind: RunKind
    task: str
    world: str
    agents: str
    config: Json
    state: RunState
    detail: str
    frames: int
    created_at: datetime
    updated_at: datetime
    owner: Owner | None
    heartbeat_at: datetime | None
    progress: Json | None
    result: Json | None
    seen_state: RunState


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One row of a run's append-only history. `seq` starts at 1 and has no gaps within a run."""

    run_id: str
    seq: int
    time: datetime
    kind: str
    payload: Json


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """What a person must decide, decided once. `payload_hash` is of exactly what was shown."""

    id: int
    run_id: str
    kind: ApprovalKind
    subject: str
    payload: Json
    payload_hash: str
    created_at: datetime
    decision: Decision | None = None
    decided_at: datetime | None = None
    decided_by: str | None = None
    comment: str = ""
    decided_payload: Json | None = None
    decided_hash: str | None = None


@dataclass(frozen=True, slots=True)
class FrameRecord:
    """The newest picture of a run; only one per run is kept. `rgb` is height*width*3 bytes."""

    run_id: str
    seq: int
    width: int
    height: int
    rgb: bytes
    caption: str


@dataclass(frozen=True, slots=True)
class CompletionRecord:
    """What a language model is writing now, or wrote last; only the newest per run is kept."""

    run_id: str
    seq: int
    role: str
    """`planner`, `slow`, `fast` or `critic`."""
    subject: str
    """What it is about: the name of a subtask or sub-action, or the task."""
    text: str
    finished: bool


@dataclass(frozen=True, slots=True)
class LlmCallRecord:
    """One call of a language model, as it was sent and answered."""

    run_id: str
    role: str
    model: str
    mode: str
    prompt: str
    reply: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    cost_usd: float
    error: str = ""
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class SkillDraft:
    """A skill version to be saved. `weights` is safetensors bytes for a policy, else None."""

    name: str
    world: str
    kind: SkillKind
    description: str
    code: str
    success_rate: float
    episodes: int
    run_id: str | None
    agents: str
    approver: str
    metadata: Json = field(default_factory=dict)
    weights: bytes | None = None


@dataclass(frozen=True, slots=True)
class SkillVersionRecord:
    """One version of a skill; versions never change."""

    skill: str
    version: int
    world: str
    kind: SkillKind
    description: str
    code: str
    code_hash: str
    weights_hash: str | None
    success_rate: float
    episodes: int
    run_id: str | None
    agents: str
    approver: str
    metadata: Json
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SkillRecord:
    """A named skill with its newest version and how many there are."""

    name: str
    world: str
    kind: SkillKind
    description: str
    versions: int
    latest: SkillVersionRecord
