"""What world calls cost in both executors. By hand: `python tests/benchmarks/bench_sandbox.py`.

CPU microseconds per call, of this process and of the workers it started, in one run: Monty, fast
mode driven call by call, fast mode driven action by action, and how many times cheaper that is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psutil

from engine.sandbox.fast.code import FastCode
from engine.sandbox.fast.program import FastProgram
from engine.sandbox.hardening import hardening_status
from engine.sandbox.pool import Limits, Sandbox
from engine.sandbox.turns import WorldCall

STUB = """
def act(action: str) -> bool: ...
def flag(a: int, b: int) -> bool: ...
def number(what: str) -> int: ...
def view(a: int) -> dict[str, int]: ...
"""
FUNCTIONS = frozenset({"act", "flag", "number", "view"})
ANSWERS: dict[str, Any] = {
    "act": True,
    "flag": True,
    "number": 3,
    "view": {f"cell {n}": n for n in range(90)},
}
LIMITS = Limits(calls=10**9, questions_per_frame=10**9)
MONTY_CALLS, FAST_CALLS = 10_000, 100_000
FRAME = """\
if number("frames") >= deadline:
    return "late"
if number("health") > 3 and number("zombie") > 4 or flag(n, 2):
    step = number("wood") + number("stone") * 2
if number("food") < number("drink") or step > 90:
    act("do")
else:
    act("noop")"""
"""One frame of a coded action as the rules write it: seven questions, some tests, one action."""


@dataclass(frozen=True)
class Row:
    """One line of the table: a loop whose every turn makes so many calls."""

    name: str
    body: str
    calls: int = 1


ROWS = (
    Row("an action", 'act("noop")'),
    Row("a question with a literal", 'number("wood")'),
    Row("a question with values", "flag(n, n)"),
    Row("a question answered by 90 numbers", "view(n)"),
    Row("a frame: seven questions, one action", FRAME, 1),
)


def _cpu() -> float:
    me = psutil.Process()
    workers = (child.cpu_times() for child in me.children(recursive=True))
    return time.process_time() + float(sum(times.user + times.system for times in workers))


def _program(body: str, turns: int) -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return (
        "def run() -> str:\n    deadline, step = 9, 0\n"
        f"    for n in range({turns}):\n{lines}    return ''\n"
    )


def _by_calls(program: Any) -> None:
    turn = program.start()
    while isinstance(turn, WorldCall):
        turn = program.answer(ANSWERS[turn.function])


def _by_actions(program: FastProgram) -> None:
    step = program.begin(lambda function, _args, _kwargs: ANSWERS[function])
    while type(step) is str:
        step = program.proceed(True)


def _microseconds(work: Callable[[], object], times: int) -> float:
    """The best of three, so that a busy moment does not count."""
    best = float("inf")
    for _ in range(3):
        before = _cpu()
        work()
        best = min(best, _cpu() - before)
    return best / times * 1e6


def _write(*cells: str) -> None:
    sys.stdout.write(f"{cells[0]:38}" + "".join(f"{cell:>14}" for cell in cells[1:]) + "\n")
    sys.stdout.flush()


def _fast(code: str) -> FastProgram:
    return FastProgram(FastCode(code, FUNCTIONS, "act"), LIMITS)


def _compare_calls(sandbox: Sandbox) -> None:
    _write("CPU us per turn of a loop", "Monty", "fast, calls", "fast, actions", "times")
    for row in ROWS:
        monty = sandbox.load(_program(row.body, MONTY_CALLS))
        slow = _microseconds(lambda m=monty: _by_calls(m), MONTY_CALLS)  # type: ignore[misc]
        fast = _fast(_program(row.body, FAST_CALLS))
        turns = _microseconds(lambda f=fast: _by_calls(f), FAST_CALLS)  # type: ignore[misc]
        actions = _microseconds(lambda f=fast: _by_actions(f), FAST_CALLS)  # type: ignore[misc]
        _write(row.name, f"{slow:.1f}", f"{turns:.2f}", f"{actions:.2f}", f"{slow / actions:.0f}")


def _compare_executions(sandbox: Sandbox, code: str) -> None:
    monty, fast = sandbox.load(code), _fast(code)

    def start(times: int) -> None:
        for _ in range(times):
            monty.start()
            monty.abort()

    def begin(times: int) -> None:
        for _ in range(times):
            fast.begin(lambda *_: 3)
            fast.abort()

    def load(times: int) -> None:
        for _ in range(times):
            sandbox.load(code)

    made = FastCode(code, FUNCTIONS, "act")

    def make(times: int) -> None:
        for _ in range(times):
            FastProgram(made, LIMITS).prepare()

    _write("", "Monty", "", "fast", "times")
    for name, slow_work, quick_work in (
        ("an execution, to its first action", start, begin),
        ("one more program of known code", load, make),
    ):
        slow = _microseconds(lambda work=slow_work: work(300), 300)  # type: ignore[misc]
        quick = _microseconds(lambda work=quick_work: work(3000), 3000)  # type: ignore[misc]
        _write(name, f"{slow:.1f}", "", f"{quick:.2f}", f"{slow / quick:.0f}")


def _compare_checks(sandbox: Sandbox, code: str) -> None:
    codes = [f"{code}X = {n}\n" for n in range(40)]  # a check is remembered, so once each
    before = _cpu()
    for each in codes:
        sandbox.check(each)
    check, before = _cpu() - before, _cpu()
    for each in codes:
        _fast(each)
    translation = _cpu() - before
    figures = (f"{seconds / len(codes) * 1e6:.0f}" for seconds in (check, translation))
    _write("the check of new code; its translation", next(figures), "", next(figures), "")


def main() -> None:
    """Measure once, without and with the outer wall where there is one."""
    code = _program('act("noop")', 9)
    walls = (False, True) if hardening_status().active else (False,)
    for harden in walls:
        sys.stdout.write(f"outer wall: {hardening_status().detail if harden else 'off'}\n")
        with Sandbox(STUB, FUNCTIONS, LIMITS, harden=harden) as sandbox:
            _compare_calls(sandbox)
            _compare_executions(sandbox, code)
            _compare_checks(sandbox, code)


if __name__ == "__main__":
    main()
