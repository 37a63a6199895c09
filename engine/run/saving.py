"""Saving what works: the coded actions and the trained policy become skill versions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.events import SkillSaved
from engine.run.approval import UNASKED, Answer, ask
from engine.run.learning import agreed_plan
from engine.run.progress import CodeWork, SavedSkill
from engine.run.session import Session
from skills_db.errors import DamagedRecord, NotFound
from skills_db.records import RunState, SkillDraft, SkillVersionRecord


def save_skills(session: Session) -> None:
    """Offer what works as skills and save what the person keeps.

    A coded action that is in the library already, to the letter, is not offered again. Where
    nobody is asked, a version worse than the present one is not saved over it.
    """
    keep_drafts(session, [*_coded_actions(session), *_policy(session)])


def keep_drafts(session: Session, proposed: Sequence[SkillDraft]) -> None:
    """Offer these skills and save what the person keeps; the run is done then."""
    session.enter(RunState.SAVING)
    drafts = [_with_free_name(session, draft) for draft in proposed]
    reused = [skill for draft in drafts if (skill := _present(session, draft)) is not None]
    known = {skill.name for skill in reused}
    offers = [_offer(session, draft) for draft in drafts if draft.name not in known]
    if not offers:
        session.log("there is nothing new to save as a skill", "warning")
        session.save(phase="done", saved=tuple(reused))
        return
    subject = f"{len(offers)} skills"
    answer = ask(session, "save", subject, {"skills": [offer.shown() for offer in offers]})
    kept = _kept(session, answer, offers)
    saved = [_save(session, offer.draft, answer.by) for offer in offers if offer.name in kept]
    events = [
        SkillSaved(name=s.name, version=s.version, skill_kind=s.kind, success_rate=s.success_rate)
        for s in saved
    ]
    session.save(*events, phase="done", saved=(*reused, *saved))


@dataclass(frozen=True, slots=True)
class Offer:
    """A skill that may be saved, beside the version the library has now."""

    draft: SkillDraft
    present: SkillVersionRecord | None

    @property
    def name(self) -> str:
        """The skill's name."""
        return self.draft.name

    @property
    def is_worse(self) -> bool:
        """True when the library's present version succeeded more often."""
        return self.present is not None and self.draft.success_rate < self.present.success_rate

    def shown(self) -> dict[str, Any]:
        """What the person sees of it."""
        draft, present = self.draft, self.present
        return {
            "name": draft.name,
            "kind": draft.kind,
            "success_rate": draft.success_rate,
            "episodes": draft.episodes,
            "description": draft.description,
            "present": None
            if present is None
            else {
                "version": present.version,
                "success_rate": present.success_rate,
                "episodes": present.episodes,
            },
        }


def _offer(session: Session, draft: SkillDraft) -> Offer:
    return Offer(draft, _newest(session, draft.name))


def _newest(session: Session, name: str) -> SkillVersionRecord | None:
    try:
        return session.library.version(name)
    except (NotFound, DamagedRecord):
        return None


def _with_free_name(session: Session, draft: SkillDraft) -> SkillDraft:
    """A name belongs to one world and one kind for good; a draft that differs gets its own."""
    newest = _newest(session, draft.name)
    if newest is None or (newest.world, newest.kind) == (draft.world, draft.kind):
        return draft
    return replace(draft, name=f"{draft.name[:36]}_{draft.world[:8]}_{draft.kind.split('_')[0]}")


def _present(session: Session, draft: SkillDraft) -> SavedSkill | None:
    """The library's version when it is the same code to the letter."""
    newest = _newest(session, draft.name)
    same = newest is not None and draft.weights is None and newest.code == draft.code
    return _saved(newest, reused=True) if newest is not None and same else None


def _save(session: Session, draft: SkillDraft, by: str) -> SavedSkill:
    return _saved(session.library.save(_signed(draft, by)), reused=False)


def _saved(version: SkillVersionRecord, *, reused: bool) -> SavedSkill:
    return SavedSkill(
        name=version.skill,
        version=version.version,
        kind=version.kind,
        success_rate=version.success_rate,
        reused=reused,
    )


def _kept(session: Session, answer: Answer, offers: list[Offer]) -> frozenset[str]:
    if answer.decision == "reject":
        return frozenset()
    if answer.decision == "modify":
        return frozenset(str(name) for name in answer.payload["skills"])
    if answer.by not in UNASKED:
        return frozenset(offer.name for offer in offers)
    for offer in offers:
        if offer.is_worse and offer.present is not None:
            session.log(
                f"{offer.name} is not saved: {offer.draft.success_rate:.0%} success, and version "
                f"{offer.present.version} in the library has {offer.present.success_rate:.0%}",
                "warning",
            )
    return frozenset(offer.name for offer in offers if not offer.is_worse)


def _signed(draft: SkillDraft, approver: str) -> SkillDraft:
    """A coded action keeps the one who approved its code; a policy gets who kept it."""
    if draft.approver:
        return draft
    return replace(draft, approver=approver)


def _coded_actions(session: Session) -> list[SkillDraft]:
    plan = agreed_plan(session)
    works = [session.progress.codes.get(action.name) for action in plan.sub_actions("code")]
    return [_coded_action(session, work) for work in works if work is not None and work.works]


def _coded_action(session: Session, work: CodeWork) -> SkillDraft:
    critique = work.critique
    return SkillDraft(
        name=work.sub_action.name,
        world=session.world.name,
        kind="coded_action",
        description=work.sub_action.instruction,
        code=work.proposal.code,
        success_rate=0.0 if critique is None else critique.success_rate,
        episodes=len(work.trials),
        run_id=session.run_id,
        agents=work.proposal.author,
        approver=work.approved_by or "",
        metadata={
            "sub_action": work.sub_action.model_dump(mode="json"),
            "plan": agreed_plan(session).model_dump(mode="json"),
            "actions": [_as_json(other) for other in session.progress.codes.values()],
            "trials": [trial.model_dump(mode="json") for trial in work.trials],
        },
    )


def _as_json(work: CodeWork) -> dict[str, Any]:
    return {
        "sub_action": work.sub_action.name,
        "code": work.proposal.code,
        "version": work.proposal.version,
        "works": work.works,
    }


def _policy(session: Session) -> list[SkillDraft]:
    spec, evaluation = session.progress.policy_spec, session.progress.evaluation
    if spec is None or evaluation is None:
        return []
    return [
        SkillDraft(
            name=skill_name(session.context.task.words),
            world=session.world.name,
            kind="policy",
            description=f"Policy for: {session.context.task.words}",
            code="",
            success_rate=float(evaluation["task_success"]),
            episodes=int(evaluation["episodes"]),
            run_id=session.run_id,
            agents=session.agents.slow.author,
            approver="",
            metadata={
                "spec": spec,
                "evaluation": evaluation,
                "training_frames": session.progress.training_frames,
                "plan": agreed_plan(session).model_dump(mode="json"),
            },
            weights=session.policy_file.read_bytes(),
        )
    ]


def skill_name(words: str) -> str:
    """A task's words as an identifier: `collect a diamond` becomes `collect_a_diamond`."""
    name = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:48].strip("_")
    return name if name[:1].isalpha() else f"task_{name}"[:48]
