"""How a coded sub-action that failed is split into two smaller ones."""

from __future__ import annotations

from engine.agents.plan import Critique, SubAction
from engine.agents.rules.chain import RecipeBook, sources

_ROOMS = {"nap": "find_bedroom", "recover": "find_sickroom"}
_SOURCES = {"drink": "water", "eat": "cow"}


def split(action: SubAction, critique: Critique, book: RecipeBook) -> tuple[SubAction, ...]:
    """A part that gets there and the rest; empty when it cannot be split any further."""
    part = _way_there(action, book)
    if part is None:
        return ()
    name, goal, instruction = part
    if goal in action.precondition:
        return ()
    reason = (
        f"As one piece `{action.name}` worked in {critique.success_rate:.0%} of the trials "
        f"({critique.typical_failure}), so the way there is coded by itself."
    )
    first = action.model_copy(
        update={"name": name, "reason": reason, "instruction": instruction, "success": goal}
    )
    before = "" if action.precondition == "true" else f"({action.precondition}) and "
    rest = action.model_copy(
        update={
            "reason": f"{reason} This part starts once `{goal}` holds.",
            "precondition": f"{before}{goal}",
        }
    )
    return first, rest


def _way_there(action: SubAction, book: RecipeBook) -> tuple[str, str, str] | None:
    """Name, success predicate and instruction of the part that gets there."""
    if action.name in _ROOMS:
        instruction = "Get into a closed room that no creature can enter."
        return _ROOMS[action.name], "enclosed", instruction
    verb, _, thing = action.name.partition("_")
    if verb == "craft":
        recipe = book.giving(thing)
        if recipe is None or not recipe.nearby:
            return None
        goal = " and ".join(f"near({station})" for station in recipe.nearby)
        where = " and ".join(recipe.nearby)
        return f"stand_by_for_{thing}", goal, f"Stand near {where}; put up what is missing."
    target = _SOURCES.get(action.name)
    if target is None and verb == "gather" and (recipe := book.giving(thing)) is not None:
        target = sources(recipe)[0]
    if target is None and verb == "hunt":
        target = thing
    if target is None:
        return None
    return f"find_{target}", f"seen({target})", f"Explore until {target} is seen."
