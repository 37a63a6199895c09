"""The run in front of the person: what is known of it, what it asks, what was edited meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from studio.run_view import APPROVED, FAILS, OPEN, PROPOSED, REJECTED, WORKS, RunView
from studio.syntax import syntax_problem
from studio.widgets.review_view import Reviewed
from studio.words import Sign

if TYPE_CHECKING:
    from engine.agents.plan import CodeProposal
    from engine.worlds.base import World
    from skills_db.records import ApprovalKind, ApprovalRecord, RunRecord

SUPERSEDED = Sign("○", "o", "older version", "muted")


@dataclass
class RunModel:
    """Shared by the screens that show one run."""

    run_id: str
    view: RunView = field(default_factory=RunView)
    run: RunRecord | None = None
    approval: ApprovalRecord | None = None
    edited: str | None = None
    """The asked code as the person left it."""
    index: int | None = None
    """Which proposal is looked at; None for the asked or the newest one."""
    seen_at: float | None = None
    """Since when what is asked has been on the screen."""
    world: World | None = None
    is_hopeless: bool = False
    """True when going on would fail in the same way: the world does not know the task."""

    def asks(self, kind: ApprovalKind) -> bool:
        """True while a decision of that kind is open."""
        return self.approval is not None and self.approval.kind == kind

    def set_approval(self, approval: ApprovalRecord | None) -> None:
        """Something else is asked: what was edited for the last question is over."""
        self.approval = approval
        self.edited = None
        self.index = None
        self.seen_at = None

    def browse(self, step: int) -> bool:
        """Look at the proposal before or after; False at the end."""
        count = len(self.view.proposals)
        here = count - 1 if self.index is None else self.index
        there = here + step
        if not 0 <= there < count:
            return False
        self.index = None if there == count - 1 else there
        return True

    @property
    def at_work(self) -> str | None:
        """Name of the sub-action the run asks about or works on; None where it is none."""
        if self.approval is not None:
            asked = self.approval.payload.get("proposal")
            return str(asked["sub_action"]) if isinstance(asked, dict) else None
        plan = self.view.plan
        if plan is None or self.run is None:
            return None
        state = self.run.seen_state.value
        if state == "training":
            return next((action.name for action in plan.sub_actions("rl")), None)
        if state not in ("coding", "trials"):
            return None
        named = [a.name for a in plan.sub_actions() if a.name in self.run.detail.split()]
        if named:
            return named[0]
        return self.view.proposals[-1].sub_action if self.view.proposals else None

    @property
    def on_asked_code(self) -> bool:
        """True when the proposal looked at is the one that is asked about."""
        return self.asks("code") and self.index is None

    def reviewed(self) -> Reviewed | None:
        """What the review shows now."""
        if self.approval is not None and self.on_asked_code:
            return self._asked_code(self.approval)
        proposals = self.view.proposals
        if not proposals:
            return None
        index = len(proposals) - 1 if self.index is None else self.index
        proposal = proposals[index]
        step = self.view.step(proposal.sub_action)
        critique = step.critiques.get(proposal.version)
        return Reviewed(
            proposal=proposal,
            base_code=self.view.base_of(proposal),
            sign=self.sign_of(proposal),
            versions=max(version.version for version in step.versions),
            verdict="" if critique is None else critique.text,
        )

    def _asked_code(self, approval: ApprovalRecord) -> Reviewed:
        from engine.agents.plan import CodeProposal

        proposal = CodeProposal.model_validate(approval.payload["proposal"])
        base = approval.payload.get("base_code")
        return Reviewed(
            proposal=proposal,
            base_code=None if base is None else str(base),
            sign=PROPOSED,
            versions=proposal.version,
            edited=self.edited,
            problem=None if self.edited is None else syntax_problem(self.edited),
        )

    def sign_of(self, proposal: CodeProposal) -> Sign:
        """What became of a proposal."""
        step = self.view.step(proposal.sub_action)
        if proposal is step.versions[-1] and step.sign is not OPEN:
            return step.sign
        critique = step.critiques.get(proposal.version)
        if critique is not None:
            return WORKS if critique.works else FAILS
        decided = step.decisions.get(proposal.version)
        if decided is None:
            return SUPERSEDED
        return REJECTED if decided.decision == "reject" else APPROVED
