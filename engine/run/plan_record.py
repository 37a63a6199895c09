"""What a slow agent is told of the plan so far and of what came of it, from the run's history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from engine.agents.plan import Critique, Plan, SubAction, Subtask, Trial
from engine.agents.plan_record import Attempt, PlanRecord, TrainingResult
from engine.events import (
    CodeDecided,
    CritiqueGiven,
    IterationReviewed,
    PlanApproved,
    TrialFinished,
)
from engine.run.history import events_of
from engine.run.session import Session

NOT_STARTED = "not started"
_KINDS = {
    event.KIND
    for event in (
        CodeDecided, CritiqueGiven, IterationReviewed, PlanApproved, TrialFinished
    )
}  # fmt: skip


def others_of(subtask: Subtask, plan: Iterable[Subtask]) -> dict[str, tuple[SubAction, ...]]:
    """Sub-actions of the other subtasks by name, in plan order; none for undivided ones."""
    return {other.name: other.sub_actions for other in plan if other.name != subtask.name}


def record_of(session: Session, subtask: Subtask, plan: Iterable[Subtask]) -> PlanRecord:
    """The plan around a subtask, and what came of it in this and all earlier iterations.

    Args:
        plan: the subtasks as they are now, divided or not.
    """
    others = others_of(subtask, plan)
    if not subtask.sub_actions:
        return PlanRecord(others)
    session.flush()
    reader = _Reader(subtask.name)
    for event in events_of(session.journal, session.run_id, _KINDS):
        payload = event.payload
        if event.kind == PlanApproved.KIND:
            reader.plan(Plan.model_validate(payload["plan"]))
        elif event.kind == TrialFinished.KIND:
            reader.tried(Trial.model_validate(payload["trial"]))
        elif event.kind == CritiqueGiven.KIND:
            reader.judged(Critique.model_validate(payload["critique"]))
        elif event.kind == CodeDecided.KIND and payload["decision"] == "reject":
            reader.rejected(payload["sub_action"], payload["version"], payload["comment"])
        elif event.kind == IterationReviewed.KIND:
            reader.reviewed(IterationReviewed.model_validate(payload))
    return PlanRecord(others, tuple(reader.attempts), tuple(reader.trainings))


class _Reader:
    """Gathers what one subtask's sub-actions went through, event by event."""

    def __init__(self, subtask: str) -> None:
        self.attempts: list[Attempt] = []
        self.trainings: list[TrainingResult] = []
        self._subtask = subtask
        self._names: set[str] = set()
        self._iteration = 0
        self._trials: dict[tuple[str, int, int], Trial] = {}

    def plan(self, plan: Plan) -> None:
        self._iteration = plan.iteration
        mine = (part.sub_actions for part in plan.subtasks if part.name == self._subtask)
        self._names = {action.name for actions in mine for action in actions}

    def tried(self, trial: Trial) -> None:
        # By number: a process that died in mid-trial left some that were run again.
        self._trials[trial.sub_action, trial.version, trial.index] = trial

    def judged(self, critique: Critique) -> None:
        key = (critique.sub_action, critique.version)
        trials = [trial for at, trial in self._trials.items() if at[:2] == key]
        self._trials.clear()
        if critique.sub_action not in self._names:
            return
        began = [trial for trial in trials if trial.started]
        ends = Counter(trial.outcome if trial.started else NOT_STARTED for trial in trials)
        self.attempts.append(
            Attempt(
                iteration=self._iteration,
                sub_action=critique.sub_action,
                version=critique.version,
                trials=critique.trials,
                success_rate=critique.success_rate,
                outcomes=dict(ends.most_common()),
                frames=sum(trial.frames for trial in began) / len(began) if began else 0.0,
                failure=critique.typical_failure,
            )
        )

    def rejected(self, sub_action: str, version: int, comment: str) -> None:
        if sub_action in self._names:
            failure = f"rejected by a person: {comment or 'without a reason'}"
            self.attempts.append(
                Attempt(self._iteration, sub_action, version, 0, 0.0, failure=failure)
            )

    def reviewed(self, review: IterationReviewed) -> None:
        is_new = not self.trainings or review.frames > self.trainings[-1].frames
        if review.frames and is_new:
            self.trainings.append(
                TrainingResult(review.iteration, review.frames, review.task_success, review.goals)
            )
