"""Fast mode as a sandbox: loads what it accepts, and leaves the rest to Monty."""

from __future__ import annotations

import logging
from threading import Lock
from types import TracebackType
from typing import Literal, Self
from weakref import WeakSet

from engine.agents.plan import CodeDiagnostic, code_hash
from engine.errors import SandboxError
from engine.sandbox.fast.code import FastCode, NotAccepted
from engine.sandbox.fast.program import FastProgram
from engine.sandbox.pool import Sandbox
from engine.sandbox.program import Program
from engine.sandbox.turns import Raised

_log = logging.getLogger(__name__)
_KEPT_CODES = 512
Executor = Literal["fast", "monty"]


class FastSandbox:
    """Checks as Monty's sandbox does, and loads accepted code as programs of this process.

    For code that a person approved and in a process that does nothing but train: the code runs
    beside the learner, with no wall of the operating system between them. What keeps it in is the
    subset (`engine.sandbox.fast.subset`), the bounds of every helper, and the limits of the
    process (`engine.sandbox.limits`). Off unless the person allows it.

    Args:
        sandbox: Monty's; checks all code and runs what is not accepted here. It is not closed with
            this one.
        primitive: the one function of the world that takes a frame.
    """

    def __init__(self, sandbox: Sandbox, primitive: str) -> None:
        if primitive not in sandbox.functions:
            raise SandboxError(
                f"the world has no function {primitive!r}",
                f"name one of: {', '.join(sorted(sandbox.functions))}",
            )
        self._sandbox = sandbox
        self._primitive = primitive
        self._lock = Lock()
        self._codes: dict[str, FastCode | NotAccepted] = {}
        self._programs: WeakSet[FastProgram] = WeakSet()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def check(self, code: str) -> tuple[CodeDiagnostic, ...]:
        """Monty's check: what a person approves does not depend on who runs it."""
        return self._sandbox.check(code)

    def refusals(self, code: str) -> tuple[CodeDiagnostic, ...]:
        """Why fast mode leaves this code to Monty; empty when it runs the code itself."""
        found = self._translated(code)
        return found.diagnostics if isinstance(found, NotAccepted) else ()

    def executor(self, code: str) -> Executor:
        """Which executor `load` gives this code to."""
        return "monty" if self.refusals(code) else "fast"

    def load(self, code: str) -> FastProgram | Program:
        """Code as a program. Does not check it: that is `check`'s work, and a person's.

        Raises:
            SandboxError: the code does not even load; says why.
        """
        if self._closed:
            raise SandboxError("the sandbox is closed", "make a new one")
        found = self._translated(code)
        if isinstance(found, NotAccepted):
            return self._sandbox.load(code)
        program = FastProgram(found, self._sandbox.limits)
        failed = program.prepare()
        if isinstance(failed, Raised):
            raise SandboxError(
                f"the code does not load: line {failed.line}: {failed.message}",
                "check the code and mend it",
            )
        with self._lock:
            self._programs.add(program)
        return program

    def close(self) -> None:
        """End all executions of fast mode; may be called again."""
        self._closed = True
        with self._lock:
            programs = tuple(self._programs)
        for program in programs:
            program.close()

    def _translated(self, code: str) -> FastCode | NotAccepted:
        try:
            key = code_hash(code)
        except UnicodeEncodeError:
            key = ""
        with self._lock:
            known = self._codes.get(key)
        if known is not None:
            return known
        made: FastCode | NotAccepted
        try:
            made = FastCode(code, self._sandbox.functions, self._primitive)
        except NotAccepted as refused:
            made = refused
            _log.info("fast mode leaves code to Monty: %s", refused.message)
        if key:
            with self._lock:
                if len(self._codes) >= _KEPT_CODES:
                    self._codes.pop(next(iter(self._codes)))
                self._codes[key] = made
        return made
