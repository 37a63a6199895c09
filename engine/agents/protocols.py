"""The seams of the four agents; `rules` and `llm` implement each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from engine.agents.last_frame import LastFrame
from engine.agents.plan import (
    CodeProposal,
    Critique,
    LearningProposal,
    ShapingTerm,
    SubAction,
    Subtask,
    Trial,
)
from engine.agents.plan_record import NOTHING_YET, PlanRecord
from engine.worlds.base import TaskSpec, World


@dataclass(frozen=True, slots=True)
class KnownSkill:
    """A coded action of the skill library that may be used again."""

    name: str
    version: int
    description: str
    code: str
    success_rate: float


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What every agent may know: the task, the world, the RL budget, earlier skills."""

    task: TaskSpec
    world: World
    training_frames: int
    skills: tuple[KnownSkill, ...] = ()


@dataclass(frozen=True, slots=True)
class Feedback:
    """Why the earlier version was not good enough."""

    diagnostics: str = ""
    """Findings of the static check, one a line with line numbers."""
    comment: str = ""
    """The person's reason for a rejection."""
    critique: Critique | None = None
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeDraft:
    """Code as the fast agent wrote it, before any check."""

    code: str
    comment: str


@dataclass(frozen=True, slots=True)
class WorkingCode:
    """A coded action that the learner will have."""

    sub_action: SubAction
    success_rate: float | None
    """Over its trials; None where none of them could start."""


@dataclass(frozen=True, slots=True)
class LearningDraft:
    """How to learn an rl sub-action, as the fast agent wrote it; see `LearningProposal`."""

    actions: tuple[str, ...]
    observation: tuple[str, ...]
    shaping: tuple[ShapingTerm, ...]
    reason: str


class Planner(Protocol):
    """Cuts a task into subtasks with success predicates."""

    @property
    def author(self) -> str:
        """How it signs: `rules`, or `llm:` and the model."""
        ...

    def subtasks(self, context: TaskContext) -> tuple[Subtask, ...]:
        """Subtasks in a workable order, without sub-actions.

        Raises:
            AgentError: the task is beyond this planner; says what it can do.
        """
        ...


class SlowAgent(Protocol):
    """Cuts subtasks into sub-actions and says of each: code it or learn it."""

    @property
    def author(self) -> str:
        """How it signs: `rules`, or `llm:` and the model."""
        ...

    def divide(
        self, context: TaskContext, subtasks: tuple[Subtask, ...]
    ) -> Mapping[str, tuple[SubAction, ...]]:
        """Sub-actions of a task's first plan by subtask, all thought of together.

        Those that are left out are asked for one after the other, with `sub_actions`.

        Raises:
            NoValidAnswer: it cannot do so much at once; `sub_actions` may still work.
        """
        ...

    def sub_actions(
        self,
        context: TaskContext,
        subtask: Subtask,
        earlier: tuple[SubAction, ...],
        critiques: tuple[Critique, ...],
        record: PlanRecord = NOTHING_YET,
    ) -> tuple[SubAction, ...]:
        """Sub-actions of one subtask.

        Args:
            earlier: this subtask's sub-actions of the last iteration; empty at first.
            critiques: why they must change: the critic's last word on each that failed.
            record: the rest of the plan, and all that came of this subtask so far.
        """
        ...


class FastAgent(Protocol):
    """Writes policy code for one sub-action against the world's stub, or says how to learn it."""

    @property
    def author(self) -> str:
        """How it signs: `rules`, or `llm:` and the model."""
        ...

    def write(
        self,
        context: TaskContext,
        sub_action: SubAction,
        base: CodeProposal | None,
        feedback: Feedback,
    ) -> CodeDraft:
        """Code that defines `run() -> str`.

        Raises:
            AgentError: it has nothing new to offer (the same code would fail again).
        """
        ...

    def configure(
        self,
        context: TaskContext,
        sub_action: SubAction,
        working: tuple[WorkingCode, ...],
        base: LearningProposal | None,
        comment: str,
    ) -> LearningDraft | None:
        """How an rl sub-action is to be learnt; None for as the plan has it.

        Args:
            working: the coded actions there are.
            base: the proposal that a person sent back, if one was.
            comment: why it was.

        Raises:
            AgentError: it has no valid proposal.
        """
        ...


class Critic(Protocol):
    """Judges what the code did: the success predicate first, words second."""

    @property
    def author(self) -> str:
        """How it signs: `rules`, or `llm:` and the model."""
        ...

    def judge(
        self,
        context: TaskContext,
        sub_action: SubAction,
        proposal: CodeProposal,
        trials: tuple[Trial, ...],
        pass_rate: float,
        last_frame: LastFrame | None = None,
    ) -> Critique:
        """Success rate by program, typical failure, and a suggestion for the next version.

        Args:
            last_frame: of the first failed trial, for a critic that can look at it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Agents:
    """One implementation of each role."""

    planner: Planner
    slow: SlowAgent
    fast: FastAgent
    critic: Critic
