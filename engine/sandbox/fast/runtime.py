"""What a running program of fast mode has: the helpers, its limits, and the world's answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import SandboxError
from engine.sandbox.fast import words
from engine.sandbox.fast.meter import FastLimit
from engine.sandbox.fast.methods import Methods
from engine.sandbox.program import Limits
from engine.sandbox.values import MESSAGE_CHARACTERS, SCALARS, copy_and_count, copy_plain
from engine.worlds.base import Answer

AnswerFunction = Callable[[str, tuple[Any, ...], Mapping[str, Any]], Answer]
"""`engine.worlds.base.PlayerState.answer`: function, arguments, keywords."""
_NO_KEYWORDS: Mapping[str, Any] = {}
_SHORT = 100
_SMALL = 2**63
_FATAL = (MemoryError, RecursionError)
"""Errors of Python that speak of the machine; code must not go on after them."""


class HostError(BaseException):
    """What a world raised while it answered, on its way out past whatever the code catches."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def no_answer(function: str, _arguments: tuple[Any, ...], _keywords: Mapping[str, Any]) -> Answer:
    """Stands where no world answers."""
    raise ValueError(f"{function}() has no world to ask")


class Runtime(Methods):
    """The helpers of one program; every helper is reached by calling it and in no other way."""

    __slots__ = ("_limits", "_printed", "answer", "calls", "last_call", "printed")

    def __init__(self, limits: Limits) -> None:
        super().__init__(round(limits.seconds_per_turn * words.STEPS_PER_SECOND))
        self._limits = limits
        self.answer: AnswerFunction = no_answer
        self.calls = 0
        self.last_call = 0
        """Number of world calls that are allowed until the next action."""
        self.printed: list[str] = []
        self._printed = 0

    def restart(self, answer: AnswerFunction, questions: int) -> None:
        """Begin an execution; `questions` may be asked before the first action."""
        self.answer = answer
        self.left = self.budget
        self.last_call = questions
        self.calls = self.depth = self._printed = 0
        self.printed = []

    def helper(self, name: str) -> Any:
        """What stands for a name of the translation's own.

        Raises:
            TypeError: there is no such helper.
        """
        if name not in HELPERS:
            raise TypeError(f"fast mode has no helper {name!r}")
        plain = name.removeprefix(words.HELPER)
        if plain == "fatal":
            return _FATAL
        return words.ERRORS[plain] if plain in words.ERRORS else getattr(self, plain)

    def op_ask(
        self,
        function: str,
        arguments: tuple[Any, ...],
        keywords: Mapping[str, Any] = _NO_KEYWORDS,
    ) -> Any:
        """The world's answer to a question whose arguments are known to be plain data."""
        self.calls += 1
        if self.calls > self.last_call:
            raise self.too_many_questions()
        try:
            value = self.answer(function, arguments, keywords)
        except ValueError as error:
            raise ValueError(str(error)[:MESSAGE_CHARACTERS]) from None
        except Exception as error:
            raise HostError(error) from None
        return value if type(value) in SCALARS else self._taken_in(value)

    def op_ask_with(self, function: str, arguments: tuple[Any, ...]) -> Any:
        """The world's answer to a question with arguments of any kind."""
        for value in arguments:
            kind = type(value)
            if kind is str:
                if len(value) < _SHORT:
                    continue
            elif kind is int and -_SMALL < value < _SMALL:
                continue
            arguments = tuple([self.given_out(function, value) for value in arguments])
            break
        return self.op_ask(function, arguments)

    def op_ask_named(
        self, function: str, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """The world's answer to a question with named arguments."""
        given = tuple([self.given_out(function, value) for value in arguments])
        named = {name: self.given_out(function, value) for name, value in keywords.items()}
        return self.op_ask(function, given, named)

    def given_out(self, function: str, value: Any) -> Any:
        """A value on its way to the world, where it is plain data.

        Raises:
            FastLimit: it is not.
        """
        kind = type(value)
        if kind in SCALARS and kind is not int and (kind is not str or len(value) < _SHORT):
            return value
        try:
            copied, count = copy_and_count(value)
        except ValueError as error:
            message = f"{function}() was called with {error}"
            raise FastLimit("exception", message) from None
        self.op_tick(4 * count)
        return copied

    def _taken_in(self, value: Any) -> Any:
        """A value on its way into the code: the code may change what it gets, so a copy."""
        try:
            return copy_plain(value)
        except ValueError as error:
            message = f"the world answered with {error}"
            raise HostError(SandboxError(message, "mend the world's `answer`")) from error

    def too_many_questions(self) -> FastLimit:
        """The code asks and never acts."""
        asked = self._limits.questions_per_frame
        return FastLimit("questions", f"asked {asked} questions without taking an action")

    def fn_print(self, *values: Any) -> None:
        """`print(*values)`, kept up to a limit."""
        text = " ".join([self.fn_str(value) for value in values]) + "\n"
        self._printed += len(text)
        if self._printed > self._limits.output_bytes:
            message = f"printed more than {self._limits.output_bytes} bytes"
            raise FastLimit("output", message)
        self.printed.append(text)


HELPERS: frozenset[str] = frozenset(
    words.HELPER + name
    for name in (*dir(Runtime), *words.ERRORS, "fatal")
    if name.startswith(("op_", "fn_", "m_")) or name in words.ERRORS or name == "fatal"
)
"""The names under which translated code finds them; nothing else of this process is named there."""
