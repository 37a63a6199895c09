"""The plans of a run one after the other, with what became of each: for looking at side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine import events
    from engine.agents.plan import CodeProposal, Critique, Plan, SubAction


@dataclass
class Piece:
    """One sub-action within one iteration."""

    action: SubAction
    subtask: str
    versions: list[CodeProposal] = field(default_factory=list)
    critiques: dict[int, Critique] = field(default_factory=dict)

    @property
    def best(self) -> float | None:
        """The best success rate a version of its code had; None where none was tried."""
        tried = [critique.success_rate for critique in self.critiques.values() if critique.trials]
        return max(tried, default=None)


@dataclass
class Iteration:
    """One plan of the outer loop and what followed from it."""

    number: int
    plan: Plan
    approved_by: str = ""
    pieces: dict[str, Piece] = field(default_factory=dict)
    review: events.IterationReviewed | None = None

    def take_plan(self, plan: Plan) -> None:
        """The plan in another form: as a person left it, or as it was approved."""
        self.plan = plan
        before, self.pieces = self.pieces, {}
        for subtask in plan.subtasks:
            for action in subtask.sub_actions:
                old = before.get(action.name)
                kept = ([], {}) if old is None else (old.versions, old.critiques)
                self.pieces[action.name] = Piece(action, subtask.name, *kept)


@dataclass
class Iterations:
    """All of them in order, folded from the events of the run."""

    all: list[Iteration] = field(default_factory=list)
    changes: int = 0
    """How many events have changed something, for whoever draws them."""

    def apply(self, event: events.Event) -> None:
        """Fold one event in; most say nothing about iterations."""
        handler = getattr(self, f"_on_{event.KIND}", None)
        if handler is not None:
            self.changes += 1
            handler(event)

    def change(self, index: int, name: str) -> str:
        """What became of a sub-action since the iteration before.

        `new`, `now rl`, `now code`, `changed`, or empty where it is the same or none was before.
        """
        if index == 0:
            return ""
        piece = self.all[index].pieces[name]
        before = self.all[index - 1].pieces.get(name)
        if before is None:
            return "new"
        if before.action.mode != piece.action.mode:
            return f"now {piece.action.mode}"
        return "" if before.action == piece.action else "changed"

    def _on_plan_proposed(self, event: events.PlanProposed) -> None:
        self._take(event.plan, "")

    def _on_plan_approved(self, event: events.PlanApproved) -> None:
        self._take(event.plan, event.by)

    def _take(self, plan: Plan, by: str) -> None:
        found = next((one for one in self.all if one.number == plan.iteration), None)
        if found is None:
            found = Iteration(plan.iteration, plan)
            self.all.append(found)
            self.all.sort(key=lambda one: one.number)
        found.take_plan(plan)
        found.approved_by = by

    def _on_code_proposed(self, event: events.CodeProposed) -> None:
        piece = self._piece(event.proposal.sub_action)
        if piece is not None:
            piece.versions.append(event.proposal)

    def _on_critique(self, event: events.CritiqueGiven) -> None:
        piece = self._piece(event.critique.sub_action)
        if piece is not None:
            piece.critiques[event.critique.version] = event.critique

    def _on_iteration(self, event: events.IterationReviewed) -> None:
        for one in self.all:
            if one.number == event.iteration:
                one.review = event

    def _piece(self, name: str) -> Piece | None:
        """Of the newest plan: only that is worked on."""
        return self.all[-1].pieces.get(name) if self.all else None
