"""The task planner by rules: subtasks from backward chaining, plus staying alive."""

from __future__ import annotations

from engine.agents.plan import Subtask
from engine.agents.protocols import TaskContext
from engine.agents.rules.chain import CHEAP, SHELTER_ITEM, Chain, RecipeBook, Step
from engine.agents.rules.steps import with_article
from engine.errors import AgentError
from engine.worlds.base import TaskSpec, Vocabulary, World
from engine.worlds.predicate import parse

AUTHOR = "rules"
STAY_ALIVE = "stay_alive"
REST = "wake_up"
_VITALS = ("health", "food", "drink", "energy")
_SHELTER_NEEDS = f"collect_{SHELTER_ITEM}"
"""A closed room is dug with a pickaxe and shut with stones."""
_GOALS = {
    "collect": "Collect {}",
    "place": "Place {}",
    "make": "Make {}",
    "eat": "Eat {}",
    "defeat": "Defeat {}",
    "rest": "Sleep in a closed room and wake up",
}


class RulesPlanner:
    """Cuts a task into the steps its recipes ask for."""

    author = AUTHOR

    def __init__(self, world: World) -> None:
        self._world = world

    def subtasks(self, context: TaskContext) -> tuple[Subtask, ...]:
        """Staying alive first, then one subtask per step in a workable order.

        Raises:
            AgentError: no recipe or rule brings about what the task asks for.
        """
        chain = chain_for(self._world, context.task)
        steps = [_subtask(step, chain) for step in chain.steps]
        alive = stay_alive(self._world.vocabulary())
        found = (*([alive] if alive else []), *steps)
        if not found:
            raise AgentError(
                f"the rules find no step towards {context.task.words!r} ({context.task.success})",
                "choose a task of `World.tasks()`, or use `--agents llm`",
            )
        return found


def chain_for(world: World, task: TaskSpec) -> Chain:
    """The steps towards a task; when it takes long, with weapons and a place to rest."""
    book = RecipeBook(world)
    chain = book.chain(task)
    extras = [*_weapons(book, chain), *_rest(book, chain, task)]
    if not extras:
        return chain
    wishes = " and ".join(f"unlocked({name})" for name, _ in extras)
    longer = book.chain(TaskSpec(task.name, task.words, f"({task.success}) and {wishes}"))
    for name, after in extras:
        step = next(step for step in longer.steps if step.name == name)
        others = [other for other in longer.steps if other.name != name]
        at = [other.name for other in others].index(after) + 1
        longer.steps = [*others[:at], step, *others[at:]]
    return longer


def _weapons(book: RecipeBook, chain: Chain) -> list[tuple[str, str]]:
    """Swords made of what a tool of the chain is made of, each after that tool, when more follows.

    With a better sword a creature falls before it strikes a second time.
    """
    found = []
    for step in chain.steps[:-1]:
        weapon = book.giving(step.target.replace("pickaxe", "sword"))
        is_tool = step.recipe is not None and step.target.endswith("_pickaxe")
        if not is_tool or weapon is None or step.recipe is None:
            continue
        name = f"make_{weapon.target}"
        mineral = [need for need in step.recipe.needs if need in CHEAP]
        same = weapon.needs == step.recipe.needs and len(mineral) == len(weapon.needs)
        if same and chain.step(name) is None and name in book.words.tests["unlocked"]:
            found.append((name, step.name))
    return found


def _rest(book: RecipeBook, chain: Chain, task: TaskSpec) -> list[tuple[str, str]]:
    """Sleeping in a closed room, after the stones for it, when the task is to survive."""
    if not can_rest(book.words) or chain.step(REST) is not None:
        return []
    survival = any(term.name in _VITALS for term in parse(task.success, book.words).terms())
    return [(REST, _SHELTER_NEEDS)] if survival else []


def has_shelter(chain: Chain) -> bool:
    """Whether the task goes on after the tools and stones for a closed room are there."""
    names = [step.name for step in chain.steps[:-1]]
    return _SHELTER_NEEDS in names and can_rest(chain.world.vocabulary())


def can_rest(words: Vocabulary) -> bool:
    """Whether the world knows sleep, closed rooms and waking up."""
    achievements = words.tests.get("unlocked", frozenset())
    return "enclosed" in words.flags and REST in achievements and "energy" in words.numbers


def stay_alive(words: Vocabulary) -> Subtask | None:
    """The subtask that is never over; None in a world where nothing can go wrong."""
    if "health" not in words.numbers or "frames" not in words.numbers:
        return None
    return Subtask(
        name=STAY_ALIVE,
        goal="Stay alive: fend off creatures, drink and eat in time, come through the night",
        success="frames >= 300 and health >= 3",
    )


def _subtask(step: Step, chain: Chain) -> Subtask:
    target = step.target.replace("_", " ")
    goal = _GOALS[step.kind].format(target if step.kind == "collect" else with_article(target))
    users = [other for other in chain.steps if step.name in other.after]
    purpose = ["a place to rest" if other.kind == "rest" else other.target for other in users]
    if purpose:
        goal += f" (needed for: {', '.join(purpose).replace('_', ' ')})"
    success = step.done
    wanted = chain.wanted.get(step.target)
    if wanted is not None and step.kind != "place":
        success = f"{step.target} >= {wanted}"
    return Subtask(name=step.name, goal=goal, success=success, depends_on=step.after)
