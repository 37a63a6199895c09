"""What a studio knows of one run: its events folded into the state the screens draw.

Folding the whole history gives the same state as having watched live, which is what makes
attaching to a run work.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from studio.iterations import Iterations
from studio.words import Sign

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from engine import events
    from engine.agents.plan import CodeProposal, Critique, Plan, Trial

PROPOSED = Sign("◆", "?", "to review", "accent")
APPROVED = Sign("●", "*", "approved", "plain")
REJECTED = Sign("✗", "x", "rejected", "warn")
TRYING = Sign("●", "*", "trials", "accent")
WORKS = Sign("✔", "+", "works", "good")
FAILS = Sign("✗", "x", "fails", "bad")
LEARNING = Sign("●", "*", "learning", "accent")
LEARNT = Sign("✔", "+", "trained", "good")
OPEN = Sign("·", ".", "", "muted")


@dataclass
class StepView:
    """What happened to one sub-action so far, in the present plan."""

    versions: list[CodeProposal] = field(default_factory=list)
    sign: Sign = OPEN
    trials: list[Trial] = field(default_factory=list)
    critique: Critique | None = None
    critiques: dict[int, Critique] = field(default_factory=dict)
    decisions: dict[int, events.CodeDecided] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The state in words: `works 4/5`, `trials 2`, `to review`."""
        if self.critique is not None and self.sign in (WORKS, FAILS):
            good = round(self.critique.success_rate * self.critique.trials)
            return f"{self.sign.word} {good}/{self.critique.trials}"
        if self.sign is TRYING:
            return f"trial {len(self.trials)}"
        return self.sign.word


@dataclass
class RunView:
    """The folded history of one run."""

    plan: Plan | None = None
    plan_approved_by: str = ""
    proposals: list[CodeProposal] = field(default_factory=list)
    """Every version of every sub-action's code, in the order they were proposed."""
    steps: dict[str, StepView] = field(default_factory=dict)
    training: events.TrainingMetrics | None = None
    training_started: events.TrainingStarted | None = None
    used: events.TokensUsed | None = None
    learning: list[events.LearningProposed | events.LearningDecided] = field(default_factory=list)
    iterations: Iterations = field(default_factory=Iterations)
    evaluation: Mapping[str, Any] | None = None
    saved: list[events.SkillSaved] = field(default_factory=list)
    failure: events.RunFailed | None = None
    result: Mapping[str, Any] | None = None
    lost: str = ""
    """What the last resume had to do again."""

    def step(self, name: str) -> StepView:
        """The view of one sub-action; empty when nothing happened to it yet."""
        return self.steps.get(name, _NOTHING)

    def apply(self, event: events.Event) -> None:
        """Fold one event in."""
        self.iterations.apply(event)
        handler = getattr(self, f"_on_{event.KIND}", None)
        if handler is not None:
            handler(event)

    def base_of(self, proposal: CodeProposal) -> str | None:
        """Code of the version a proposal is a change of; None for a first version."""
        if proposal.base_version is None:
            return None
        for other in reversed(self.step(proposal.sub_action).versions):
            if other.version == proposal.base_version:
                return other.code
        return None

    def latest(self, name: str) -> int | None:
        """Index in `proposals` of a sub-action's newest code."""
        for index in range(len(self.proposals) - 1, -1, -1):
            if self.proposals[index].sub_action == name:
                return index
        return None

    def _step(self, name: str) -> StepView:
        return self.steps.setdefault(name, StepView())

    def _on_state(self, event: events.StateChanged) -> None:
        if event.state != "evaluating" or self.plan is None:
            return
        for action in self.plan.sub_actions("rl"):
            if self.step(action.name).sign is LEARNING:
                self._step(action.name).sign = LEARNT

    def _on_plan_proposed(self, event: events.PlanProposed) -> None:
        self.plan = event.plan
        self.plan_approved_by = ""

    def _on_plan_approved(self, event: events.PlanApproved) -> None:
        self.plan = event.plan
        self.plan_approved_by = event.by

    def _on_code_proposed(self, event: events.CodeProposed) -> None:
        proposal = event.proposal
        step = self._step(proposal.sub_action)
        self.proposals.append(proposal)
        step.versions.append(proposal)
        step.trials = []
        step.critique = None
        step.sign = PROPOSED

    def _on_code_decided(self, event: events.CodeDecided) -> None:
        step = self._step(event.sub_action)
        step.decisions[event.version] = event
        step.sign = REJECTED if event.decision == "reject" else APPROVED

    def _on_trial(self, event: events.TrialFinished) -> None:
        step = self._step(event.trial.sub_action)
        step.trials.append(event.trial)
        step.sign = TRYING

    def _on_critique(self, event: events.CritiqueGiven) -> None:
        step = self._step(event.critique.sub_action)
        step.critique = event.critique
        step.critiques[event.critique.version] = event.critique
        step.sign = WORKS if event.critique.works else FAILS

    def _on_training_started(self, event: events.TrainingStarted) -> None:
        self.training_started = event
        self._mark_learnt(LEARNING)

    def _on_metrics(self, event: events.TrainingMetrics) -> None:
        self.training = event

    def _on_tokens(self, event: events.TokensUsed) -> None:
        self.used = event

    def _on_learning_proposed(self, event: events.LearningProposed) -> None:
        self.learning.append(event)

    def _on_learning_decided(self, event: events.LearningDecided) -> None:
        self.learning.append(event)

    def _on_evaluation(self, event: events.Evaluated) -> None:
        self.evaluation = event.evaluation
        self._mark_learnt(LEARNT)

    def _on_skill_saved(self, event: events.SkillSaved) -> None:
        self.saved.append(event)

    def _on_resumed(self, event: events.Resumed) -> None:
        self.failure = None
        self.lost = event.lost

    def _on_failed(self, event: events.RunFailed) -> None:
        self.failure = event

    def _on_finished(self, event: events.RunFinished) -> None:
        self.result = event.result

    def _mark_learnt(self, sign: Sign) -> None:
        if self.plan is not None:
            for action in self.plan.sub_actions("rl"):
                self._step(action.name).sign = sign


_NOTHING = StepView()
