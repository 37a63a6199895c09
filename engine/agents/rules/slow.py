"""The slow agent by rules: for each subtask what to do, and whether to code it or to learn it.

Steps that follow from a recipe are coded. What meets an opponent, or asks when to do what, is
learnt by RL on top of the coded actions. A coded sub-action that failed is split in two; what
cannot be split any further is learnt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.agents.plan import Critique, Mode, SubAction, Subtask
from engine.agents.plan_choices import renamed
from engine.agents.plan_record import NOTHING_YET, PlanRecord
from engine.agents.protocols import TaskContext
from engine.agents.rules import survival
from engine.agents.rules.chain import Chain, RecipeBook, Step
from engine.agents.rules.manoeuvres import manoeuvres
from engine.agents.rules.planner import (
    AUTHOR,
    STAY_ALIVE,
    chain_for,
    has_shelter,
    stay_alive,
)
from engine.agents.rules.splits import split
from engine.agents.rules.steps import GATHER_FRAMES, StepWriter
from engine.errors import AgentError
from engine.worlds.base import World

ROAM_FRAMES = 100
FAR_TOOLS = 2
"""What takes this many crafted things before it can be collected lies deep in the mountains."""


class RulesSlowAgent:
    """Divides subtasks of the rules planner."""

    author = AUTHOR

    def __init__(self, world: World) -> None:
        self._world = world
        self._book = RecipeBook(world)

    def divide(
        self, context: TaskContext, subtasks: tuple[Subtask, ...]
    ) -> Mapping[str, tuple[SubAction, ...]]:
        """Nothing: rules lose nothing by one subtask after the other."""
        del context, subtasks
        return {}

    def sub_actions(
        self,
        context: TaskContext,
        subtask: Subtask,
        earlier: tuple[SubAction, ...],
        critiques: tuple[Critique, ...],
        record: PlanRecord = NOTHING_YET,
    ) -> tuple[SubAction, ...]:
        """Sub-actions of one subtask; with critiques the earlier ones, changed where they failed.

        Raises:
            AgentError: the subtask is not one these rules know.
        """
        del record
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
            return self._staying_alive(chain)
        step = chain.step(subtask.name)
        if step is None:
            return ()
        coded = StepWriter(self._book, chain).sub_actions(step)
        many = len(chain.leaves()) > 1 and step is chain.steps[-1]
        return (*coded, _look_around(self._book)) if many else coded

    def _staying_alive(self, chain: Chain) -> tuple[SubAction, ...]:
        rests = survival.rests(self._book) if has_shelter(chain) else ()
        return (*survival.reflexes(self._book), *rests, *manoeuvres(self._book))

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
            return (survival.survive(max(1, share + rest), self._choices(chain)),)
        if goal is None or not has_part or subtask.name != goal.name:
            return ()
        frames = share if parts > 1 else context.training_frames
        return (_open_ended(goal, max(1, frames), self._choices(chain)),)

    def _choices(self, chain: Chain) -> tuple[str, ...]:
        """What may be better than the next errand, whatever the goal."""
        if stay_alive(self._book.words) is None:
            return ()
        return survival.against_the_plan(self._staying_alive(chain))

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
                if action.due == "false":
                    continue  # A policy can do without: a manoeuvre is made of primitives.
                parts = split(action, critique, self._book)
                if parts and names.isdisjoint(part.name for part in parts[:-1]):
                    revised.extend(parts)
                else:
                    reason = f"Code did not manage it ({critique.text}), so it is learnt."
                    revised.append(_flipped(action, "rl", reason, context.training_frames))
            else:
                revised.append(action)
        lost = dict.fromkeys(names - {action.name for action in revised})
        left = tuple(renamed(action, lost) for action in revised)
        return _shared(left, sum(a.budget for a in earlier if a.mode == "rl"))


def _is_open_ended(goal: Step, chain: Chain) -> bool:
    """Whether the last step needs judgement: creatures move, what takes many tools lies deep."""
    if goal.kind in ("eat", "defeat"):
        return True
    tools = sum(step.kind == "make" for step in chain.steps)
    return goal.kind == "collect" and tools >= FAR_TOOLS


def _open_ended(goal: Step, frames: int, choices: tuple[str, ...]) -> SubAction:
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
            choices=choices,
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
        choices=choices,
    )


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


def _look_around(book: RecipeBook) -> SubAction:
    """What is left to do when nothing else is."""
    return SubAction(
        name="look_around",
        mode="code",
        reason=(
            "When nothing else is to be done, a meal in sight is what is needed next, and unknown "
            "land may bring what is missing; to explore it is a search over the remembered map."
        ),
        instruction="Explore until a cow is in view.",
        success="in_view(cow)",
        interrupt=survival.interrupt(book),
        budget=ROAM_FRAMES,
    )
