"""Loaded programs kept for their next execution."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from engine.errors import SandboxError


class Loaded(Protocol):
    """A program of either executor."""

    def abort(self) -> None:
        """End the execution, whatever the code catches."""
        ...

    def close(self) -> None:
        """Give the place back."""
        ...


_Program = TypeVar("_Program", bound=Loaded)


class ProgramShelf(Generic[_Program]):
    """Programs by their code: taken for one execution, given back, and used again.

    A program runs one execution at a time, so environments that run the same code at once need
    as many programs of it. How many are under way is up to who takes them; of those that are not,
    at most `most_idle` are kept, and the ones that were not used for longest are closed.

    Args:
        load: makes a program (`Sandbox.load`, `FastSandbox.load`).
        most_idle: programs kept while nobody uses them, of all codes together.
    """

    def __init__(self, load: Callable[[str], _Program], most_idle: int = 64) -> None:
        if most_idle < 0:
            raise SandboxError(f"a shelf cannot keep {most_idle!r} programs", "keep 0 or more")
        self._load = load
        self._most_idle = most_idle
        self._lock = Lock()
        self._idle: dict[str, deque[tuple[int, _Program]]] = {}
        self._taken: dict[int, _Program] = {}
        self._count = 0
        self._clock = 0
        self._closed = False

    @property
    def idle(self) -> int:
        """Programs that wait for their next execution."""
        return self._count

    @property
    def taken(self) -> int:
        """Programs that were taken and not yet given back."""
        return len(self._taken)

    def take(self, code: str) -> _Program:
        """A program of this code that nobody uses.

        Raises:
            SandboxError: the code does not load, or the shelf is closed.
        """
        with self._lock:
            if self._closed:
                raise SandboxError("the shelf of programs is closed", "make a new one")
            waiting = self._idle.get(code)
            if waiting:
                # The newest: its memory is warm, and the oldest may fall off the shelf.
                program = waiting.pop()[1]
                self._count -= 1
                if not waiting:
                    del self._idle[code]
                self._taken[id(program)] = program
                return program
        program = self._load(code)
        with self._lock:
            self._taken[id(program)] = program
        return program

    def give_back(self, code: str, program: _Program) -> None:
        """Put a program back; an execution that is still under way is ended.

        Raises:
            SandboxError: it was not taken from here.
        """
        program.abort()
        with self._lock:
            if self._taken.pop(id(program), None) is None:
                raise SandboxError(
                    "a program was given back that was not taken", "give each back once"
                )
            dropped: _Program | None = program
            if not self._closed:
                self._clock += 1
                self._idle.setdefault(code, deque()).append((self._clock, program))
                self._count += 1
                dropped = self._oldest() if self._count > self._most_idle else None
        if dropped is not None:
            dropped.close()

    def close(self) -> None:
        """Close all programs, also those that are taken; may be called again."""
        with self._lock:
            self._closed = True
            programs = [program for waiting in self._idle.values() for _, program in waiting]
            programs += self._taken.values()
            self._idle.clear()
            self._taken.clear()
            self._count = 0
        for program in programs:
            program.close()

    def _oldest(self) -> _Program:
        """Take the program off that was not used for longest."""
        code = min(self._idle, key=lambda code: self._idle[code][0][0])
        _, program = self._idle[code].popleft()
        if not self._idle[code]:
            del self._idle[code]
        self._count -= 1
        return program

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
