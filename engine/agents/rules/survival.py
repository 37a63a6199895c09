"""What these rules know of staying alive: thresholds, and the sub-actions that keep them.

None of it is in the recipe data. The figures come from watching coded players die. A zombie hits
when it arrives, whatever one does, so it is neither sought nor run into, and struck once it stands
there. By day the grass costs less health than grows back; in the dark much more, unless there is
little grass around. Half of all food is eaten before the dark, because nothing is found in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.agents.plan import SubAction
from engine.agents.rules.chain import RecipeBook
from engine.errors import PredicateError
from engine.worlds.base import Vocabulary
from engine.worlds.predicate import parse

NIGHT = "day_frame >= 150"
"""From here to the end of the day zombies are many on grass."""
DAY = "day_frame < 150"
AFTERNOON = "day_frame > 90"
"""Time to stock up for the night."""
LITTLE_GRASS = "grass_in_view <= 12"
EXPOSED = (
    f"{NIGHT} and grass_in_view > 12 and (health <= 6 or energy <= 3) and wood_pickaxe >= 1 "
    "and not enclosed"
)
"""Out in the dark on grass, too weak for it, and able to build."""
SAFE = f"({DAY} or {LITTLE_GRASS} or health >= 7 or wood_pickaxe < 1)"
"""When an errand may go on: by day, away from grass, or strong enough."""
STRONG = "health >= 7"
AGAINST_THE_PLAN = (
    "wait_for_day", "hide_until_day", "recover", "drink", "eat", "explore_mountains",
)  # fmt: skip
"""What can be better than the next errand; chosen instead of it, all else only loses time."""
_DANGER = "danger"


def interrupt(book: RecipeBook) -> str:
    """When an errand yields to the policy: something is about to hit, or the night has come."""
    return _first_known(book.words, f"danger or ({EXPOSED})", _DANGER)


def safe(book: RecipeBook) -> str:
    """When code alone goes on an errand."""
    return _first_known(book.words, SAFE, otherwise="true")


def daytime(book: RecipeBook) -> str:
    """When code alone does what can wait for the light."""
    return _first_known(book.words, DAY, otherwise="true")


def companion(book: RecipeBook, station: str) -> str | None:
    """Another station that every recipe done at this one needs as well."""
    uses = [set(r.nearby) - {station} for r in book.world.recipes() if station in r.nearby]
    return min(set.intersection(*uses), default=None) if uses else None


def reflexes(book: RecipeBook) -> tuple[SubAction, ...]:
    """Fending off, drinking and eating: what a player must do whatever the task."""
    return tuple(action for action in (_fend_off(), _drink(), _eat()) if can_say(action, book))


def rests(book: RecipeBook) -> tuple[SubAction, ...]:
    """Healing and sleeping in a closed room."""
    found = (_recover(), _take_shelter(), _sleep())
    return tuple(action for action in found if can_say(action, book))


def against_the_plan(coded: Iterable[SubAction]) -> tuple[str, ...]:
    """What of `AGAINST_THE_PLAN` is among these."""
    there = {action.name for action in coded}
    return tuple(name for name in AGAINST_THE_PLAN if name in there)


def survive(frames: int, choices: tuple[str, ...]) -> SubAction:
    """What is left to learn of staying alive."""
    return SubAction(
        name="survive",
        mode="rl",
        reason=(
            "When to fight or to withdraw, and when to eat, drink, sleep or go on, depends on "
            "opponents and on what lies ahead. Fixed thresholds lose about as often as they win, "
            "so the choice is learnt, with the coded reflexes and manoeuvres as actions."
        ),
        instruction=(
            "Choose at each moment between the errand and staying alive: fend off, withdraw, "
            "drink, eat, sleep or go on."
        ),
        success="frames >= 300 and health >= 4",
        budget=frames,
        choices=choices,
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
            "While something is about to hit: strike the zombie that stands beside the player, "
            "else dodge the arrow."
        ),
        success="not danger",
        precondition="danger",
        budget=60,
    )


def _drink() -> SubAction:
    return SubAction(
        name="drink",
        mode="code",
        reason=(
            "Water does not move and every drink gives one: walk to the nearest and repeat. "
            "When to go is a threshold for code alone, or the policy's choice."
        ),
        instruction="Drink at the nearest water until drink is 9; explore while none is known.",
        success="drink >= 8",
        precondition="drink <= 8",
        interrupt=_DANGER,
        due=(
            f"(drink <= 4 and {SAFE}) or (drink <= 6 and {DAY} and {AFTERNOON}) "
            "or (drink <= 6 and near(water)) or drink <= 0"
        ),
        budget=250,
    )


def _eat() -> SubAction:
    return SubAction(
        name="eat",
        mode="code",
        reason=(
            "A cow only wanders: walk up to the nearest and strike until it is eaten. When to go "
            "is a threshold for code alone, or the policy's choice."
        ),
        instruction=(
            "Go to the nearest cow, or ripe plant if that is closer, and strike until food is at "
            "least 7; explore grassland while none is known."
        ),
        success="food >= 7",
        precondition="food <= 8",
        interrupt=f"danger or ({EXPOSED})",
        due=(
            f"(food <= 4 and {DAY}) or (food <= 6 and {SAFE} and in_view(cow)) "
            f"or (food <= 6 and {DAY} and ({AFTERNOON} or not seen(cow))) "
            "or (food <= 0 and health <= 3)"
        ),
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
        precondition="health <= 8 and wood_pickaxe >= 1",
        interrupt=f"danger or ({DAY} and (food <= 0 or drink <= 0))",
        due=(
            f"(health <= 4 and food >= 3 and drink >= 3 and threat > 3 and {DAY}) "
            f"or (health <= 6 and enclosed and {NIGHT})"
        ),
        budget=300,
    )


def _take_shelter() -> SubAction:
    return SubAction(
        name="take_shelter",
        mode="code",
        reason=(
            "Where the next closed room can be dug or built is a search over the remembered map, "
            "and building it a fixed order of steps. Whether it is time is the policy's choice."
        ),
        instruction="Get into the closed room that is nearest, or make one.",
        success="enclosed",
        precondition="wood_pickaxe >= 1 or stone >= 1",
        interrupt=_DANGER,
        due=(
            f"({NIGHT} and grass_in_view > 6 and (health <= 6 or energy <= 3)) "
            f"or ({NIGHT} and (health <= 4 or energy <= 4)) or energy <= 1"
        ),
        budget=100,
    )


def _sleep() -> SubAction:
    return SubAction(
        name="sleep_safely",
        mode="code",
        reason=(
            "Asleep the player is hit three times as hard, in a closed room not at all, and "
            "hunger is half as quick: sleep there until rested."
        ),
        instruction="Sleep in the closed room until energy is full.",
        success="energy >= 9",
        precondition="enclosed and energy <= 8",
        interrupt=_DANGER,
        due=f"(energy <= 7 and {NIGHT}) or energy <= 2",
        budget=300,
    )


def can_say(action: SubAction, book: RecipeBook) -> bool:
    """Whether the world has every word of the sub-action's predicates."""
    texts = (action.success, action.precondition, action.interrupt, action.due)
    return all(_is_known(text, book.words) for text in texts)


def _first_known(words: Vocabulary, *texts: str, otherwise: str = "false") -> str:
    """The first predicate the world has every word of."""
    return next((text for text in texts if _is_known(text, words)), otherwise)


def _is_known(text: str, words: Vocabulary) -> bool:
    try:
        parse(text, words)
    except PredicateError:
        return False
    return True
