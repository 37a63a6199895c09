"""How an rl sub-action is to be learnt, asked of a language model.

Source: RL-GPT (arXiv 2402.19299), section 3: for what cannot be coded the fast agent configures RL.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.agents.learning_check import wrong_learning
from engine.agents.llm import wording
from engine.agents.llm.answers import LearningAnswer
from engine.agents.plan import LearningProposal, SubAction
from engine.agents.prompts.render import SHIPPED, PromptBook
from engine.agents.protocols import LearningDraft, TaskContext, WorkingCode
from engine.llm.client import LlmClient


def ask_how_to_learn(
    client: LlmClient,
    book: PromptBook,
    context: TaskContext,
    sub_action: SubAction,
    working: tuple[WorkingCode, ...],
    base: LearningProposal | None,
    comment: str,
) -> LearningDraft:
    """A draft that names only what is there.

    Raises:
        AgentError: no valid answer within the attempts.
        LlmError, BudgetSpent: see `LlmClient.ask`.
    """

    def check(answer: LearningAnswer) -> Sequence[str]:
        found = wrong_learning(
            answer.actions,
            answer.observation,
            answer.shaping,
            coded=[code.sub_action.name for code in working],
            world=context.world,
        )
        return [f"`{wrong.field}`: {wrong.reason}" for wrong in found]

    answer = client.ask(
        "fast",
        book.render("system", role="fast agent", world=context.world.title),
        prompt(context, sub_action, working, base, comment, book),
        LearningAnswer,
        subject=sub_action.name,
        check=check,
    )
    return LearningDraft(answer.actions, answer.observation, answer.shaping, answer.reason.strip())


def prompt(
    context: TaskContext,
    sub_action: SubAction,
    working: tuple[WorkingCode, ...],
    base: LearningProposal | None = None,
    comment: str = "",
    book: PromptBook = SHIPPED,
) -> str:
    """The question."""
    world = context.world
    revision = ""
    if base is not None:
        revision = book.render(
            "learning_again", proposal=wording.learning(base), comment=comment or "no reason given"
        )
    return book.render(
        "learning",
        task=context.task.words,
        task_success=context.task.success,
        facts=world.facts(),
        predicates=wording.predicates(world.vocabulary(), book),
        primitives=", ".join(world.primitives),
        parts=", ".join(f"`{name}`" for name in world.observation_parts()),
        coded=wording.working(working),
        name=sub_action.name,
        instruction=sub_action.instruction,
        success=sub_action.success,
        budget=f"{sub_action.budget:,}",
        episode=f"{world.episode_length:,}",
        choices=", ".join(f"`{name}`" for name in sub_action.choices) or "any",
        revision=revision,
    )
