"""The sandbox of one process: a pool of Monty workers, the static check, and loaded programs."""

from __future__ import annotations

import ast
import datetime
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from types import TracebackType
from typing import Self
from weakref import WeakSet

from pydantic_monty import (
    Monty,
    MontyCrashedError,
    MontySession,
    OSPolicy,
    ResourceLimits,
)

from engine.agents.plan import CodeDiagnostic, code_hash
from engine.errors import SandboxError
from engine.sandbox import allow_list
from engine.sandbox.hardening import write_wrapper
from engine.sandbox.program import Limits, Program, function_handle
from engine.sandbox.stub import read_stub
from engine.sandbox.type_check import load_check, type_check

__all__ = ["Limits", "Sandbox"]

_log = logging.getLogger(__name__)
_CHECKOUT_ATTEMPTS = 4
_CHECKOUT_SECONDS = 30.0
_GRACE_SECONDS = 1.0
_TYPE_CHECK_SECONDS = 5.0
"""The checker needs 20 ms for a program; made to explode, it is killed after this."""
_CACHED_CHECKS = 512
_FROZEN_CLOCK = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
_POLICY = OSPolicy(datetime=_FROZEN_CLOCK, timezone="utc", sleep="zero", random_start={"seed": 0})
"""Whatever code might ask of the machine has one answer, so executions can be repeated."""

_first_process: int | None = None


