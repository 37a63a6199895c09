"""What the outer loop sees when it looks back at one plan: its code, and what RL made of it."""

from __future__ import annotations

from collections.abc import Sequence

from engine.events import IterationReviewed
from engine.run.session import Session


def reviewed(
    session: Session, verdict: str, failed: Sequence[str] | None = None
) -> IterationReviewed:
    """What became of the present plan so far.

    Args:
        failed: coded sub-actions without working code; None looks them up.
    """
    plan = session.progress.plan
    actions = () if plan is None else plan.sub_actions("code")
    judged = {
        action.name: work.critique
        for action in actions
        if (work := session.progress.codes.get(action.name)) is not None
    }
    return IterationReviewed(
        iteration=session.progress.iteration,
        code={
            name: None if critique is None or critique.trials == 0 else critique.success_rate
            for name, critique in judged.items()
        },
        given_up=tuple(_without_code(session) if failed is None else failed),
        frames=session.progress.training_frames,
        task_success=session.progress.training_success_rate,
        goals={
            skill.name: skill.success_rate
            for skill in session.progress.learned
            if skill.success_rate is not None
        },
        verdict=verdict,
    )


def _without_code(session: Session) -> list[str]:
    plan = session.progress.plan
    codes = session.progress.codes
    return [
        action.name
        for action in (() if plan is None else plan.sub_actions("code"))
        if action.name not in codes or not codes[action.name].is_usable
    ]
