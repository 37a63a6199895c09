"""What is wrong with a plan a language model wrote, in words that go back to it."""

from __future__ import annotations

from engine.agents.plan import Plan
from engine.agents.plan_edit import PlanHistory
from engine.errors import PlanError
from engine.worlds.base import World


def broken(plan: Plan, world: World) -> tuple[str, ...]:
    """Problems of a plan that no later step mends; a subtask may still be undivided."""
    empty = plan.model_copy(update={"subtasks": ()})
    try:
        PlanHistory(empty, world).apply(lambda _: plan)
    except PlanError as error:
        return (error.message,)
    return ()
