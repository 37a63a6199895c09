"""The critic through a language model: figures by program, words by the model."""

from __future__ import annotations

import logging

from engine.agents.last_frame import LastFrame
from engine.agents.llm import wording
from engine.agents.llm.answers import CritiqueAnswer
from engine.agents.plan import CodeProposal, Critique, SubAction, Trial
from engine.agents.prompts.render import SHIPPED, PromptBook
from engine.agents.protocols import TaskContext
from engine.agents.rules.critic import RulesCritic
from engine.errors import AgentError
from engine.llm.client import LlmClient
from engine.llm.picture import Picture, picture_of

_log = logging.getLogger(__name__)


class LlmCritic:
    """The rules' judgement, explained by a model where something failed."""

    def __init__(self, client: LlmClient, book: PromptBook = SHIPPED) -> None:
        self._client = client
        self._book = book
        self._rules = RulesCritic()
        self.author = client.author

    def judge(
        self,
        context: TaskContext,
        sub_action: SubAction,
        proposal: CodeProposal,
        trials: tuple[Trial, ...],
        pass_rate: float,
        last_frame: LastFrame | None = None,
    ) -> Critique:
        """Success rate and verdict by program; the model explains failures and suggests.

        Where no trial started or none failed there is nothing to explain and no model is asked;
        the critique is then signed by the rules, as it is when the model gives no valid answer.
        The model sees the last frame where there is one and `llm.images` is on.

        Raises:
            LlmError, BudgetSpent: see `LlmClient.ask`.
        """
        judged = self._rules.judge(context, sub_action, proposal, trials, pass_rate)
        if judged.trials == 0 or judged.success_rate == 1.0:
            return judged
        try:
            answer = self._client.ask(
                "critic",
                self._book.render("system", role="critic", world=context.world.title),
                _prompt(context, sub_action, proposal, trials, judged, self._book),
                CritiqueAnswer,
                subject=sub_action.name,
                picture=_picture(last_frame, self._book),
            )
        except AgentError as error:
            _log.warning("the critic's words are by rules: %s", error.message)
            return judged
        return judged.model_copy(
            update={
                "typical_failure": answer.typical_failure,
                "text": answer.text,
                "suggestion": answer.suggestion,
                "author": self.author,
            }
        )


def _picture(last_frame: LastFrame | None, book: PromptBook = SHIPPED) -> Picture | None:
    if last_frame is None:
        return None
    words = book.render("critic_picture", seed=str(last_frame.seed))
    return picture_of(last_frame.pixels, words)


def _prompt(
    context: TaskContext,
    sub_action: SubAction,
    proposal: CodeProposal,
    trials: tuple[Trial, ...],
    judged: Critique,
    book: PromptBook = SHIPPED,
) -> str:
    return book.render(
        "critic",
        name=sub_action.name,
        instruction=sub_action.instruction,
        success=sub_action.success,
        precondition=sub_action.precondition,
        interrupt=sub_action.interrupt,
        budget=str(sub_action.budget),
        code=wording.numbered(proposal.code),
        stub=context.world.stub().strip(),
        facts=context.world.facts(),
        verdict=f"{wording.verdict(judged)} {judged.text}",
        trials=wording.trials(trials),
    )
