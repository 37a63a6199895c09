"""Loaded policy code: started, answered call by call, and ended whatever the code does."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

from pydantic_monty import (
    FunctionSnapshot,
    MontyComplete,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySession,
    NameLookupSnapshot,
)

from engine.errors import SandboxError
from engine.sandbox.turns import Kind, Raised, Returned, Turn, WorldCall
from engine.sandbox.values import (
    MESSAGE_CHARACTERS,
    RESULT_CHARACTERS,
    SCALARS,
    require_plain,
)
from engine.worlds.base import Answer

_START = "\nrun()\n"
_OWN_SOURCE = "<python-input"
"""How Monty names text that was fed to a session; text given to `eval` is named otherwise."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one execution of policy code may use."""

    seconds_per_turn: float = 1.0
    """Computing time between two world calls."""
    memory_bytes: int = 64 * 2**20
    calls: int = 200_000
    """World calls of one execution, free queries included."""
    output_bytes: int = 8192
    """Printed text of one execution."""
    questions_per_frame: int = 1_000
    """Queries between two actions, where the executor answers them itself."""


class OutputFlood(Exception):
    """The code printed more than it may."""


class Output:
    """Keeps what the code prints, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self._size = 0
        self.flooded = False

    def __call__(self, _stream: Literal["stdout", "stderr"], text: str) -> None:
        """Take a piece of printed text; Monty calls this."""
        self._size += len(text)
        if self._size > self._limit:
            self.flooded = True
            raise OutputFlood
        self._parts.append(text)

    @property
    def text(self) -> str:
        """What was printed so far."""
        return "".join(self._parts)


def function_handle(name: str) -> Callable[..., Any]:
    """A value that stands for a world function when code stores it under another name."""

    def handle(*_args: Any, **_kwargs: Any) -> Any:
        raise SandboxError(f"the world function {name!r} was called past its program")

    handle.__name__ = handle.__qualname__ = name
    return handle


class Program:
    """Policy code that can be executed again and again, one execution at a time.

    Every execution gets a fresh session: global variables begin anew, nothing of an execution
    that was aborted or hit a limit is left. Made by `Sandbox.load`.
    """

    def __init__(
        self,
        code: str,
        checkout: Callable[[], MontySession],
        handles: dict[str, Callable[..., Any]],
        limits: Limits,
    ) -> None:
        self.code = code
        self._source = code + _START
        self._checkout = checkout
        self._handles = handles
        self._limits = limits
        self._line_starts = [0, *accumulate(len(line) + 1 for line in code.encode().split(b"\n"))]
        self._session: MontySession | None = None
        self._snapshot: FunctionSnapshot | None = None
        self._output = Output(limits.output_bytes)
        self._calls = 0
        self._line = 0

    @property
    def printed(self) -> str:
        """What the last execution printed."""
        return self._output.text

    def start(self) -> Turn:
        """Call `run()`; the first world call, or how it ended without one.

        Raises:
            SandboxError: the last execution has not ended, or no sandbox worker could be had.
        """
        if self._session is not None:
            raise SandboxError(
                "the program was started while an execution of it is under way",
                "answer its world call, or abort it first",
            )
        self._output = Output(self._limits.output_bytes)
        self._calls = 0
        self._line = 0
        self._session = session = self._checkout()
        return self._advance(lambda: session.feed_start(self._source, print_callback=self._output))

    def answer(self, value: Answer) -> Turn:
        """The world call returned this; the next turn.

        Raises:
            SandboxError: no world call waits, or the value is not plain data.
        """
        if type(value) not in SCALARS:
            try:
                require_plain(value)
            except ValueError as error:
                raise SandboxError(
                    f"the world answered with {error}", "mend the world's `answer`"
                ) from error
        snapshot = self._waiting()
        return self._advance(lambda: snapshot.resume({"return_value": value}))

    def fail(self, message: str) -> Turn:
        """The world call raises `ValueError(message)` inside the code; the next turn."""
        snapshot = self._waiting()
        return self._advance(
            lambda: snapshot.resume({"exception": ValueError(message[:MESSAGE_CHARACTERS])})
        )

    def abort(self) -> None:
        """End the execution whatever the code would catch; a later `start` works."""
        session, self._session, self._snapshot = self._session, None, None
        if session is not None:
            session.__exit__(None, None, None)

    def close(self) -> None:
        """End the execution, if there is one, and give its worker back."""
        self.abort()

    def _waiting(self) -> FunctionSnapshot:
        if self._snapshot is None:
            raise SandboxError("no world call waits for an answer", "start the program first")
        return self._snapshot

    def _advance(self, step: Callable[[], Any]) -> Turn:
        """Run the code until its next world call or its end; bookkeeping for both."""
        while True:
            self._snapshot = None
            try:
                snapshot = step()
            except (MontyError, OutputFlood) as error:
                return self._end(self._explain(error))
            if isinstance(snapshot, MontyComplete):
                return self._end(self._result(snapshot.output))
            self._calls += 1
            if self._calls > self._limits.calls:
                return self._end(self._too_many_calls())
            self._line = self._line_of(snapshot.position) or self._line
            if isinstance(snapshot, FunctionSnapshot):
                return self._call(snapshot)
            handle = (
                self._handles.get(snapshot.variable_name)
                if isinstance(snapshot, NameLookupSnapshot)
                else None
            )
            if handle is None:
                return self._end(self._no_such_name(snapshot))
            step = _bind(snapshot, handle)

    def _call(self, snapshot: FunctionSnapshot) -> Turn:
        name = snapshot.function_name
        if snapshot.is_os_function or name not in self._handles:
            return self._end(_refused(snapshot, self._line))
        args, kwargs = snapshot.args, snapshot.kwargs
        for value in (*args, *kwargs.values()):
            if type(value) is str and len(value) < MESSAGE_CHARACTERS:
                continue
            try:
                require_plain(value)
            except ValueError as error:
                message = f"{name}() was called with {error}"
                return self._end(Raised(message, self._line, "exception"))
        self._snapshot = snapshot
        return WorldCall(name, args, kwargs, self._line)

    def _end(self, turn: Turn) -> Turn:
        self.abort()
        return turn

    def _result(self, value: Any) -> Turn:
        return result_of_run(value, self._line)

    def _too_many_calls(self) -> Raised:
        message = f"more than {self._limits.calls} world calls in one execution"
        return Raised(message, self._line, "calls")

    def _no_such_name(self, snapshot: Any) -> Raised:
        name = getattr(snapshot, "variable_name", None)
        message = (
            f"NameError: name {name!r} is not defined"
            if name is not None
            else "the code awaits something: policy code must be plain functions, not async"
        )
        return Raised(message, self._line, "exception")

    def _line_of(self, position: Any) -> int:
        """The 1-based line of a position in the code; 0 for text made up by the code itself."""
        if not position.filename.startswith(_OWN_SOURCE):
            return 0
        line = bisect_right(self._line_starts, position.start)
        return line if line < len(self._line_starts) else 0

    def _explain(self, error: Exception) -> Raised:
        """What ended the execution, in words for the code's author."""
        limits = self._limits
        if self._output.flooded:
            message = f"printed more than {limits.output_bytes} bytes"
            return Raised(message, self._line, "output")
        text = str(error)[:MESSAGE_CHARACTERS]
        if isinstance(error, MontyCrashedError):
            if error.timed_out or "limit" in text:
                return Raised(time_message(limits), self._line, "time")
            return Raised(f"the sandbox worker died: {text}", self._line, "crash")
        line = self._line
        if isinstance(error, MontyRuntimeError):
            lines = [
                frame.line
                for frame in error.traceback()
                if frame.filename.startswith(_OWN_SOURCE) and frame.line < len(self._line_starts)
            ]
            line = lines[-1] if lines else line
        return Raised(*_limit_or_exception(text, limits, line))


