"""The typed events a run appends to its history; the only thing a studio knows of a run.

An event is stored as (`kind`, payload): `kind` is the class's `KIND`, the payload its JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.agents.plan import CodeProposal, Critique, LearningProposal, Plan, Record, Trial


class Event(Record):
    """Base of all events."""

    KIND: ClassVar[str]


class StateChanged(Event):
    """The run entered another state."""

    KIND = "state"
    state: str
    detail: str = ""


class AgentSaid(Event):
    """An agent's words, for the log: what it did and why."""

    KIND = "agent"
    role: str
    """`planner`, `slow`, `fast` or `critic`."""
    author: str
    text: str


class PlanProposed(Event):
    """A plan as an agent wrote it."""

    KIND = "plan_proposed"
    plan: Plan


class PlanApproved(Event):
    """The plan that is worked on from now on."""

    KIND = "plan_approved"
    plan: Plan
    by: str


class CodeProposed(Event):
    """A version of code for a sub-action, with its check result."""

    KIND = "code_proposed"
    proposal: CodeProposal


class CodeDecided(Event):
    """What the person (or a policy of theirs) said to a code proposal."""

    KIND = "code_decided"
    sub_action: str
    version: int
    decision: str
    by: str
    comment: str
    code_hash: str


class TrialFinished(Event):
    """One execution of approved code in the world is over."""

    KIND = "trial"
    trial: Trial


class CritiqueGiven(Event):
    """The critic has judged a version of the code."""

    KIND = "critique"
    critique: Critique


class LearningProposed(Event):
    """How the fast agent proposes to learn an rl sub-action."""

    KIND = "learning_proposed"
    proposal: LearningProposal


class LearningDecided(Event):
    """What the person (or a policy of theirs) said to it; `proposal` is what counts from now on."""

    KIND = "learning_decided"
    proposal: LearningProposal
    decision: str
    by: str
    comment: str = ""


class IterationReviewed(Event):
    """The outer loop looked at what became of one plan: what works, what RL reached, what next."""

    KIND = "iteration"
    iteration: int
    code: dict[str, float | None]
    """Success rate of each coded sub-action over its trials; None where none could start."""
    given_up: tuple[str, ...] = ()
    """Coded sub-actions without working code."""
    frames: int = 0
    """Env frames of training so far, over all iterations."""
    task_success: float | None = None
    """Share of training episodes in which the task was done; None where nothing was trained."""
    goals: dict[str, float] = {}
    """The same by rl sub-action."""
    verdict: str = ""
    """What follows: another plan, more training, or the end of the loop, and why."""


class AgentsChanged(Event):
    """Other agents go on with the run from here."""

    KIND = "agents"
    agents: str
    why: str


class TrainingStarted(Event):
    """RL training begins or goes on."""

    KIND = "training_started"
    frames_total: int
    frames_done: int
    actions: tuple[str, ...]
    """The discrete action space in order: primitives, then coded actions."""
    coded_actions: int
    device: str
    parameters: int


class TrainingMetrics(Event):
    """Figures of one PPO update. Names as in CleanRL and SB3; every axis counts env frames."""

    KIND = "metrics"
    frames: int
    frames_total: int
    success_rate: float | None
    """Share of the last 100 finished episodes in which the task's predicate came true."""
    episodic_return: float | None
    episodic_length: float | None
    sps: float
    """Env frames per second, learning included."""
    entropy: float
    approx_kl: float
    clipfrac: float
    explained_variance: float
    policy_loss: float
    value_loss: float
    decisions: int
    coded_share: float
    """Share of decisions that chose a coded action."""
    eta_seconds: float | None
    usage: dict[str, float] = {}
    """Share of the frames since the last figures by coded action; those never used are left out."""
    plan_share: float | None = None
    """Share of decisions that chose what code alone would run next, where it would run anything."""


class DeviceSampled(Event):
    """What the machine does; None where it cannot be read."""

    KIND = "device"
    name: str
    is_gpu: bool
    utilisation: float | None
    """Percent of the GPU, or of the run's one CPU core where there is no GPU."""
    memory_used_gb: float | None
    memory_total_gb: float | None
    temperature_c: float | None
    cpu_percent: float
    rss_gb: float


class CheckpointSaved(Event):
    """From here the run can be resumed."""

    KIND = "checkpoint"
    frames: int
    file: str
    sha256: str


class Resumed(Event):
    """A new process goes on with the run."""

    KIND = "resumed"
    phase: str
    frames: int
    lost: str
    """How much work since the last checkpoint is done again."""


class Evaluated(Event):
    """A policy was evaluated on held-out seeds."""

    KIND = "evaluation"
    evaluation: dict[str, Any]


class SkillSaved(Event):
    """A skill version was written to the library."""

    KIND = "skill_saved"
    name: str
    version: int
    skill_kind: str
    success_rate: float


class TokensUsed(Event):
    """Tokens and money the run has spent so far on language models."""

    KIND = "tokens"
    tokens: int
    cost_usd: float
    max_tokens: int | None = None
    """The run's budget; None in histories of earlier versions."""
    max_cost_usd: float | None = None
    """None also where no price is known."""


class LogLine(Event):
    """A line for the log."""

    KIND = "log"
    level: str
    text: str


class RunFailed(Event):
    """The run cannot go on; what failed and the next step."""

    KIND = "failed"
    message: str
    hint: str


class RunFinished(Event):
    """The run is over; the same JSON the headless command prints."""

    KIND = "finished"
    result: dict[str, Any]


ALL_EVENTS: tuple[type[Event], ...] = (
    StateChanged, AgentSaid, PlanProposed, PlanApproved, CodeProposed, CodeDecided,
    TrialFinished, CritiqueGiven, LearningProposed, LearningDecided, IterationReviewed,
    AgentsChanged, TrainingStarted, TrainingMetrics, DeviceSampled,
    CheckpointSaved, Resumed, Evaluated, SkillSaved, TokensUsed, LogLine, RunFailed, RunFinished,
)  # fmt: skip
_BY_KIND: Mapping[str, type[Event]] = {event.KIND: event for event in ALL_EVENTS}


def decode(kind: str, payload: Mapping[str, Any]) -> Event | None:
    """The event of a stored row; None for a kind a newer version wrote."""
    event = _BY_KIND.get(kind)
    return None if event is None else event.model_validate(payload)


def encode(event: Event) -> tuple[str, dict[str, Any]]:
    """Kind and JSON-ready payload of an event."""
    return event.KIND, event.model_dump(mode="json")
