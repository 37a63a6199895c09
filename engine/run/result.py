"""What a run reports in the end: one JSON object, the same on every road."""

from __future__ import annotations

from typing import Any

from engine.agents.plan import Plan, Subtask
from engine.run.session import Session
from skills_db.records import RunState


def result(session: Session, state: RunState) -> dict[str, Any]:
    """The JSON object of `rlgpt-studio run --headless --output json`."""
    progress = session.progress
    calls = session.journal.calls(session.run_id)
    return {
        "run": session.run_id,
        "state": state.value,
        "task": session.config.task,
        "world": session.world.name,
        "agents": session.config.policy or session.agents.slow.author,
        "frames": progress.training_frames,
        "subtasks": _subtasks(progress.plan, progress.evaluation),
        "skills": [skill.model_dump(mode="json") for skill in progress.saved],
        "evaluation": progress.evaluation,
        "tokens": sum(call.prompt_tokens + call.completion_tokens for call in calls),
        "cost_usd": round(sum(call.cost_usd for call in calls), 6),
        "seconds": round(progress.seconds, 1),
    }


def _subtasks(plan: Plan | None, evaluation: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Mode and measured success of each subtask; None while nothing was evaluated."""
    goals = {} if evaluation is None else evaluation["goals"]
    return [
        {"name": s.name, "mode": _mode(s), "success_rate": goals.get(s.name)}
        for s in (() if plan is None else plan.subtasks)
    ]


def _mode(subtask: Subtask) -> str:
    modes = sorted({action.mode for action in subtask.sub_actions})
    return "+".join(modes) or "none"
