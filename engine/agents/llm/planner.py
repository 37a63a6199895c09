"""The task planner through a language model."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agents.llm import wording
from engine.agents.llm.answers import SubtasksAnswer
from engine.agents.llm.checks import broken
from engine.agents.plan import Plan, Subtask
from engine.agents.prompts.render import SHIPPED, PromptBook
from engine.agents.protocols import TaskContext
from engine.llm.client import LlmClient


class LlmPlanner:
    """Asks for subtasks and checks their names, order and predicates."""

    def __init__(self, client: LlmClient, book: PromptBook = SHIPPED) -> None:
        self._client = client
        self._book = book
        self.author = client.author

    def subtasks(self, context: TaskContext) -> tuple[Subtask, ...]:
        """Subtasks whose last one succeeds exactly when the task does.

        Raises:
            AgentError: no valid answer within the attempts.
            LlmError, BudgetSpent: see `LlmClient.ask`.
        """
        world, task = context.world, context.task
        prompt = self._book.render(
            "planner",
            task=task.words,
            success=task.success,
            facts=world.facts(),
            predicates=wording.predicates(world.vocabulary(), self._book),
            skills=wording.skills(context.skills),
        )

        def check(answer: SubtasksAnswer) -> Sequence[str]:
            plan = Plan(
                task=task.words,
                world=world.name,
                author=self.author,
                subtasks=tuple(item.subtask() for item in answer.subtasks),
            )
            wrongs = [*_unknown_skills(context, answer), *broken(plan, world)]
            last = answer.subtasks[-1]
            if "".join(last.success.split()) == "".join(task.success.split()):
                return wrongs
            wrong = f"the last subtask {last.name!r} must have the success `{task.success}`"
            return (wrong, *wrongs)

        system = self._book.render("system", role="task planner", world=world.title)
        answer = self._client.ask(
            "planner", system, prompt, SubtasksAnswer, subject=task.words, check=check
        )
        return tuple(item.subtask() for item in answer.subtasks)


def _unknown_skills(context: TaskContext, answer: SubtasksAnswer) -> list[str]:
    there = {skill.name for skill in context.skills}
    return [
        f"the subtask {item.name!r} reuses {name!r}, which is no skill that is there; "
        f"there are: {', '.join(sorted(there)) or 'none'}"
        for item in answer.subtasks
        for name in item.reuses
        if name not in there
    ]
