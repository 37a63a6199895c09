"""Coded actions that code alone never runs: what a policy may choose between.

Most are a few frames long, or yield when something is about to hit, so that a policy can put them
together: withdraw and go on, go for water and turn back, wait until what prowls outside has gone.
Two are complete by themselves: to sit out a night takes a hundred frames in a row, and a policy
that has to choose each of them again seldom finds out what the whole is worth.
"""

from __future__ import annotations

from engine.agents.plan import SubAction
from engine.agents.rules.chain import RecipeBook
from engine.agents.rules.survival import can_say

SHORT = 12
"""Frames of one manoeuvre."""
_IS_DAY = "day_frame >= 5 and day_frame < 140"
_MUST_OUT = "danger or food <= 0 or drink <= 0"
_WHEN = "Whether it is the time for it is the policy's choice; code alone never does it."


def manoeuvres(book: RecipeBook) -> tuple[SubAction, ...]:
    """All manoeuvres the world has words for."""
    found = (
        _short(
            "flee",
            "To step to the free cell farthest from all zombies is one rule.",
            "Step away from the zombies in view until none is within 3 cells.",
            success="threat > 3",
            precondition="in_view(zombie) and threat <= 3",
        ),
        _short(
            "block",
            "A zombie walks straight at the player and rarely around a stone.",
            "Put a stone between the player and the zombie ahead, else step back from it.",
            success="threat > 3",
            precondition="stone >= 1 and in_view(zombie) and threat <= 3",
        ),
        _short(
            "fight",
            "To walk up to the nearest zombie and strike is a fixed pursuit.",
            "Go at the nearest zombie and strike until none is in view.",
            success="not in_view(zombie)",
            precondition="in_view(zombie)",
            budget=30,
        ),
        _short(
            "wait_in_shelter",
            "To stay where nothing can come in needs no skill.",
            "Rest in the closed room while something is near it.",
            success="threat > 5",
            precondition="enclosed",
        ),
        _short(
            "wait_for_day",
            "To stay where nothing can come in needs no skill.",
            "Stay in the closed room until it is day, asleep while tired.",
            success=_IS_DAY,
            precondition="enclosed",
            interrupt=_MUST_OUT,
            budget=150,
        ),
        _short(
            "hide_until_day",
            "How to get into a closed room is a search over the remembered map.",
            "Get into the closed room that is nearest, or make one, and stay there until it is "
            "day, asleep while tired.",
            success=_IS_DAY,
            precondition="(wood_pickaxe >= 1 or stone >= 1) and not enclosed",
            interrupt=_MUST_OUT,
            budget=250,
        ),
        _short(
            "explore_grassland",
            "The nearest unknown land is a search over the remembered map.",
            "Explore grassland until grass is all around.",
            success="grass_in_view >= 40",
            precondition="grass_in_view < 40",
            interrupt="danger",
            budget=60,
        ),
        _short(
            "explore_mountains",
            "The nearest unknown land is a search over the remembered map.",
            "Explore mountains until there is little grass in view.",
            success="grass_in_view <= 12",
            precondition="grass_in_view > 12",
            interrupt="danger",
            budget=150,
        ),
        _short(
            "go_to_water",
            "The way to the nearest water is a search over the remembered map.",
            "Go to the nearest water without drinking.",
            success="near(water)",
            precondition="seen(water)",
            interrupt="danger",
            budget=60,
        ),
        _short(
            "go_to_cow",
            "The way to the nearest cow is a search over the remembered map.",
            "Go to where the nearest cow is or was last seen, without striking it.",
            success="in_view(cow) or not seen(cow)",
            precondition="seen(cow)",
            interrupt="danger",
            budget=60,
        ),
    )
    return tuple(action for action in found if can_say(action, book))


def _short(
    name: str,
    reason: str,
    instruction: str,
    *,
    success: str,
    precondition: str = "true",
    interrupt: str = "false",
    budget: int = SHORT,
) -> SubAction:
    return SubAction(
        name=name,
        mode="code",
        reason=f"{reason} {_WHEN}",
        instruction=instruction,
        success=success,
        precondition=precondition,
        interrupt=interrupt,
        due="false",
        budget=budget,
    )
