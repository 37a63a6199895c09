"""The records that travel from task to skill: plan, code proposal, trial and critique."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Mode = Literal["code", "rl"]
Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,47}$")]
Outcome = Literal["success", "failed", "error", "out_of_frames", "stuck", "died", "interrupted"]


class Record(BaseModel):
    """Base of all records: frozen, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SubAction(Record):
    """One step of a subtask: either coded by the fast agent or learnt by RL."""

    name: Identifier
    mode: Mode
    reason: str
    """Why this mode, in the slow agent's words."""
    instruction: str
    """What the fast agent is asked to write, or what RL is asked to learn."""
    success: str
    """Predicate that says the sub-action did what it was for."""
    precondition: str = "true"
    """Predicate that must hold before it can start at all; becomes the action mask."""
    interrupt: str = "false"
    """Predicate that makes a running coded action yield to the policy."""
    due: str = "true"
    """Predicate that says when code alone starts it; a policy may choose it at other times too."""
    budget: int = Field(gt=0, le=10_000_000_000)
    """Env frames: the longest one execution may take (code), or the training share (rl)."""
    choices: tuple[Identifier, ...] = ()
    """Names of the actions an rl policy may choose against the plan; all when empty."""


class Subtask(Record):
    """A part of the task with its own success predicate."""

    name: Identifier
    goal: str
    success: str
    depends_on: tuple[Identifier, ...] = ()
    reuses: tuple[Identifier, ...] = ()
    """Skills of the library that do all or part of it, as the planner wants it."""
    sub_actions: tuple[SubAction, ...] = ()


class Plan(Record):
    """The slow agent's plan for a task, as proposed or as a person left it."""

    task: str
    world: str
    author: str
    """Who wrote it: `rules`, `llm:<model>`, with `+person` once a person edited it."""
    iteration: int = Field(default=0, ge=0)
    subtasks: tuple[Subtask, ...]

    def sub_actions(self, mode: Mode | None = None) -> tuple[SubAction, ...]:
        """All sub-actions in order of the subtasks, of one mode or of both."""
        return tuple(
            action
            for subtask in self.subtasks
            for action in subtask.sub_actions
            if mode is None or action.mode == mode
        )

    @property
    def training_frames(self) -> int:
        """Env frames of training the plan asks for: the sum over its rl sub-actions."""
        return sum(action.budget for action in self.sub_actions("rl"))


class CodeDiagnostic(Record):
    """One finding of the static check; `line` and `column` start at 1, 0 means the whole text."""

    line: int
    column: int
    code: str
    message: str


class CodeProposal(Record):
    """Unapproved code for one sub-action."""

    sub_action: Identifier
    version: int = Field(ge=1)
    base_version: int | None = None
    instruction: str
    code: str
    author: str
    comment: str = ""
    """What the fast agent says it changed, or why it wrote it so."""
    diagnostics: tuple[CodeDiagnostic, ...] = ()

    @property
    def passed_check(self) -> bool:
        """True when the static check found nothing."""
        return not self.diagnostics

    @property
    def code_hash(self) -> str:
        """SHA-256 of the code, the name under which it is approved."""
        return code_hash(self.code)


class ShapingTerm(Record):
    """Extra training reward, once per episode, when a predicate first comes true.

    It never enters an evaluation.
    """

    predicate: str
    bonus: float = Field(gt=0, le=10)


class LearningProposal(Record):
    """How the fast agent proposes to learn one rl sub-action; unapproved.

    Source: RL-GPT (arXiv 2402.19299), section 3: the fast agent configures RL for what cannot be
    coded.
    """

    sub_action: Identifier
    version: int = Field(ge=1)
    actions: tuple[Identifier, ...] = ()
    """Coded actions it may choose; all that work when empty."""
    observation: tuple[str, ...] = ()
    """Parts of the world's observation it sees; all when empty."""
    shaping: tuple[ShapingTerm, ...] = Field(default=(), max_length=8)
    reason: str = ""
    author: str


class Trial(Record):
    """One execution of approved code in the world."""

    sub_action: Identifier
    version: int
    index: int
    seed: int
    outcome: Outcome
    detail: str
    """What the code returned, the error with its line, or what stopped it."""
    frames: int
    actions: tuple[tuple[str, int], ...]
    """Primitive actions, run-length coded: (`move_left`, 3) is three frames to the left."""
    gained: dict[str, float]
    """Terms of the world that changed, after minus before."""
    started: bool = True
    """False when nothing is known against the code: its precondition could not be brought about, so
    it never ran, or the player died while it had yielded."""


class Critique(Record):
    """The critic's judgement of one version of the code over its trials."""

    sub_action: Identifier
    version: int
    success_rate: float
    trials: int
    works: bool
    typical_failure: str
    text: str
    suggestion: str
    author: str


def code_hash(code: str) -> str:
    """SHA-256 of policy code as hexadecimal text."""
    return hashlib.sha256(code.encode()).hexdigest()