def _bind(snapshot: NameLookupSnapshot, handle: Callable[..., Any]) -> Callable[[], Any]:
    return lambda: snapshot.resume(value=handle)


def result_of_run(value: Any, line: int) -> Returned | Raised:
    """How a program ended that returned this."""
    if type(value) is str:
        return Returned(value[:RESULT_CHARACTERS])
    message = f"run() must return a text (str), it returned a {type(value).__name__}"
    return Raised(message, line, "exception")


def time_message(limits: Limits) -> str:
    """What is said of code that computes for too long."""
    return (
        f"computed for more than {limits.seconds_per_turn:g} s without a world call: "
        "an endless loop, or far too much arithmetic"
    )


def _limit_or_exception(text: str, limits: Limits, line: int) -> tuple[str, int, Kind]:
    if text.startswith("TimeoutError: turn time limit exceeded"):
        return time_message(limits), line, "time"
    if text.startswith("MemoryError: memory limit exceeded"):
        return f"used more than {limits.memory_bytes / 2**20:g} MiB of memory", line, "memory"
    if text.startswith("RuntimeError: suspension limit"):
        return f"more than {limits.calls} world calls in one execution", line, "calls"
    if "cannot suspend in this synchronous context" in text:
        text += "; call world functions in a loop, not from a `key` function or `map`"
    return text, line, "exception"


def _refused(snapshot: FunctionSnapshot, line: int) -> Raised:
    name = str(snapshot.function_name)
    if not snapshot.is_os_function:
        message = f"the function {name!r} does not exist: not in the code, not in the world's stub"
    elif name == "import":
        module = str(snapshot.args[0])[:80] if snapshot.args else "?"
        message = f"the module {module!r} does not exist in the sandbox"
    else:
        message = f"{name!r} is refused: policy code has no files, network, clock or environment"
    return Raised(message, line, "exception")
