"""What tests of fast mode share: programs over the small stub, and ways to drive them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from engine.sandbox.fast.code import FastCode
from engine.sandbox.fast.program import FastProgram
from engine.sandbox.program import Limits
from engine.sandbox.turns import Turn, WorldCall

FUNCTIONS = frozenset({"act", "count", "approach"})
LIMITS = Limits(seconds_per_turn=0.5, memory_bytes=32 * 2**20, calls=500, output_bytes=4096)


@pytest.fixture(scope="session")
def make() -> Callable[..., FastProgram]:
    """A program from its text."""

    def make(code: str, limits: Limits = LIMITS) -> FastProgram:
        return FastProgram(FastCode(code, FUNCTIONS, "act"), limits)

    return make


@pytest.fixture(scope="session")
def run_turns() -> Callable[..., tuple[list[tuple[Any, ...]], Turn]]:
    """Drive a program call by call: the calls it made, and how it ended."""

    def drive(
        program: Any, answers: Sequence[Any] = (), most: int = 600
    ) -> tuple[list[tuple[Any, ...]], Turn]:
        calls: list[tuple[Any, ...]] = []
        turn = program.start()
        while isinstance(turn, WorldCall) and len(calls) < most:
            calls.append((turn.function, turn.args, dict(turn.kwargs)))
            following = answers[len(calls) - 1] if len(calls) <= len(answers) else True
            fails = isinstance(following, Exception)
            turn = program.fail(str(following)) if fails else program.answer(following)
        program.abort()
        return calls, turn

    return drive


@pytest.fixture(scope="session")
def run_actions() -> Callable[..., tuple[list[tuple[Any, ...]], Any]]:
    """The same by actions: questions are answered inside, with the same answers in turn."""

    def drive(
        program: FastProgram, answers: Sequence[Any] = (), most: int = 600
    ) -> tuple[list[tuple[Any, ...]], Any]:
        calls: list[tuple[Any, ...]] = []

        def following() -> Any:
            return answers[len(calls) - 1] if len(calls) <= len(answers) else True

        def ask(function: str, args: tuple[Any, ...], kwargs: Any) -> Any:
            calls.append((function, args, dict(kwargs)))
            value = following()
            if isinstance(value, Exception):
                raise ValueError(str(value))
            return value

        step = program.begin(ask)
        while isinstance(step, str | WorldCall) and len(calls) < most:
            args = (step,) if isinstance(step, str) else step.args
            calls.append(("act", args, {}))
            value = following()
            fails = isinstance(value, Exception)
            step = program.reject(str(value)) if fails else program.proceed(value)
        program.abort()
        return calls, step

    return drive
