"""The slow agent through a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.agents.llm import wording
from engine.agents.llm.answers import SubActionsAnswer
from engine.agents.llm.checks import broken
from engine.agents.plan import Critique, Plan, SubAction, Subtask
from engine.agents.plan_choices import rename_choices
from engine.agents.prompts.render import SHIPPED, PromptBook
from engine.agents.protocols import TaskContext
from engine.llm.client import LlmClient


class LlmSlowAgent:
    """Asks for the sub-actions of one subtask after the other.

    It remembers what it gave the other subtasks of the task, so that names stay unique and the
    training frames of the whole plan stay within what there is.
    """

    def __init__(self, client: LlmClient, book: PromptBook = SHIPPED) -> None:
        self._client = client
        self._book = book
        self.author = client.author
        self._task = ""
        self._given: dict[str, tuple[SubAction, ...]] = {}

    def sub_actions(
        self,
        context: TaskContext,
        subtask: Subtask,
        earlier: tuple[SubAction, ...],
        critiques: tuple[Critique, ...],
    ) -> tuple[SubAction, ...]:
        """Sub-actions with valid predicates, unique names and affordable budgets.

        Raises:
            AgentError: no valid answer within the attempts.
            LlmError, BudgetSpent: see `LlmClient.ask`.
        """
        if self._task != context.task.words:
            self._task, self._given = context.task.words, {}
        others = {name: acts for name, acts in self._given.items() if name != subtask.name}
        frames = context.training_frames - _trained(others)

        def check(answer: SubActionsAnswer) -> Sequence[str]:
            return _problems(context, subtask, answer.sub_actions, others, frames)

        system = self._book.render("system", role="slow agent", world=context.world.title)
        prompt = _prompt(context, subtask, earlier, critiques, others, frames, self._book)
        answer = self._client.ask(
            "slow", system, prompt, SubActionsAnswer, subject=subtask.name, check=check
        )
        self._given[subtask.name] = answer.sub_actions
        return answer.sub_actions


def _prompt(
    context: TaskContext,
    subtask: Subtask,
    earlier: tuple[SubAction, ...],
    critiques: tuple[Critique, ...],
    others: Mapping[str, tuple[SubAction, ...]],
    frames: int,
    book: PromptBook = SHIPPED,
) -> str:
    world = context.world
    history = book.render("slow_first")
    if earlier:
        history = book.render(
            "slow_again",
            earlier=wording.sub_actions(earlier),
            critiques=wording.critiques(critiques),
        )
    return book.render(
        "slow",
        task=context.task.words,
        name=subtask.name,
        goal=subtask.goal,
        reuses=", ".join(f"`{name}`" for name in subtask.reuses) or "none",
        success=subtask.success,
        facts=world.facts(),
        primitives=", ".join(world.primitives),
        functions=wording.functions(world.stub()),
        predicates=wording.predicates(world.vocabulary(), book),
        skills=wording.skills(context.skills),
        frames=str(frames),
        taken=", ".join([subtask.name, *_names(others)]),
        episode=str(world.episode_length),
        history=history,
        before=wording.given(others),
    )


def _problems(
    context: TaskContext,
    subtask: Subtask,
    actions: tuple[SubAction, ...],
    others: Mapping[str, tuple[SubAction, ...]],
    frames: int,
) -> tuple[str, ...]:
    there = {action.name: None for given in others.values() for action in given}
    whole = subtask.model_copy(update={"depends_on": (), "sub_actions": actions})
    plan = Plan(task=context.task.words, world=context.world.name, author="llm", subtasks=(whole,))
    problems = list(broken(rename_choices(plan, there), context.world))
    taken = _names(others)
    problems += [
        f"the name {action.name!r} is used in another subtask: choose another"
        for action in actions
        if action.name in taken
    ]
    asked = _trained({subtask.name: actions})
    if asked > frames:
        problems.append(
            f"the rl sub-actions ask for {asked} env frames of training, only {frames} are left"
        )
    return tuple(problems)


def _names(given: Mapping[str, tuple[SubAction, ...]]) -> tuple[str, ...]:
    """Names of subtasks and of their sub-actions."""
    return (*given, *(action.name for actions in given.values() for action in actions))


def _trained(given: Mapping[str, tuple[SubAction, ...]]) -> int:
    return sum(a.budget for actions in given.values() for a in actions if a.mode == "rl")
