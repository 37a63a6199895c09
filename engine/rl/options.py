"""Coded actions as options: a suspended program whose every step is one primitive action."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, runtime_checkable

from engine.agents.plan import Outcome
from engine.rl.oscillation import OscillationDetector
from engine.sandbox.turns import Raised, Returned, Turn, WorldCall
from engine.worlds.base import Answer, PlayerState, World

MAX_QUERIES_PER_FRAME = 1_000
"""Free questions a program may ask between two actions; one that only asks never acts."""


@dataclass(frozen=True, slots=True)
class CodedAction:
    """Approved code as one action of the RL action space (an option; Sutton et al. 1999).

    `precondition` is the initiation set (the action mask), the code is the policy; it terminates
    when the code returns, when `interrupt` holds, or after `max_frames` env frames. `due` says when
    code alone runs it (`engine.agents.executive`); a policy is free to choose it at other times.
    """

    name: str
    code: str
    success: str
    precondition: str
    interrupt: str
    due: str = field(default="true", kw_only=True)
    max_frames: int
    version: int = 1


@dataclass(frozen=True, slots=True)
class OptionEnd:
    """How one execution of a coded action ended."""

    outcome: Outcome
    detail: str
    frames: int


AnswerFunction = Callable[[str, tuple[Any, ...], Mapping[str, Any]], Answer]
"""`PlayerState.answer`."""


class Condition(Protocol):
    """A parsed predicate (`engine.worlds.predicate.Predicate`)."""

    def holds(self, player: PlayerState) -> bool:
        """Whether it is true now."""
        ...


class Executable(Protocol):
    """Loaded code (`engine.sandbox.program.Program`): one execution at a time."""

    def start(self) -> Turn:
        """Call `run()`."""
        ...

    def answer(self, value: Answer) -> Turn:
        """The world call returned this."""
        ...

    def fail(self, message: str) -> Turn:
        """The world call raises a `ValueError` inside the code."""
        ...

    def abort(self) -> None:
        """End the execution, whatever the code catches."""
        ...


Step = str | Turn
"""An action as the code wrote it, or what else a program came to."""


@runtime_checkable
class AnsweringProgram(Protocol):
    """An executable that asks the player by itself and stops at actions only: the faster way.

    `engine.sandbox.fast.program.FastProgram`; the same code gives the same executions either way.
    """

    def begin(self, answer: AnswerFunction) -> Step:
        """Call `run()`; `answer` answers its questions."""
        ...

    def proceed(self, value: Answer) -> Step:
        """The action returned this."""
        ...

    def reject(self, message: str) -> Step:
        """The action raises a `ValueError` inside the code."""
        ...


class LoadedProgram(Executable, Protocol):
    """An executable that holds a place in the sandbox until it is closed."""

    def close(self) -> None:
        """Give the place back."""
        ...


class ProgramLoader(Protocol):
    """Turns approved code into a program (`engine.sandbox.pool.Sandbox`)."""

    def load(self, code: str) -> LoadedProgram:
        """Load the code.

        Raises:
            SandboxError: it does not even load.
        """
        ...


class OptionExecution:
    """One execution of a coded action on one player.

    `begin` gives the first primitive; after each env step `proceed` gives the next one, or how
    the execution ended. When the episode ended in that step, call `cut` instead. The program's
    own ending wins over every limit that is reached in the same frame, so a code that is done on
    its last frame has succeeded.

    An execution may stand still between two frames while something else acts: `catch_up` takes it
    up again in the state of then.
    """

    def __init__(
        self,
        action: CodedAction,
        program: Executable,
        world: World,
        interrupt: Condition,
        success: Condition,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        """Prepare; nothing runs yet.

        Args:
            on_end: called once when the program is free again.
        """
        self.action = action
        self._program = program
        self._answering = (
            cast(AnsweringProgram, program) if _answers_itself(type(program)) else None
        )
        self._world = world
        self._interrupt = interrupt
        self._success = success
        self._on_end = on_end
        self._indices = _indices(world.primitives)
        self._taken: list[tuple[str, int]] = []
        self._frames = 0
        self._pending: int | None = None
        self._was_interrupt = False
        self._detector: OscillationDetector | None = None

    @property
    def frames(self) -> int:
        """Env frames spent so far."""
        return self._frames

    @property
    def actions(self) -> tuple[tuple[str, int], ...]:
        """Primitive actions taken so far, run-length coded."""
        return tuple(self._taken)

    def begin(self, player: PlayerState) -> int | OptionEnd:
        """Start the program; the index of its first primitive action, or its end."""
        # Edge-triggered: an action that starts under threat is not interrupted at once by it.
        self._was_interrupt = self._interrupt.holds(player)
        self._detector = OscillationDetector(self._world, player)
        if self._answering is not None:
            return self._act(self._answering.begin(player.answer), player)
        return self._advance(self._program.start(), player)

    def proceed(self, player: PlayerState, changed: bool) -> int | OptionEnd:
        """Go on after the env step; `changed` is the answer of the program's `act`."""
        if self._detector is None or self._pending is None:
            raise RuntimeError("`proceed` before `begin`, or after the end of the execution")
        self._count_frame()
        stop = self._reason_to_stop(player, changed, self._detector)
        following = self._go_on(changed, player)
        if stop is None or isinstance(following, OptionEnd):
            return following
        return self._end(*stop, abort=True)

    def catch_up(self, player: PlayerState) -> int | OptionEnd:
        """Go on after others have acted; the next primitive, or how the execution ended.

        The action the program was waiting for was never taken: it is told that it had no effect,
        and decides anew from what the player knows now.
        """
        if self._pending is None:
            raise RuntimeError("`catch_up` before `begin`, or after the end of the execution")
        self._pending = None
        self._was_interrupt = self._interrupt.holds(player)
        return self._go_on(False, player)

    def drop(self, detail: str) -> OptionEnd:
        """End an execution that stands still: the policy went on with something else."""
        self._pending = None
        return self._end("interrupted", detail, abort=True)

    def cut(self, outcome: Outcome, detail: str) -> OptionEnd:
        """End from outside, after an env step whose episode is over (died, out of frames)."""
        if self._pending is not None:
            self._count_frame()
        return self._end(outcome, detail, abort=True)

    def _reason_to_stop(
        self, player: PlayerState, changed: bool, detector: OscillationDetector
    ) -> tuple[Outcome, str] | None:
        interrupt = self._interrupt.holds(player)
        became_true = interrupt and not self._was_interrupt
        self._was_interrupt = interrupt
        circles = detector.see(player, changed)
        if became_true:
            return "interrupted", f"`{self.action.interrupt}` became true"
        if circles is not None:
            return "stuck", circles
        if self._frames >= self.action.max_frames:
            return "out_of_frames", f"not done after {self.action.max_frames} frames"
        return None

    def _go_on(self, changed: bool, player: PlayerState) -> int | OptionEnd:
        if self._answering is not None:
            return self._act(self._answering.proceed(changed), player)
        return self._advance(self._program.answer(changed), player)

    def _act(self, step: Step, player: PlayerState) -> int | OptionEnd:
        """What an answering program came to, with what is no action of this world refused."""
        assert self._answering is not None
        while isinstance(step, str | WorldCall):
            if isinstance(step, str):
                index = self._indices.get(step)
                if index is not None:
                    self._pending = index
                    return index
                step = WorldCall(self._world.primitive_function, (step,), {}, 0)
            step = self._answering.reject(self._unknown_action(step))
        return self._ended(step, player)

    def _ended(self, turn: Returned | Raised, player: PlayerState) -> OptionEnd:
        if isinstance(turn, Returned):
            succeeded = self._success.holds(player)
            return self._end("success" if succeeded else "failed", turn.value)
        if turn.kind == "questions":
            return self._end("stuck", turn.message)
        return self._end("error", _place_of(turn))

    def _advance(self, turn: Turn, player: PlayerState) -> int | OptionEnd:
        for _ in range(MAX_QUERIES_PER_FRAME):
            if isinstance(turn, WorldCall):
                if turn.function == self._world.primitive_function:
                    index = self._primitive(turn)
                    if index is not None:
                        self._pending = index
                        return index
                    turn = self._program.fail(self._unknown_action(turn))
                else:
                    turn = self._ask(turn, player)
            else:
                return self._ended(turn, player)
        detail = f"asked {MAX_QUERIES_PER_FRAME} questions without taking an action"
        return self._end("stuck", detail, abort=True)

    def _ask(self, call: WorldCall, player: PlayerState) -> Turn:
        if call.function not in self._world.queries:
            return self._program.fail(f"this world has no function `{call.function}`")
        try:
            answer = player.answer(call.function, call.args, call.kwargs)
        except ValueError as error:
            return self._program.fail(str(error))
        return self._program.answer(answer)

    def _primitive(self, call: WorldCall) -> int | None:
        arguments = (*call.args, *call.kwargs.values())
        if len(arguments) != 1 or not isinstance(arguments[0], str):
            return None
        return self._indices.get(arguments[0])

    def _unknown_action(self, call: WorldCall) -> str:
        given = ", ".join(repr(value) for value in (*call.args, *call.kwargs.values()))
        names = ", ".join(self._world.primitives)
        return f"`{call.function}` takes one of: {names}; got: {given or 'nothing'}"

    def _count_frame(self) -> None:
        if self._pending is None:
            return
        name = self._world.primitives[self._pending]
        if self._taken and self._taken[-1][0] == name:
            self._taken[-1] = (name, self._taken[-1][1] + 1)
        else:
            self._taken.append((name, 1))
        self._frames += 1
        self._pending = None

    def _end(self, outcome: Outcome, detail: str, *, abort: bool = False) -> OptionEnd:
        if abort:
            self._program.abort()
        self._pending = None
        if self._on_end is not None:
            self._on_end()
        return OptionEnd(outcome, detail, self._frames)


@functools.cache
def _answers_itself(kind: type) -> bool:
    """Asked once per kind of program: a look at a protocol takes longer than an execution."""
    return issubclass(kind, AnsweringProgram)


@functools.cache
def _indices(primitives: tuple[str, ...]) -> Mapping[str, int]:
    return {name: index for index, name in enumerate(primitives)}


def _place_of(raised: Raised) -> str:
    return f"line {raised.line}: {raised.message}" if raised.line > 0 else raised.message
