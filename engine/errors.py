"""Errors of the engine: what failed, with which value, and the next step."""

from __future__ import annotations


class EngineError(Exception):
    """Base of all engine errors; `hint` says what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(EngineError):
    """A setting has a value that cannot work."""


class UnknownName(EngineError):
    """A world, task, skill or predicate term that does not exist."""


class PredicateError(EngineError):
    """A predicate that does not parse or names something the world does not have."""


class PlanError(EngineError):
    """A plan, or an edit of a plan, that cannot stand."""


class SandboxError(EngineError):
    """The sandbox itself could not do its work (not: the code in it failed)."""


class AgentError(EngineError):
    """An agent gave up: the task is beyond it, or it has nothing (new) to offer."""


class NoValidAnswer(AgentError):
    """A language model gave no valid answer within its attempts: it is too weak for its role."""


class LlmError(EngineError):
    """The language model server could not be reached or did not answer usefully."""


class ContextFull(LlmError):
    """The server refuses a call because it is longer than the model's context."""


class ReplyEndless(LlmError):
    """The server came to no end of a reply within the time that one may take."""


class BudgetSpent(EngineError):
    """The token or money budget of the run is used up."""
