"""Saving a trained policy as a skill: its trained parts, and the names of the frozen ones."""

from __future__ import annotations

from engine.llarp.phases import spec_of
from engine.run.saving import keep_drafts, skill_name
from engine.run.session import Session
from skills_db.records import SkillDraft


def save_skill(session: Session) -> None:
    """Offer the policy as a skill; the person says whether it is kept."""
    evaluation = session.progress.evaluation or {}
    spec = spec_of(session)
    words = session.config.task
    draft = SkillDraft(
        name=skill_name(f"{words} {spec['kind']}"),
        world=session.world.name,
        kind="policy",
        description=f"Policy for: {words} ({spec['kind']}, {spec['parameters']:,} trained weights)",
        code="",
        success_rate=float(evaluation.get("task_success", 0.0)),
        episodes=int(evaluation.get("episodes", 0)),
        run_id=session.run_id,
        agents=str(spec["kind"]),
        approver="",
        metadata={
            "spec": dict(spec),
            "evaluation": evaluation,
            "training_frames": session.progress.training_frames,
        },
        weights=session.policy_file.read_bytes(),
    )
    keep_drafts(session, [draft])
