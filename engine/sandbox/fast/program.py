"""Programs of fast mode: the same turns as Monty's, and a shorter way for training."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from types import GeneratorType
from typing import Any

from engine.errors import SandboxError
from engine.sandbox.fast import words
from engine.sandbox.fast.code import FastCode, Space
from engine.sandbox.fast.memory import held_bytes
from engine.sandbox.fast.meter import BYTES, FastLimit
from engine.sandbox.fast.runtime import AnswerFunction, HostError, Runtime, no_answer
from engine.sandbox.program import Limits, result_of_run, time_message
from engine.sandbox.turns import Kind, Raised, Returned, Turn, WorldCall
from engine.sandbox.values import MESSAGE_CHARACTERS, SCALARS, copy_plain
from engine.worlds.base import Answer

Step = str | WorldCall | Returned | Raised
"""What `begin` and its like give: the name of an action as the code wrote it, or an end. What the
code gave for an action and is no short text comes as the whole call, to be rejected."""


class FastProgram:
    """One execution at a time of code that was checked and approved; cheap, so make many.

    Two ways to drive it. `start`, `answer` and `fail` are those of `engine.sandbox.program.Program`
    and stop at every world call. `begin`, `proceed` and `reject` stop at actions only: questions
    are answered inside by a function that is given. Both give the same executions; a turn of too
    many steps, or a value that grows too big, ends them as Monty's limits would.
    """

    def __init__(self, code: FastCode, limits: Limits = Limits()) -> None:  # noqa: B008 - frozen
        self._code = code
        self._limits = limits
        self._runtime = Runtime(limits)
        self._spaces: dict[bool, Space] = {}
        self._space: Space | None = None
        self._generator: GeneratorType[Any, Any, Any] | None = None
        self._inline = False
        self._line = 0
        self._steps = 0
        """Steps since memory was last looked at."""
        self._weigh_after = limits.memory_bytes // BYTES
        self._most_calls = limits.calls

    @property
    def code(self) -> str:
        """Text of the program."""
        return self._code.text

    @property
    def printed(self) -> str:
        """What the last execution printed."""
        return "".join(self._runtime.printed)

    def prepare(self) -> Raised | None:
        """Run what stands outside functions, once; how that failed, if it did."""
        opened = self._open(no_answer, inline=True)
        self.abort()
        return opened if isinstance(opened, Raised) else None

    # --- stopping at actions only -------------------------------------------------------

    def begin(self, answer: AnswerFunction) -> Step:
        """Call `run()`; the first action, or how it ended without one.

        Args:
            answer: answers questions (`PlayerState.answer`); its `ValueError` is raised inside
                the code. Kept until the execution ends.

        Raises:
            SandboxError: the last execution has not ended, or an answer is not plain data.
        """
        opened = self._open(answer, inline=True)
        return opened if isinstance(opened, Raised) else self._act(opened.send, None)

    def proceed(self, value: Answer) -> Step:
        """The action returned this; the next one, or how the execution ended.

        Raises:
            SandboxError: no action waits, or a value is not plain data.
        """
        generator = self._generator
        if generator is None or not self._inline:
            raise SandboxError("no action waits for an answer", "begin the program first")
        runtime = self._runtime
        runtime.last_call = runtime.calls + self._limits.questions_per_frame - 1
        return self._act(generator.send, value if type(value) is bool else _plain(value))

    def reject(self, message: str) -> Step:
        """The action raises `ValueError(message)` inside the code; counts as a question.

        Raises:
            SandboxError: no action waits.
        """
        generator = self._generator
        if generator is None or not self._inline:
            raise SandboxError("no action waits for an answer", "begin the program first")
        if self._runtime.calls > self._runtime.last_call:
            limit = self._runtime.too_many_questions()
            return self._stop(limit.kind, limit.message)
        return self._act(generator.throw, ValueError(message[:MESSAGE_CHARACTERS]))

    def _act(self, resume: Callable[[Any], Any], value: Any) -> Step:
        runtime = self._runtime
        self._steps += runtime.budget - runtime.left
        if self._steps > self._weigh_after and self._is_heavy():
            return self._stop("memory", self._memory_message())
        runtime.left = runtime.budget
        try:
            action = resume(value)
        except BaseException as error:
            return self._ended(error)
        runtime.calls += 1
        if runtime.calls > self._most_calls:
            return self._stop("calls", self._calls_message())
        if type(action) is str and len(action) < MESSAGE_CHARACTERS:
            return action
        return self._world_call(self._code.primitive, (action,), {}, self._place())

    # --- stopping at every world call ---------------------------------------------------

    def start(self) -> Turn:
        """Call `run()`; the first world call, or how it ended without one.

        Raises:
            SandboxError: the last execution has not ended.
        """
        opened = self._open(no_answer, inline=False)
        return opened if isinstance(opened, Raised) else self._turn(opened.send, None)

    def answer(self, value: Answer) -> Turn:
        """The world call returned this; the next turn.

        Raises:
            SandboxError: no world call waits, or the value is not plain data.
        """
        value = _plain(value)
        return self._turn(self._waiting().send, value)

    def fail(self, message: str) -> Turn:
        """The world call raises `ValueError(message)` inside the code; the next turn."""
        return self._turn(self._waiting().throw, ValueError(message[:MESSAGE_CHARACTERS]))

    def _waiting(self) -> GeneratorType[Any, Any, Any]:
        if self._generator is None or self._inline:
            raise SandboxError("no world call waits for an answer", "start the program first")
        return self._generator

    def _turn(self, resume: Callable[[Any], Any], value: Any) -> Turn:
        runtime = self._runtime
        self._steps += runtime.budget - runtime.left
        if self._steps > self._weigh_after and self._is_heavy():
            return self._stop("memory", self._memory_message())
        runtime.left = runtime.budget
        try:
            name, self._line, arguments, keywords = resume(value)
        except BaseException as error:
            return self._ended(error)
        runtime.calls += 1
        if runtime.calls > self._most_calls:
            return self._stop("calls", self._calls_message())
        return self._world_call(name, arguments, keywords, self._line)

    # --- beginning and ending -----------------------------------------------------------

    def abort(self) -> None:
        """End the execution whatever the code would catch; a later `start` or `begin` works."""
        generator, self._generator = self._generator, None
        if generator is not None:
            generator.close()
        self._runtime.answer = no_answer

    def close(self) -> None:
        """End the execution, if there is one."""
        self.abort()

    def _open(
        self, answer: AnswerFunction, *, inline: bool
    ) -> GeneratorType[Any, Any, Any] | Raised:
        if self._generator is not None:
            raise SandboxError(
                "the program was started while an execution of it is under way",
                "answer its world call, or abort it first",
            )
        runtime = self._runtime
        runtime.restart(answer, self._limits.questions_per_frame - 1)
        self._line = self._steps = 0
        self._inline = inline
        space = self._spaces.get(inline)
        if space is None:
            code = self._code.inline if inline else self._code.turns
            space = self._spaces[inline] = Space(code, self._code.constants, runtime)
        self._space = space
        try:
            self._generator = space.run()
        except BaseException as error:
            return self._raised(error)
        return self._generator

    def _world_call(
        self, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any], line: int
    ) -> WorldCall | Raised:
        give = self._runtime.given_out
        try:
            given = tuple(give(name, value) for value in arguments)
            named = {word: give(name, value) for word, value in keywords.items()}
        except FastLimit as limit:
            return self._stop(limit.kind, self._words_of(limit))
        return WorldCall(name, given, named, line)

    def _stop(self, kind: Kind, message: str) -> Raised:
        line = self._place()
        self.abort()
        return Raised(message, line, kind)

    def _ended(self, error: BaseException) -> Returned | Raised:
        """How the execution ended, from what came out of it."""
        self._generator = None
        self._runtime.answer = no_answer
        if isinstance(error, StopIteration):
            return result_of_run(error.value, self._line)
        return self._raised(error)

    def _raised(self, error: BaseException) -> Raised:
        """An error of the code, or a limit; errors of the host go on."""
        line = _line_of(error) or self._line
        if isinstance(error, FastLimit):
            return Raised(self._words_of(error), line, error.kind)
        if isinstance(error, HostError):
            raise error.error
        if isinstance(error, MemoryError):
            return Raised("the machine is out of memory", line, "memory")
        if isinstance(error, Exception):
            return Raised(_text_of(error), line, "exception")
        raise error

    def _is_heavy(self) -> bool:
        """Whether the suspended execution holds more than it may."""
        self._steps = 0
        held = [] if self._space is None else self._space.held()
        limit = self._limits.memory_bytes
        return held_bytes([self._generator, *held], limit) > limit

    def _words_of(self, limit: FastLimit) -> str:
        return time_message(self._limits) if limit.kind == "time" else limit.message

    def _memory_message(self) -> str:
        return f"used more than {self._limits.memory_bytes / 2**20:g} MiB of memory"

    def _calls_message(self) -> str:
        return f"more than {self._limits.calls} world calls in one execution"

    def _place(self) -> int:
        """The line at which the execution is suspended."""
        generator: Any = self._generator
        line = self._line
        while isinstance(generator, GeneratorType) and generator.gi_frame is not None:
            line = generator.gi_frame.f_lineno
            generator = generator.gi_yieldfrom
        return line


def _plain(value: Answer) -> Any:
    """An answer on its way into the code, which may change what it gets."""
    if type(value) in SCALARS:
        return value
    try:
        return copy_plain(value)
    except ValueError as error:
        raise SandboxError(
            f"the world answered with {error}", "mend the world's `answer`"
        ) from error


def _line_of(error: BaseException) -> int:
    """The line of the code in which an error arose; 0 when it did not arise there."""
    line = 0
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == words.FILENAME:
            line = step.tb_lineno
        step = step.tb_next
    return line


def _text_of(error: Exception) -> str:
    """An error as Monty words it: the name of its kind, and its text where there is one."""
    text = str(error) if not isinstance(error, KeyError) else ""
    if isinstance(error, KeyError) and error.args:
        # A tuple that was looked up can be as large as code may go through in one turn.
        key = error.args[0]
        text = key if isinstance(key, str) else reprlib.repr(key)
    name = type(error).__name__
    return f"{name}: {text}"[:MESSAGE_CHARACTERS] if text else name
