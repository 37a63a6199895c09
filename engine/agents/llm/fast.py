"""The fast agent through a language model."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agents.llm import wording
from engine.agents.llm.answers import CodeAnswer, bare_code, code_in_text
from engine.agents.llm.configure import ask_how_to_learn
from engine.agents.plan import CodeProposal, LearningProposal, SubAction
from engine.agents.prompts.render import SHIPPED, PromptBook
from engine.agents.protocols import (
    CodeDraft,
    Feedback,
    LearningDraft,
    TaskContext,
    WorkingCode,
)
from engine.llm.client import LlmClient
from engine.sandbox.language import LANGUAGE_NOTES


class LlmFastAgent:
    """Asks for policy code; what the check, a person or the critic said goes with the question."""

    def __init__(self, client: LlmClient, book: PromptBook = SHIPPED) -> None:
        self._client = client
        self._book = book
        self.author = client.author

    def write(
        self,
        context: TaskContext,
        sub_action: SubAction,
        base: CodeProposal | None,
        feedback: Feedback,
    ) -> CodeDraft:
        """Code that differs from the version before.

        Raises:
            AgentError: no valid answer within the attempts.
            LlmError, BudgetSpent: see `LlmClient.ask`.
        """

        def check(answer: CodeAnswer) -> Sequence[str]:
            if base is not None and bare_code(answer.code) == bare_code(base.code):
                return ("`code`: this is the version that was not good enough; change it",)
            return ()

        answer = self._client.ask(
            "fast",
            self._book.render("system", role="fast agent", world=context.world.title),
            _prompt(context, sub_action, base, feedback, self._book),
            CodeAnswer,
            subject=sub_action.name,
            check=check,
            read_text=code_in_text,
        )
        return CodeDraft(bare_code(answer.code), answer.comment.strip())

    def configure(
        self,
        context: TaskContext,
        sub_action: SubAction,
        working: tuple[WorkingCode, ...],
        base: LearningProposal | None,
        comment: str,
    ) -> LearningDraft:
        """How to learn an rl sub-action; see `ask_how_to_learn`."""
        return ask_how_to_learn(
            self._client, self._book, context, sub_action, working, base, comment
        )


def _prompt(
    context: TaskContext,
    sub_action: SubAction,
    base: CodeProposal | None,
    feedback: Feedback,
    book: PromptBook = SHIPPED,
) -> str:
    world = context.world
    revision = book.render("fast_first")
    if base is not None:
        revision = book.render(
            "fast_again",
            code=wording.numbered(base.code),
            reason=wording.reason(feedback, base.code, book),
        )
    return book.render(
        "fast",
        name=sub_action.name,
        instruction=sub_action.instruction,
        success=sub_action.success,
        precondition=sub_action.precondition,
        interrupt=sub_action.interrupt,
        budget=str(sub_action.budget),
        stub=world.stub().strip(),
        facts=world.facts(),
        language=LANGUAGE_NOTES,
        example=wording.example(world, book),
        skills=wording.skills(context.skills, with_code=True),
        revision=revision,
    )
