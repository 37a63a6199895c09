"""What these rules know of staying alive: thresholds, and the sub-actions that keep them.

None of it is in the recipe data. The figures come from watching coded players die: a zombie hits
when it arrives, hunger kills slowly, and most deaths happen at night.
"""

from __future__ import annotations

from engine.agents.plan import SubAction
from engine.agents.rules.chain import RecipeBook
from engine.errors import PredicateError
from engine.worlds.base import Vocabulary
from engine.worlds.predicate import parse

DANGER = "threat <= 2 and not enclosed"
"""A creature or an arrow this close is dealt with first; in a closed room it can do nothing."""
LIGHT = "daylight > 0.4"
"""Later than this the grass is full of zombies."""
NOON = "daylight > 0.8"
"""Around noon the grass is almost free of zombies: the time to stock up."""
_CALM = "threat > 2 or enclosed"


def interrupt(book: RecipeBook) -> str:
    """When an errand yields to the policy."""
    return DANGER if "threat" in book.words.numbers else "false"


def companion(book: RecipeBook, station: str) -> str | None:
    """Another station that every recipe done at this one needs as well."""
    uses = [set(r.nearby) - {station} for r in book.world.recipes() if station in r.nearby]
    return min(set.intersection(*uses), default=None) if uses else None


def reflexes(book: RecipeBook) -> tuple[SubAction, ...]:
    """Fending off, drinking and eating: what a player must do whatever the task."""
    found = [_fend_off(), _drink(), _eat()]
    return tuple(action for action in found if _can_say(action, book.words))


def rests(book: RecipeBook) -> tuple[SubAction, ...]:
    """Healing and sleeping in a closed room."""
    found = [_recover(), _sleep_safely()]
    return tuple(action for action in found if _can_say(action, book.words))


def survive(frames: int) -> SubAction:
    """What is left to learn of staying alive."""
    return SubAction(
        name="survive",
        mode="rl",
        reason=(
            "When to fight or to withdraw, and when to eat, drink, sleep or go on, depends on "
            "opponents and on what lies ahead. Fixed thresholds lose about as often as they win, "
            "so the choice is learnt, with the coded reflexes as actions."
        ),
        instruction=(
            "Choose at each moment between the errand and staying alive: fend off, withdraw, "
            "drink, eat, sleep or go on."
        ),
        success="frames >= 300 and health >= 4",
        budget=frames,
    )


def _fend_off() -> SubAction:
    return SubAction(
        name="fend_off",
        mode="code",
        reason=(
            "To dodge an arrow and to strike what stands beside the player is a reflex with one "
            "right answer. When to look for a fight is not, and is left to the policy."
        ),
        instruction=(
            "While a zombie, skeleton or arrow is within 2 cells: dodge arrows, strike back, or "
            "withdraw when the next hit would kill; stop when nothing is near or what is near "
            "does not come closer."
        ),
        success=_CALM,
        precondition=DANGER,
        budget=60,
    )


def _drink() -> SubAction:
    return SubAction(
        name="drink",
        mode="code",
        reason=(
            "Water does not move and every drink gives one: walk to the nearest and repeat. "
            "When to go is a threshold in the precondition, or the policy's choice."
        ),
        instruction="Drink at the nearest water until drink is 9; explore while none is known.",
        success="drink >= 8",
        precondition=(
            f"(drink <= 6 and {NOON}) or (drink <= 4 and {LIGHT}) or drink <= 2 "
            "or (drink <= 7 and near(water))"
        ),
        interrupt=DANGER,
        budget=250,
    )


def _eat() -> SubAction:
    return SubAction(
        name="eat",
        mode="code",
        reason=(
            "A cow only wanders: walk up to the nearest and strike until it is eaten. When to go "
            "is a threshold in the precondition, or the policy's choice."
        ),
        instruction=(
            "Go to the nearest cow, or ripe plant if that is closer, and strike until food is at "
            "least 7; explore grassland while none is known."
        ),
        success="food >= 7",
        precondition=f"(food <= 6 and {NOON}) or (food <= 4 and {LIGHT}) or food <= 1",
        interrupt=DANGER,
        budget=250,
    )


def _recover() -> SubAction:
    return SubAction(
        name="recover",
        mode="code",
        reason=(
            "Health grows back by itself when nothing strikes; a closed room of stone makes sure "
            "of that, and how to build one is a search over the remembered map."
        ),
        instruction="Get into a closed room and rest there until health is at least 7.",
        success="health >= 7",
        precondition=(
            "health <= 4 and food >= 3 and drink >= 3 and wood_pickaxe >= 1 and threat > 3"
        ),
        interrupt=DANGER,
        budget=300,
    )


def _sleep_safely() -> SubAction:
    return SubAction(
        name="sleep_safely",
        mode="code",
        reason=(
            "Asleep the player is hit three times as hard, in a closed room not at all: build "
            "one, sleep until rested and light. Each part is a fixed procedure."
        ),
        instruction="Get into a closed room, sleep until energy is full and it is light again.",
        success="energy >= 8 and daylight > 0.4",
        precondition=(
            "wood_pickaxe >= 1 and food >= 2 and drink >= 2 and "
            "(energy <= 3 or (daylight < 0.4 and energy <= 8))"
        ),
        interrupt=DANGER,
        budget=350,
    )


def _can_say(action: SubAction, words: Vocabulary) -> bool:
    """Whether the world has every word of the sub-action's predicates."""
    try:
        for text in (action.success, action.precondition, action.interrupt):
            parse(text, words)
    except PredicateError:
        return False
    return True
