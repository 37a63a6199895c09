"""Saving what works: the coded actions and the trained policy become skill versions."""

from __future__ import annotations

import re
from typing import Any

from engine.events import SkillSaved
from engine.run.approval import Answer, ask
from engine.run.learning import agreed_plan
from engine.run.progress import CodeWork, SavedSkill
from engine.run.session import Session
from skills_db.records import RunState, SkillDraft


def save_skills(session: Session) -> None:
    """Offer what works as skills and save what the person keeps."""
    session.enter(RunState.SAVING)
    drafts = [*_coded_actions(session), *_policy(session)]
    if not drafts:
        session.log("nothing worked well enough to be saved as a skill", "warning")
        session.save(phase="done")
        return
    subject = f"{len(drafts)} skills"
    answer = ask(session, "save", subject, {"skills": [_shown(draft) for draft in drafts]})
    kept = _kept(answer, drafts)
    saved: list[SavedSkill] = []
    for draft in drafts:
        if draft.name not in kept:
            continue
        version = session.library.save(_signed(draft, answer.by))
        saved.append(
            SavedSkill(
                name=version.skill,
                version=version.version,
                kind=version.kind,
                success_rate=version.success_rate,
            )
        )
    events = [
        SkillSaved(name=s.name, version=s.version, skill_kind=s.kind, success_rate=s.success_rate)
        for s in saved
    ]
    session.save(*events, phase="done", saved=tuple(saved))


def _shown(draft: SkillDraft) -> dict[str, Any]:
    return {
        "name": draft.name,
        "kind": draft.kind,
        "success_rate": draft.success_rate,
        "episodes": draft.episodes,
        "description": draft.description,
    }


def _kept(answer: Answer, drafts: list[SkillDraft]) -> frozenset[str]:
    if answer.decision == "reject":
        return frozenset()
    if answer.decision == "modify":
        return frozenset(str(name) for name in answer.payload["skills"])
    return frozenset(draft.name for draft in drafts)


def _signed(draft: SkillDraft, approver: str) -> SkillDraft:
    """A coded action keeps the one who approved its code; a policy gets who kept it."""
    if draft.approver:
        return draft
    from dataclasses import replace

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
