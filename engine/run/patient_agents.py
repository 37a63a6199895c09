"""Agents that ask the person what to do when the language model's server fails, and lose nothing.

Every call of a role is wrapped: a server that is dead, refuses or answers garbage ends in a durable
question (*try again*, *go on with the rules agents*, *stop*), and the very same call is made again
or made by the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from engine.agents.last_frame import LastFrame
from engine.agents.plan import CodeProposal, Critique, LearningProposal, SubAction, Subtask, Trial
from engine.agents.plan_record import NOTHING_YET, PlanRecord
from engine.agents.protocols import (
    Agents,
    CodeDraft,
    Feedback,
    LearningDraft,
    TaskContext,
    WorkingCode,
)
from engine.agents.rules.agents import rules_agents
from engine.errors import LlmError
from engine.events import AgentsChanged
from engine.run.approval import Answer, answered, ask, decides_itself
from engine.run.session import Session

Result = TypeVar("Result")
RULES = "rules"


class _Patience:
    """The agents at work, and what to do when their model fails."""

    def __init__(self, session: Session, agents: Agents) -> None:
        self.session = session
        self.agents = agents

    def call(self, role: str, do: Callable[[Agents], Result]) -> Result:
        """What `do` gives, however often the person has it tried.

        Raises:
            LlmError: nobody is asked (`approve=all`).
            RunStopped, RunWaits: see `engine.run.approval.ask`.
        """
        while True:
            try:
                return do(self.agents)
            except LlmError as error:
                self._ask(role, error)

    def _ask(self, role: str, error: LlmError) -> None:
        session = self.session
        answer = answered(session, "model")  # of an earlier process, whatever failed in it
        if answer is not None:
            self._obey(answer, error)
            return
        session.control()
        if decides_itself(session, "model"):
            raise LlmError(
                error.message,
                f"{error.hint} Then: rlgpt-studio resume {session.run_id}, or without a model: "
                f"rlgpt-studio resume {session.run_id} --set agents=rules",
            ) from error
        config = session.config.llm
        payload = {
            "message": error.message,
            "hint": error.hint,
            "role": role,
            "model": config.model,
            "base_url": config.base_url,
        }
        before = session.state
        self._obey(ask(session, "model", f"{role}: {config.model}", payload), error)
        if before is not None:
            session.enter(*before)

    def _obey(self, answer: Answer, error: LlmError) -> None:
        # The question is closed last: a process that dies in between finds its answer again.
        if answer.decision == "modify":
            self._switch_to_rules(error.message)
        self.session.save()

    def _switch_to_rules(self, why: str) -> None:
        session = self.session
        session.config = session.config.changed({"agents": RULES})
        session.journal.set_config(session.run_id, session.config.model_dump(mode="json"))
        self.agents = rules_agents(session.world)
        session.emit(AgentsChanged(agents=RULES, why=why))


class _Role:
    """One of the four roles; signs as the agents do that are at work now."""

    def __init__(self, patience: _Patience, role: str) -> None:
        self._patience = patience
        self._role = role

    @property
    def author(self) -> str:
        """Who is at work in this role."""
        return str(getattr(self._patience.agents, self._role).author)

    def _call(self, do: Callable[[Agents], Result]) -> Result:
        return self._patience.call(self._role, do)


class _Planner(_Role):
    def subtasks(self, context: TaskContext) -> tuple[Subtask, ...]:
        return self._call(lambda agents: agents.planner.subtasks(context))


class _SlowAgent(_Role):
    def divide(
        self, context: TaskContext, subtasks: tuple[Subtask, ...]
    ) -> Mapping[str, tuple[SubAction, ...]]:
        return self._call(lambda agents: agents.slow.divide(context, subtasks))

    def sub_actions(
        self,
        context: TaskContext,
        subtask: Subtask,
        earlier: tuple[SubAction, ...],
        critiques: tuple[Critique, ...],
        record: PlanRecord = NOTHING_YET,
    ) -> tuple[SubAction, ...]:
        return self._call(
            lambda agents: agents.slow.sub_actions(context, subtask, earlier, critiques, record)
        )


class _FastAgent(_Role):
    def write(
        self,
        context: TaskContext,
        sub_action: SubAction,
        base: CodeProposal | None,
        feedback: Feedback,
    ) -> CodeDraft:
        return self._call(lambda agents: agents.fast.write(context, sub_action, base, feedback))

    def configure(
        self,
        context: TaskContext,
        sub_action: SubAction,
        working: tuple[WorkingCode, ...],
        base: LearningProposal | None,
        comment: str,
    ) -> LearningDraft | None:
        return self._call(
            lambda agents: agents.fast.configure(context, sub_action, working, base, comment)
        )


class _Critic(_Role):
    def judge(
        self,
        context: TaskContext,
        sub_action: SubAction,
        proposal: CodeProposal,
        trials: tuple[Trial, ...],
        pass_rate: float,
        last_frame: LastFrame | None = None,
    ) -> Critique:
        return self._call(
            lambda agents: agents.critic.judge(
                context, sub_action, proposal, trials, pass_rate, last_frame
            )
        )


def patient(session: Session, agents: Agents) -> Agents:
    """The same agents, patient with their server."""
    patience = _Patience(session, agents)
    return Agents(
        planner=_Planner(patience, "planner"),
        slow=_SlowAgent(patience, "slow"),
        fast=_FastAgent(patience, "fast"),
        critic=_Critic(patience, "critic"),
    )
