"""What a run has achieved so far: the one record from which it can be resumed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from engine.agents.plan import (
    CodeProposal,
    Critique,
    LearningProposal,
    Plan,
    Record,
    SubAction,
    Trial,
)
from engine.rl.options import CodedAction

Phase = Literal["plan", "code", "train", "evaluate", "save", "done"]


class CodeWork(Record):
    """The newest version of the code for one sub-action, and what became of it."""

    sub_action: SubAction
    proposal: CodeProposal
    approved_by: str | None = None
    trials: tuple[Trial, ...] = ()
    critique: Critique | None = None
    failures: int = 0
    """Versions that were approved, tried and found wanting so far."""
    given_up: bool = False
    """True when the retries are spent: the slow agent must find another way."""

    @property
    def works(self) -> bool:
        """True when it is approved and the critic passed it: it may be saved as a skill."""
        return self.approved_by is not None and self.critique is not None and self.critique.works

    @property
    def never_tried(self) -> bool:
        """True when it is approved, but no trial could bring its precondition about."""
        tried = self.critique is None or self.critique.trials > 0
        return self.approved_by is not None and not tried

    @property
    def is_usable(self) -> bool:
        """True when it may be a coded action: nothing speaks against it, and it was approved.

        Code that was never tried stays in: RL may reach the precondition the trials could not.
        """
        return self.works or self.never_tried

    def coded_action(self) -> CodedAction:
        """The approved code as an option."""
        return CodedAction(
            name=self.sub_action.name,
            code=self.proposal.code,
            success=self.sub_action.success,
            precondition=self.sub_action.precondition,
            interrupt=self.sub_action.interrupt,
            due=self.sub_action.due,
            max_frames=self.sub_action.budget,
            version=self.proposal.version,
        )


class HowToLearn(Record):
    """How one rl sub-action is to be learnt, and who agreed to it."""

    sub_action: SubAction
    proposal: LearningProposal | None = None
    """None: as the plan has it."""
    approved_by: str | None = None
    """Who agreed to the proposal; None while it is asked."""
    comment: str = ""
    """A rejection that no other proposal has answered yet."""


class LearnedSkill(Record):
    """An rl sub-action that was learnt as an action of later ones; its weights are a file."""

    name: str
    frames: int
    ended: str
    """An `engine.rl.train.Ended`."""
    success_rate: float | None
    """Of its own success, over the last 100 episodes of its training."""
    spec: dict[str, Any]
    sha256: str
    """Of the weights."""


class TrainingLook(Record):
    """What the outer loop knows of the task's training (`engine.run.look`)."""

    number: int = 0
    """How many trainings of the task another one has followed."""
    frames_before: int = 0
    """Env frames of these, and of skills that the present plan has no use for."""
    looked_at: int = 0
    """Env frames of the present training when it was looked at last."""
    digest: str = ""
    """Of what was trained when it went badly: a plan that asks for the same goes on with it."""
    spent: int = 0
    """Env frames of all trainings when the present plan was agreed to; its budgets begin there."""
    left: int | None = None
    """Env frames that were left to plan for when a training went badly; None while none has."""
    critiques: tuple[Critique, ...] = ()
    """What is told of that training to the slow agent, until a plan answers it."""
    over: bool = False
    """No more looks: the slow agent has no other plan."""

    def file_of(self, first: Path) -> Path:
        """Where the present training keeps what the first one kept in this file."""
        return first.with_stem(f"{first.stem}-{self.number}") if self.number else first


class SavedSkill(Record):
    """A skill version of the library that this run wrote, or used as it was."""

    name: str
    version: int
    kind: str
    success_rate: float
    reused: bool = False


class Progress(Record):
    """Everything a new process needs to go on; stored after each step in one transaction."""

    phase: Phase = "plan"
    iteration: int = 0
    plan: Plan | None = None
    plan_comment: str = ""
    """A rejection of the plan that no other plan has answered yet."""
    plan_approved_by: str | None = None
    asked: int | None = None
    """The approval request this run waits for, so that a resumed run does not ask again."""
    approve_all: bool = False
    """A person said *approve all from here*."""
    codes: dict[str, CodeWork] = {}
    learning: dict[str, HowToLearn] = {}
    """By rl sub-action."""
    learned: tuple[LearnedSkill, ...] = ()
    """With a curriculum: the skills that are learnt so far, in plan order."""
    look: TrainingLook = TrainingLook()
    training_frames: int = 0
    """Of all trainings together."""
    training_success_rate: float | None = None
    policy_spec: dict[str, Any] | None = None
    """Spec of the trained policy; its weights lie in the run's folder."""
    policy_sha256: str | None = None
    """Of these weights; runs of earlier versions have none."""
    evaluation: dict[str, Any] | None = None
    saved: tuple[SavedSkill, ...] = ()
    seconds: float = 0.0
    """Wall time worked so far, over all processes of the run."""

    def with_(self, **changes: Any) -> Progress:
        """A copy with some fields changed, validated."""
        return Progress.model_validate({**dict(self), **changes})

    def agreed_learning(self, sub_actions: Iterable[SubAction]) -> tuple[LearningProposal, ...]:
        """How these rl sub-actions are learnt; one that asks for nothing where the plan says it."""
        return tuple(
            how.proposal
            if (how := self.learning.get(action.name)) and how.proposal and how.approved_by
            else LearningProposal(sub_action=action.name, version=1, author="plan")
            for action in sub_actions
        )

    def coded_actions(self) -> tuple[CodedAction, ...]:
        """The usable coded actions in plan order."""
        if self.plan is None:
            return ()
        works = [self.codes.get(action.name) for action in self.plan.sub_actions("code")]
        return tuple(work.coded_action() for work in works if work is not None and work.is_usable)