class Sandbox:
    """Checks and runs policy code; one per process, safe to use from several threads.

    Worker processes start with the first check or load. Never fork a process that has used a
    sandbox: in the child every call hangs. Start processes by `spawn` or `forkserver`, and make
    the sandbox there.

    Args:
        stub: text of the world's `api.pyi`.
        functions: names of the stub that reach the host; anything else is refused.
        limits: of one execution.
        max_processes: executions under way at the same time.
        harden: start workers inside bubblewrap where it works.
    """

    def __init__(
        self,
        stub: str,
        functions: frozenset[str],
        limits: Limits = Limits(),  # noqa: B008 - a frozen dataclass
        *,
        max_processes: int = 256,
        harden: bool = True,
    ) -> None:
        self._stub = read_stub(stub)
        if unknown := functions - self._stub.functions:
            raise SandboxError(
                f"functions that the stub does not declare: {sorted(unknown)!r}",
                "add them to the world's api.pyi",
            )
        self._handles = {name: function_handle(name) for name in sorted(functions)}
        self._limits = limits
        self._max_processes = max_processes
        self._harden = harden
        self._lock = Lock()
        self._stack = ExitStack()
        self._folder: Path | None = None
        self._script: Path | None = None
        self._pool: Monty | None = None
        self._checker: Monty | None = None
        self._closed = False
        self._programs: WeakSet[Program] = WeakSet()
        self._checked: dict[str, tuple[CodeDiagnostic, ...]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def functions(self) -> frozenset[str]:
        """Names of the functions of the world that programs may call."""
        return frozenset(self._handles)

    @property
    def limits(self) -> Limits:
        """Of one execution."""
        return self._limits

    def check(self, code: str) -> tuple[CodeDiagnostic, ...]:
        """Syntax, allow-list, `run() -> str`, and the type check; empty when all is well.

        The code does not run, except what stands outside its functions. Remembered by the code's
        hash.
        """
        tree = allow_list.parse(code)
        if isinstance(tree, CodeDiagnostic):
            return (tree,)
        key = code_hash(code)
        with self._lock:
            known = self._checked.get(key)
        if known is not None:
            return known
        with self._waited_for():
            found = self._check(code, tree)
        with self._lock:
            if len(self._checked) >= _CACHED_CHECKS:
                self._checked.pop(next(iter(self._checked)))
            self._checked[key] = found
        return found

    def load(self, code: str) -> Program:
        """Code as a program. Does not check it: that is `check`'s work, and a person's.

        Raises:
            SandboxError: the code does not even load; says why.
        """
        unreadable = allow_list.parse(code)
        if isinstance(unreadable, CodeDiagnostic):
            raise _does_not_load(unreadable)
        pool = self._started()
        with self._waited_for():
            refused = load_check(pool, code, self._resource_limits())
        if refused:
            raise _does_not_load(refused[0])
        program = Program(code, self._session, self._handles, self._limits)
        self._programs.add(program)
        return program

    def close(self) -> None:
        """End all executions and worker processes; may be called again."""
        with self._lock:
            self._closed = True
            self._pool = self._checker = None
        for program in tuple(self._programs):
            program.close()
        self._stack.close()

    def _check(self, code: str, tree: ast.Module) -> tuple[CodeDiagnostic, ...]:
        refused = allow_list.findings(code, tree, self._stub)
        lines = {found.line for found in refused}
        typed = type_check(self._started_checker(), code, self._stub)
        found = (*refused, *(f for f in typed if f.line not in lines))
        if not found:
            found = load_check(self._started(), code, self._resource_limits())
        return tuple(sorted(found, key=lambda f: (f.line, f.column)))

    def _resource_limits(self) -> ResourceLimits:
        # Name look-ups count as suspensions too; `Program` counts both and stops first.
        return ResourceLimits(
            max_turn_duration_secs=self._limits.seconds_per_turn,
            max_memory=self._limits.memory_bytes,
            max_suspensions=self._limits.calls + 1,
        )

    def _session(self) -> MontySession:
        """A fresh session on a worker of its own.

        On a machine that is busy beyond its means a worker can miss its time-out before any code
        is in it; that says nothing about the code, so another worker is tried.
        """
        crashed: MontyCrashedError | None = None
        for _ in range(_CHECKOUT_ATTEMPTS):
            try:
                with self._waited_for():
                    limits = self._resource_limits()
                    return self._started().checkout(limits=limits, os_policy=_POLICY).__enter__()
            except MontyCrashedError as error:
                crashed = error
        raise SandboxError(
            f"{_CHECKOUT_ATTEMPTS} sandbox workers in a row did not start: {crashed}",
            "the machine may be out of memory or overloaded; resume the run when it is not",
        ) from crashed

    @contextmanager
    def _waited_for(self) -> Iterator[None]:
        """Around calls that may wait for a worker, the only time-out Monty itself raises."""
        try:
            yield
        except TimeoutError as error:
            raise SandboxError(
                f"no sandbox worker came free within {_CHECKOUT_SECONDS:g} s",
                f"at most {self._max_processes} programs can be under way at once",
            ) from error

    def _started(self) -> Monty:
        """The pool that runs programs."""
        _refuse_fork()
        with self._lock:
            if self._pool is None:
                seconds = self._limits.seconds_per_turn + _GRACE_SECONDS
                self._pool = self._start(seconds, self._max_processes)
            return self._pool

    def _started_checker(self) -> Monty:
        """The pool that checks types: its workers grow to 28 MB and may take longer."""
        _refuse_fork()
        with self._lock:
            if self._checker is None:
                self._checker = self._start(_TYPE_CHECK_SECONDS, 1)
            return self._checker

    def _start(self, request_seconds: float, processes: int) -> Monty:
        if self._closed:
            raise SandboxError("the sandbox is closed", "make a new one")
        try:
            return self._stack.enter_context(
                Monty(
                    binary_path=self._wrapper(),
                    min_processes=1,
                    max_processes=processes,
                    checkout_timeout=_CHECKOUT_SECONDS,
                    request_timeout=request_seconds,
                    turn_duration_limit_grace=_GRACE_SECONDS,
                )
            )
        except (OSError, RuntimeError) as error:
            raise SandboxError(
                f"the sandbox worker could not be started: {error}",
                "reinstall the package `pydantic-monty`",
            ) from error

    def _wrapper(self) -> Path | None:
        if self._harden and self._folder is None:
            self._folder = Path(
                self._stack.enter_context(TemporaryDirectory(prefix="rlgpt-sandbox-"))
            )
            self._script = write_wrapper(self._folder)
        return self._script


def _does_not_load(found: CodeDiagnostic) -> SandboxError:
    return SandboxError(
        f"the code does not load: line {found.line}: {found.message}", "check the code and mend it"
    )


def _refuse_fork() -> None:
    """Refuse to work in a fork of a process that has used a sandbox, where calls would hang.

    A pool that was inherited is no better than a new one: its workers talk to the parent.
    """
    global _first_process
    process = os.getpid()
    if _first_process is None:
        _first_process = process
    elif _first_process != process:
        raise SandboxError(
            "this process is a fork of one that has used a sandbox; here it would hang",
            "start processes by `spawn` or `forkserver`",
        )
