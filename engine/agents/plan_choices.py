"""What rl sub-actions may choose against the plan: check, edits, and what a training keeps to."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from engine.agents.plan import Plan, SubAction
from engine.worlds.base import World


def choices_among(learnt: Iterable[SubAction], names: Iterable[str]) -> tuple[str, ...]:
    """What a policy that learns these rl sub-actions may choose against the plan; all when empty.

    Whatever one of them may choose. What is not there, because its code never worked, is left out;
    where that leaves nothing there is nothing to keep to.

    Args:
        names: of the actions there are.
    """
    wished = [set(action.choices) for action in learnt]
    if not all(wished):
        return ()
    together = set[str]().union(*wished)
    return tuple(name for name in names if name in together)


def rename_choices(plan: Plan, names: Mapping[str, str | None]) -> Plan:
    """The plan in which choices have other names; None for those that are no more. No edit."""
    subtasks = tuple(
        subtask.model_copy(
            update={"sub_actions": tuple(renamed(act, names) for act in subtask.sub_actions)}
        )
        for subtask in plan.subtasks
    )
    return plan.model_copy(update={"subtasks": subtasks})


def renamed(action: SubAction, names: Mapping[str, str | None]) -> SubAction:
    """One sub-action of `rename_choices`."""
    found = (names.get(name, name) for name in action.choices)
    choices = tuple(name for name in found if name is not None)
    return action if choices == action.choices else action.model_copy(update={"choices": choices})


def without_lost_choices(plan: Plan, before: Plan) -> Plan:
    """The plan in which nothing may choose a sub-action that it does not have any longer."""
    lost = {action.name for action in before.sub_actions()}
    lost -= {action.name for action in plan.sub_actions()}
    return rename_choices(plan, dict.fromkeys(lost))


def bad_choices(plan: Plan, world: World) -> Iterator[str]:
    """Choices of rl sub-actions that name no other action of the plan or of the world."""
    for action in plan.sub_actions("rl"):
        others = [other.name for other in plan.sub_actions() if other.name != action.name]
        known = (*others, *world.primitives)
        for name in action.choices:
            if name in known:
                continue
            close = difflib.get_close_matches(name, known, n=1)
            step = f"did you mean {close[0]!r}?" if close else "remove it, or leave all out for any"
            yield (
                f"sub-action {action.name!r} may choose {name!r}, which is no other sub-action of "
                f"the plan and no primitive: {step}"
            )
