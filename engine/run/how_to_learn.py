"""Agreeing on how the rl sub-actions of a plan are learnt, before anything is trained.

The fast agent proposes, a person approves as with code. Where it has nothing to propose, or nothing
valid, RL learns as the plan has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.agents.learning_check import wrong_in
from engine.agents.plan import LearningProposal, Plan, SubAction
from engine.agents.protocols import WorkingCode
from engine.errors import AgentError
from engine.events import Event, LearningDecided, LearningProposed
from engine.run.approval import UNASKED, ask
from engine.run.patient_agents import RULES
from engine.run.progress import HowToLearn
from engine.run.session import Session
from skills_db.records import RunState


def agree_how_to_learn(session: Session, plan: Plan) -> None:
    """Have every rl sub-action of the plan decided; what is decided stays, also after a restart.

    Raises:
        RunStopped, RunWaits: see `engine.run.approval.ask`.
        LlmError, BudgetSpent: of the fast agent.
    """
    for sub_action in plan.sub_actions("rl"):
        known = session.progress.learning.get(sub_action.name)
        if known is None or _is_of_the_past(session, known, sub_action):
            known = _propose(session, sub_action, None, "")
        while known.proposal is not None and known.approved_by is None:
            known = _decide(session, known, known.proposal)


def narrowed(
    choices: tuple[str, ...], proposals: Sequence[LearningProposal], others: Iterable[str]
) -> tuple[str, ...]:
    """What a policy may choose against the plan once the proposals are taken in; all when empty.

    Where plan and proposals agree in nothing it is what the plan says.

    Args:
        choices: what the plan lets it choose; all when empty.
        proposals: of the sub-actions it learns together: what one of them allows is allowed.
        others: actions that proposals say nothing of: primitives and learned skills.
    """
    if not proposals or not all(proposal.actions for proposal in proposals):
        return choices
    named = dict.fromkeys(name for proposal in proposals for name in proposal.actions)
    if not choices:
        return (*others, *named)
    free = set(others) | set(named)
    return tuple(name for name in choices if name in free) or choices


def seen_parts(proposals: Sequence[LearningProposal]) -> tuple[str, ...]:
    """Parts of the observation that one of them wants; all when empty."""
    if not all(proposal.observation for proposal in proposals):
        return ()
    return tuple(dict.fromkeys(part for proposal in proposals for part in proposal.observation))


# --- propose and decide ---------------------------------------------------------------------


def _propose(
    session: Session, sub_action: SubAction, base: LearningProposal | None, comment: str
) -> HowToLearn:
    """The fast agent's proposal, or the plan's way where it has none that can stand."""
    session.checkpoint_stop()
    if session.config.agents != RULES:  # who have an answer at once
        session.enter(RunState.CODING, f"how to learn {sub_action.name}")
    try:
        proposal = _drafted(session, sub_action, base, comment)
    except AgentError as error:
        session.log(
            f"no proposal of how to learn `{sub_action.name}`: {error.message}; it is learnt as "
            "the plan has it",
            "warning",
        )
        proposal = None
    how = HowToLearn(sub_action=sub_action, proposal=proposal)
    if proposal is None:
        return _keep(session, how)
    return _keep(session, how, LearningProposed(proposal=proposal))


def _drafted(
    session: Session, sub_action: SubAction, base: LearningProposal | None, comment: str
) -> LearningProposal | None:
    fast, working = session.agents.fast, _working(session)
    draft = fast.configure(session.context, sub_action, working, base, comment)
    if draft is None:
        return None
    proposal = LearningProposal(
        sub_action=sub_action.name,
        version=1 if base is None else base.version + 1,
        actions=draft.actions,
        observation=draft.observation,
        shaping=draft.shaping,
        reason=draft.reason,
        author=fast.author,
    )
    if problems := _problems(session, proposal):
        raise AgentError(problems)
    return proposal


def _decide(session: Session, how: HowToLearn, proposal: LearningProposal) -> HowToLearn:
    """Ask about the proposal; one that was sent back, or cannot stand, is not decided yet."""
    if how.comment:  # an earlier process was told no and died before it had another
        return _propose(session, how.sub_action, proposal, how.comment)
    subject = f"{proposal.sub_action} version {proposal.version}"
    answer = ask(session, "learning", subject, {"proposal": proposal.model_dump(mode="json")})
    told = LearningDecided(
        proposal=proposal, decision=answer.decision, by=answer.by, comment=answer.comment
    )
    if answer.decision == "reject":
        why = answer.comment or "sent back without a reason"
        _keep(session, how.model_copy(update={"comment": why}), told)
        return _propose(session, how.sub_action, proposal, why)
    agreed = LearningProposal.model_validate(answer.payload["proposal"]).model_copy(
        update={"sub_action": proposal.sub_action, "version": proposal.version}
    )
    edited = how.model_copy(update={"proposal": agreed})
    if problems := _problems(session, agreed):
        session.log(f"how to learn {subject} cannot stand: {problems}", "error")
        if answer.by in UNASKED:  # approving all does not mend a person's edit: the agent may
            return _propose(session, how.sub_action, agreed, problems)
        return _keep(session, edited)
    told = told.model_copy(update={"proposal": agreed})
    return _keep(session, edited.model_copy(update={"approved_by": answer.by}), told)


def _is_of_the_past(session: Session, how: HowToLearn, sub_action: SubAction) -> bool:
    """Whether another plan has changed the sub-action, or taken away what was agreed for it.

    Fewer frames for it are no other sub-action: those before are spent already.
    """
    if how.sub_action != sub_action.model_copy(update={"budget": how.sub_action.budget}):
        return True
    agreed = None if how.approved_by is None else how.proposal
    return agreed is not None and bool(_problems(session, agreed))


def _problems(session: Session, proposal: LearningProposal) -> str:
    coded = [code.sub_action.name for code in _working(session)]
    return "; ".join(wrong.reason for wrong in wrong_in(proposal, coded, session.world))


def _working(session: Session) -> tuple[WorkingCode, ...]:
    """The coded actions of the plan that the learner will have."""
    codes = (session.progress.codes[a.name] for a in session.progress.coded_actions())
    return tuple(
        WorkingCode(
            work.sub_action,
            work.critique.success_rate if work.critique and work.critique.trials else None,
        )
        for work in codes
    )


def _keep(session: Session, how: HowToLearn, *events: Event) -> HowToLearn:
    learning = {**session.progress.learning, how.sub_action.name: how}
    session.save(*events, learning=learning)
    return how
