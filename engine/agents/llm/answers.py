"""What the agents ask a language model for."""

from __future__ import annotations

from pydantic import Field

from engine.agents.plan import Identifier, Record, ShapingTerm, SubAction, Subtask
from engine.llm.answers import fenced_block


class SubtaskAnswer(Record):
    """A subtask as the planner names it, not yet divided."""

    name: Identifier
    goal: str = Field(min_length=1)
    success: str = Field(min_length=1)
    depends_on: tuple[Identifier, ...]
    reuses: tuple[Identifier, ...] = ()

    def subtask(self) -> Subtask:
        """The record of the plan."""
        return Subtask(
            name=self.name,
            goal=self.goal,
            success=self.success,
            depends_on=self.depends_on,
            reuses=self.reuses,
        )


class SubtasksAnswer(Record):
    """The planner's answer."""

    subtasks: tuple[SubtaskAnswer, ...] = Field(min_length=1, max_length=40)


class SubActionsAnswer(Record):
    """The slow agent's answer."""

    sub_actions: tuple[SubAction, ...] = Field(min_length=1, max_length=20)


class DividedSubtask(Record):
    """A subtask's name with its sub-actions."""

    name: Identifier
    sub_actions: tuple[SubAction, ...] = Field(min_length=1, max_length=20)


class DividedAnswer(Record):
    """The slow agent's answer for all subtasks at once."""

    subtasks: tuple[DividedSubtask, ...] = Field(min_length=1, max_length=40)


class CodeAnswer(Record):
    """The fast agent's answer."""

    code: str = Field(min_length=1)
    comment: str


class LearningAnswer(Record):
    """The fast agent's answer about an rl sub-action."""

    actions: tuple[Identifier, ...] = Field(max_length=80)
    observation: tuple[str, ...] = Field(max_length=40)
    shaping: tuple[ShapingTerm, ...] = Field(max_length=8)
    reason: str = Field(min_length=1)


class CritiqueAnswer(Record):
    """The critic's words; the figures are not the model's."""

    typical_failure: str
    text: str = Field(min_length=1)
    suggestion: str


def code_in_text(text: str) -> CodeAnswer | None:
    """The program of a reply that is a fenced block with words around it, as small models write."""
    block = fenced_block(text)
    if block is None or "def run" not in block:
        return None
    words = text.partition("```")[0].strip()
    return CodeAnswer(code=block, comment=words[:500])


def bare_code(code: str) -> str:
    """Code without a fence around it and with one line break at its end."""
    block = fenced_block(code)
    inner = block if block is not None and "def run" in block else code
    return inner.strip() + "\n"
