"""The slow agent through a language model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engine.agents.llm import wording
from engine.agents.llm.answers import DividedAnswer, SubActionsAnswer
from engine.agents.llm.checks import broken
from engine.agents.plan import Critique, Plan, SubAction, Subtask
from engine.agents.plan_choices import rename_choices
from engine.agents.plan_record import NOTHING_YET, PlanRecord
from engine.agents.prompts.render import SHIPPED, PromptBook
from engine.agents.protocols import TaskContext
from engine.llm.client import LlmClient

WHOLE_PLAN_ATTEMPTS = 3
"""One less than for a subtask: what is too much at once is then asked for in parts."""


class LlmSlowAgent:
    """Asks for the first plan as a whole, and for one subtask where that must be done again.

    The world is told once for a whole plan instead of once a subtask.
    """

    def __init__(self, client: LlmClient, book: PromptBook = SHIPPED) -> None:
        self._client = client
        self._book = book
        self.author = client.author

    def divide(
        self, context: TaskContext, subtasks: tuple[Subtask, ...]
    ) -> Mapping[str, tuple[SubAction, ...]]:
        """Valid sub-actions of all subtasks by one question; none where there is but one subtask.

        Raises:
            NoValidAnswer: none within the attempts, or the answer was longer than the model can.
            LlmError, BudgetSpent: see `LlmClient.ask`.
        """
        if len(subtasks) < 2:
            return {}

        def check(answer: DividedAnswer) -> Sequence[str]:
            return tuple(_problems_of_all(context, subtasks, answer))

        answer = self._client.ask(
            "slow",
            self._system(context),
            _whole_prompt(context, subtasks, self._book),
            DividedAnswer,
            subject=context.task.words,
            check=check,
            attempts=WHOLE_PLAN_ATTEMPTS,
            again_if_cut_off=False,
        )
        return {part.name: part.sub_actions for part in answer.subtasks}

    def sub_actions(
        self,
        context: TaskContext,
        subtask: Subtask,
        earlier: tuple[SubAction, ...],
        critiques: tuple[Critique, ...],
        record: PlanRecord = NOTHING_YET,
    ) -> tuple[SubAction, ...]:
        """Sub-actions with valid predicates, unique names and affordable budgets.

        Raises:
            NoValidAnswer: none within the attempts.
            LlmError, BudgetSpent: see `LlmClient.ask`.
        """
        frames = _frames_left(context, earlier, record.others)

        def check(answer: SubActionsAnswer) -> Sequence[str]:
            actions = answer.sub_actions
            return (
                *_problems(context, subtask, actions, record.others),
                *_too_many_frames(actions, frames),
            )

        prompt = _prompt(context, subtask, earlier, critiques, record, self._book)
        answer = self._client.ask(
            "slow",
            self._system(context),
            prompt,
            SubActionsAnswer,
            subject=subtask.name,
            check=check,
        )
        return answer.sub_actions

    def _system(self, context: TaskContext) -> str:
        return self._book.render("system", role="slow agent", world=context.world.title)


# --- what is asked ----------------------------------------------------------------------------


def _whole_prompt(
    context: TaskContext, subtasks: tuple[Subtask, ...], book: PromptBook = SHIPPED
) -> str:
    part = book.render(
        "slow_whole",
        task=context.task.words,
        subtasks=wording.subtasks(subtasks),
        frames=str(context.training_frames),
    )
    return _around(context, part, book)


def _prompt(
    context: TaskContext,
    subtask: Subtask,
    earlier: tuple[SubAction, ...],
    critiques: tuple[Critique, ...],
    record: PlanRecord,
    book: PromptBook = SHIPPED,
) -> str:
    history = book.render("slow_first")
    if earlier:
        history = book.render(
            "slow_again",
            earlier=wording.sub_actions(earlier),
            critiques=wording.critiques(critiques),
            attempts=wording.attempts(record.attempts),
            trainings=wording.trainings(record.trainings),
        )
    part = book.render(
        "slow_part",
        task=context.task.words,
        name=subtask.name,
        goal=subtask.goal,
        reuses=wording.names(subtask.reuses),
        success=subtask.success,
        others=wording.given(record.others),
        taken=", ".join([subtask.name, *_names(record.others)]),
        frames=str(_frames_left(context, earlier, record.others)),
        history=history,
    )
    return _around(context, part, book)


def _around(context: TaskContext, part: str, book: PromptBook) -> str:
    """The world and the rules of planning, with what is to be divided at the end."""
    world = context.world
    return book.render(
        "slow",
        facts=world.facts(),
        primitives=", ".join(world.primitives),
        functions=wording.functions(world.stub()),
        predicates=wording.predicates(world.vocabulary(), book),
        skills=wording.skills(context.skills),
        episode=str(world.episode_length),
        part=part,
    )


# --- what is wrong with an answer -------------------------------------------------------------


def _problems_of_all(
    context: TaskContext, subtasks: tuple[Subtask, ...], answer: DividedAnswer
) -> Iterator[str]:
    """Problems of a whole plan, each with the subtask it is in."""
    asked = {subtask.name: subtask for subtask in subtasks}
    named = [part.name for part in answer.subtasks]
    given = {name: () for name in asked} | {p.name: p.sub_actions for p in answer.subtasks}
    for name in dict.fromkeys(named):
        if name not in asked:
            yield f"{name!r} is none of the subtasks to divide: leave it out"
        elif named.count(name) > 1:
            yield f"subtask {name!r} is there {named.count(name)} times: give it one entry"
    for name, subtask in asked.items():
        if name not in named:
            yield f"subtask {name!r} is missing: give it sub-actions"
            continue
        others = {other: actions for other, actions in given.items() if other != name}
        for problem in _problems(context, subtask, given[name], others):
            yield f"subtask {name!r}: {problem}"
    together = [action for part in answer.subtasks for action in part.sub_actions]
    yield from _too_many_frames(together, context.training_frames)


def _problems(
    context: TaskContext,
    subtask: Subtask,
    actions: tuple[SubAction, ...],
    others: Mapping[str, tuple[SubAction, ...]],
) -> Iterator[str]:
    there = {action.name: None for given in others.values() for action in given}
    whole = subtask.model_copy(update={"depends_on": (), "sub_actions": actions})
    plan = Plan(task=context.task.words, world=context.world.name, author="llm", subtasks=(whole,))
    yield from broken(rename_choices(plan, there), context.world)
    taken = _names(others)
    for action in actions:
        if action.name in taken:
            yield f"the name {action.name!r} is used in another subtask: choose another"


def _too_many_frames(actions: Sequence[SubAction], frames: int) -> Iterator[str]:
    asked = sum(action.budget for action in actions if action.mode == "rl")
    if asked > frames:
        yield f"the rl sub-actions ask for {asked} env frames of training, only {frames} are left"


def _frames_left(
    context: TaskContext,
    earlier: tuple[SubAction, ...],
    others: Mapping[str, tuple[SubAction, ...]],
) -> int:
    """Env frames of training that a subtask may ask for.

    In a later iteration the others' shares sum up to all there is, and are made smaller for what
    is new: so it may ask for an equal share at least.
    """
    total = context.training_frames
    budgets = [a.budget for actions in others.values() for a in actions if a.mode == "rl"]
    left = max(0, total - sum(budgets))
    return max(left, total // (len(budgets) + 1)) if earlier else left


def _names(given: Mapping[str, tuple[SubAction, ...]]) -> tuple[str, ...]:
    """Names of subtasks and of their sub-actions."""
    return (*given, *(action.name for actions in given.values() for action in actions))
