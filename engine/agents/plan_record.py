"""What a slow agent is told besides the subtask it divides: the rest of the plan, and its past."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.agents.plan import SubAction


@dataclass(frozen=True, slots=True)
class Attempt:
    """One version of the code for a sub-action, as it was judged."""

    iteration: int
    """Of the outer loop, 0 for the first plan."""
    sub_action: str
    version: int
    trials: int
    """Those that count: trials that could not start do not."""
    success_rate: float
    outcomes: Mapping[str, int] = field(default_factory=dict)
    """How many trials ended how; those that could not start under `not started`."""
    frames: float = 0.0
    """Mean env frames of the trials that started."""
    failure: str = ""
    """The typical failure in the critic's words, or a person's reason for a rejection."""


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """What RL had reached when the outer loop looked back at a plan."""

    iteration: int
    frames: int
    """Env frames of training so far, over all iterations."""
    task_success: float | None
    """Share of training episodes in which the task was done."""
    goals: Mapping[str, float]
    """The same by rl sub-action."""


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """The plan around one subtask, and what came of that subtask so far, oldest first."""

    others: Mapping[str, tuple[SubAction, ...]] = field(default_factory=dict)
    """Sub-actions of the other subtasks in plan order; none yet for those still undivided."""
    attempts: tuple[Attempt, ...] = ()
    """Every version of the code for this subtask, in all iterations."""
    trainings: tuple[TrainingResult, ...] = ()


NOTHING_YET = PlanRecord()
