"""The slow agent by rules: for each subtask what to do, and whether to code it or to learn it.

Steps that follow from a recipe are coded. What meets an opponent, or asks when to do what, is
learnt by RL on top of the coded actions. A coded sub-action that failed is split in two; what
cannot be split any further is learnt.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.agents.plan import Critique, Mode, SubAction, Subtask
from engine.agents.protocols import TaskContext
from engine.agents.rules import survival
from engine.agents.rules.chain import Chain, RecipeBook, Step, sources
from engine.agents.rules.planner import (
    AUTHOR,
    STAY_ALIVE,
    chain_for,
    stay_alive,
    with_article,
)
from engine.agents.rules.splits import split
from engine.errors import AgentError
from engine.worlds.base import Recipe, World

GATHER_FRAMES = 300
CRAFT_FRAMES = 150
PLACE_FRAMES = 120
HUNT_FRAMES = 300
FAR_TOOLS = 2
"""What takes this many crafted things before it can be collected lies deep in the mountains."""


class RulesSlowAgent:
    """Divides subtasks of the rules planner."""

    author = AUTHOR

    def __init__(self, world: World) -> None:
        self._world = world
        self._book = RecipeBook(world)

    def sub_actions(
        self,
        context: TaskContext,
        subtask: Subtask,
        earlier: tuple[SubAction, ...],
        critiques: tuple[Critique, ...],
    ) -> tuple[SubAction, ...]:
        """Sub-actions of one subtask; with critiques the earlier ones, changed where they failed.

        Raises:
            AgentError: the subtask is not one these rules know.
        """
        if earlier:
            return self._revised(context, earlier, critiques)
        chain = chain_for(self._world, context.task)
        coded = self._coded(subtask, chain)
        learnt = self._learnt(context, subtask, chain)
        if not coded and not learnt:
            raise AgentError(
                f"the rules cannot divide the subtask {subtask.name!r}",
                "divide it yourself in the plan editor, or use `--agents llm`",
            )
        return (*coded, *learnt)

    # --- the first plan -----------------------------------------------------------------

    def _coded(self, subtask: Subtask, chain: Chain) -> tuple[SubAction, ...]:
        if subtask.name == STAY_ALIVE:
            return survival.reflexes(self._book)
        step = chain.step(subtask.name)
        if step is None:
            return ()
        make: dict[str, Callable[[Step, Chain], SubAction]] = {
            "collect": self._gather,
            "place": self._set_up,
            "make": self._craft,
            "eat": self._hunt,
            "defeat": self._hunt,
        }
        if step.kind == "rest":
            return survival.rests(self._book)
        return (make[step.kind](step, chain),)

    def _gather(self, step: Step, chain: Chain) -> SubAction:
        recipe = _recipe(step)
        source = " or ".join(sources(recipe))
        tool = _held(recipe)
        success = chain.enough(step.target) or step.done
        origin = "" if source == step.target else f" from {source}"
        goal = f"Collect {step.target}{origin} until {_in_words(success)}."
        return SubAction(
            name=f"gather_{step.target}",
            mode="code",
            reason=(
                f"The recipe says all there is to know: stand before {source}"
                f"{f' with {tool} in hand' if tool else ''} and collect. The way there is a search "
                "over the remembered map, so there is nothing to learn."
            ),
            instruction=f"{goal} Explore while no {source} is known.",
            success=success,
            precondition=" and ".join(f"{item} >= {n}" for item, n in recipe.requires.items())
            or "true",
            interrupt=survival.interrupt(self._book),
            budget=GATHER_FRAMES,
        )

    def _set_up(self, step: Step, chain: Chain) -> SubAction:
        recipe = _recipe(step)
        beside = survival.companion(self._book, step.target)
        where = f" beside the {beside}, where the crafting will be done" if beside else ""
        return SubAction(
            name=f"set_up_{step.target}",
            mode="code",
            reason=(
                f"Placing {with_article(step.target)} is one action once the cell in front can "
                f"take it ({', '.join(recipe.where)}); finding such a cell is a short search."
            ),
            instruction=f"Place {with_article(step.target)}{where}.",
            success=step.done,
            precondition=" and ".join(f"{item} >= {n}" for item, n in recipe.needs.items()),
            interrupt=survival.interrupt(self._book),
            budget=PLACE_FRAMES,
        )

    def _craft(self, step: Step, chain: Chain) -> SubAction:
        recipe = _recipe(step)
        name = with_article(step.target.replace("_", " "))
        near = " and ".join(recipe.nearby)
        needs = ", ".join(f"{amount} {item}" for item, amount in recipe.needs.items())
        return SubAction(
            name=f"craft_{step.target}",
            mode="code",
            reason=(
                f"The recipe is exact: {needs}, standing near {near}. Walk there, take one "
                "action, and check that it is held."
            ),
            instruction=(
                f"Make {name} from {needs} near {near}. Put up what is missing or too far away "
                "when there is enough to spare."
            ),
            success=step.done,
            precondition=" and ".join(
                [f"{item} >= {n}" for item, n in recipe.needs.items()]
                + [_known_or_affordable(self._book, station, recipe) for station in recipe.nearby]
            ),
            interrupt=survival.interrupt(self._book),
            budget=CRAFT_FRAMES,
        )

    def _hunt(self, step: Step, chain: Chain) -> SubAction:
        plant = self._book.placing(step.target) is not None
        target = f"ripe_{step.target}" if plant else step.target
        return SubAction(
            name=f"hunt_{step.target}",
            mode="code",
            reason=(
                f"To walk up to {with_article(target.replace('_', ' '))} and strike is a fixed "
                "pursuit; whether it is wise now is left to the policy."
            ),
            instruction=f"Find {with_article(target.replace('_', ' '))}, go there and strike.",
            success=step.done,
            precondition=f"seen({target})" if plant else "health >= 4",
            interrupt="health <= 2" if step.kind == "defeat" else survival.interrupt(self._book),
            budget=HUNT_FRAMES,
        )

    def _learnt(
        self, context: TaskContext, subtask: Subtask, chain: Chain
    ) -> tuple[SubAction, ...]:
        goal = chain.goal
        has_part = goal is not None and _is_open_ended(goal, chain)
        parts = int(stay_alive(self._book.words) is not None) + int(has_part)
        if not parts:
            return ()
        share, rest = divmod(context.training_frames, parts)
        if subtask.name == STAY_ALIVE:
            return (survival.survive(max(1, share + rest)),)
        if goal is None or not has_part or subtask.name != goal.name:
            return ()
        frames = share if parts > 1 else context.training_frames
        return (_open_ended(goal, max(1, frames)),)

    # --- after failures -----------------------------------------------------------------

    def _revised(
        self,
        context: TaskContext,
        earlier: tuple[SubAction, ...],
        critiques: tuple[Critique, ...],
    ) -> tuple[SubAction, ...]:
        wishes = " ".join(c.text for c in critiques if c.author == "person")
        verdicts = {c.sub_action: c for c in critiques if c.author != "person" and not c.works}
        names = {action.name for action in earlier}
        revised: list[SubAction] = []
        for action in earlier:
            mode = _wished_mode(action, wishes)
            if mode is not None and mode != action.mode:
                reason = f'A person asked for it: "{wishes.strip()}"'
                revised.append(_flipped(action, mode, reason, context.training_frames))
            elif action.mode == "code" and action.name in verdicts:
                critique = verdicts[action.name]
                parts = split(action, critique, self._book)
                if parts and names.isdisjoint(part.name for part in parts[:-1]):
                    revised.extend(parts)
                else:
                    reason = f"Code did not manage it ({critique.text}), so it is learnt."
                    revised.append(_flipped(action, "rl", reason, context.training_frames))
            else:
                revised.append(action)
        return _shared(tuple(revised), sum(a.budget for a in earlier if a.mode == "rl"))


def _is_open_ended(goal: Step, chain: Chain) -> bool:
    """Whether the last step needs judgement: creatures move, what takes many tools lies deep."""
    if goal.kind in ("eat", "defeat"):
        return True
    tools = sum(step.kind == "make" for step in chain.steps)
    return goal.kind == "collect" and tools >= FAR_TOOLS


def _open_ended(goal: Step, frames: int) -> SubAction:
    target = goal.target.replace("_", " ")
    if goal.kind == "collect":
        return SubAction(
            name=f"reach_{goal.target}",
            mode="rl",
            reason=(
                f"Where the {target} lies is not known, and the search leads through danger: how "
                "far to go before the night, and when to turn back, is a trade-off that no recipe "
                "gives."
            ),
            instruction=f"Search for {target} under danger and collect it alive.",
            success=goal.done,
            budget=frames,
        )
    return SubAction(
        name=f"{'fight' if goal.kind == 'defeat' else 'get'}_{goal.target}",
        mode="rl",
        reason=(
            f"The {target} moves and may strike back; when to close in and when to withdraw "
            "depends on an opponent, not on a recipe."
        ),
        instruction=f"Learn when and how to get at the {target} without being hurt.",
        success=goal.done,
        budget=frames,
    )


def _recipe(step: Step) -> Recipe:
    if step.recipe is None:
        raise AgentError(f"step {step.name!r} has no recipe", "report this as a bug")
    return step.recipe


def _held(recipe: Recipe) -> str:
    return " and ".join(with_article(tool.replace("_", " ")) for tool in recipe.requires)


def _known_or_affordable(book: RecipeBook, station: str, made: Recipe) -> str:
    """Predicate: the station is known, or there is enough to put one up and still craft."""
    recipe = book.placing(station)
    if recipe is None:
        return f"seen({station})"
    afford = " and ".join(
        f"{item} >= {amount + made.needs.get(item, 0)}" for item, amount in recipe.needs.items()
    )
    return f"(seen({station}) or {afford})"


def _in_words(predicate: str) -> str:
    if " or " in predicate:
        return "there is enough for the steps still ahead"
    return f"{predicate} holds"


def _wished_mode(action: SubAction, wishes: str) -> Mode | None:
    """The mode a person's comment asks for, when it names the sub-action and a mode."""
    for clause in re.split(r"[.,;\n]| and ", wishes.lower()):
        words = clause.replace("_", " ")
        if action.name.replace("_", " ") not in words:
            continue
        if re.search(r"\b(rl|learn\w*|train\w*)\b", clause):
            return "rl"
        if re.search(r"\bcod(e|ed|ing)\b", clause):
            return "code"
    return None


def _flipped(action: SubAction, mode: Mode, reason: str, training_frames: int) -> SubAction:
    budget = GATHER_FRAMES if mode == "code" else max(1, training_frames // 4)
    changed = {"mode": mode, "reason": reason, "budget": budget}
    return SubAction.model_validate({**action.model_dump(), **changed})


def _shared(actions: tuple[SubAction, ...], total: int) -> tuple[SubAction, ...]:
    """The sub-actions with the training frames this subtask had before, shared evenly."""
    learnt = [action for action in actions if action.mode == "rl"]
    if not total or not learnt:
        return actions
    share, rest = divmod(total, len(learnt))
    budgets = {
        action.name: max(1, share + (rest if index == 0 else 0))
        for index, action in enumerate(learnt)
    }
    return tuple(
        action.model_copy(update={"budget": budgets[action.name]})
        if action.name in budgets
        else action
        for action in actions
    )
