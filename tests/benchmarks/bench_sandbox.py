"""What a world call costs. By hand: `python tests/benchmarks/bench_sandbox.py`.

Prints, per kind of call, wall and host CPU microseconds; then what a start, a check and a load
cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from engine.sandbox.hardening import hardening_status
from engine.sandbox.pool import Limits, Sandbox
from engine.sandbox.program import Program
from engine.sandbox.turns import WorldCall

STUB = """
def flag(a: int, b: int) -> bool: ...
def view(a: int) -> dict[str, int]: ...
"""
VIEW = {f"cell {n}": n for n in range(90)}
CALLS = 20_000


def _report(name: str, times: int, work: Callable[[], object]) -> None:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(f"{name:34} {wall / times * 1e6:8.1f} us wall {cpu / times * 1e6:8.1f} us CPU")  # noqa: T201


def _drive(sandbox: Sandbox, body: str, answer: Any) -> None:
    loop = f"for n in range({CALLS}):\n        {body}"
    program = sandbox.load(f"def run() -> str:\n    {loop}\n    return ''\n")
    turn = program.start()
    while isinstance(turn, WorldCall):
        turn = program.answer(answer)


def _start_and_abort(program: Program, times: int) -> None:
    for _ in range(times):
        program.start()
        program.abort()


def _measure(sandbox: Sandbox) -> None:
    small = "def run() -> str:\n    flag(1, 2)\n    return ''\n"
    sandbox.check(small)
    _report("call answered by a bool", CALLS, lambda: _drive(sandbox, "flag(n, 2)", True))
    _report("call answered by 90 numbers", CALLS, lambda: _drive(sandbox, "view(n)", VIEW))
    program = sandbox.load(small)
    _report("start to the first call, and abort", 500, lambda: _start_and_abort(program, 500))
    _report("load", 200, lambda: [sandbox.load(small) for _ in range(200)])
    codes = [f"{small}X = {n}\n" for n in range(50)]
    _report("check", 50, lambda: [sandbox.check(code) for code in codes])


def main() -> None:
    """Measure once, without and with the outer wall."""
    for harden in (False, True):
        print(f"outer wall: {hardening_status().detail if harden else 'off'}")  # noqa: T201
        limits = Limits(calls=CALLS + 1)
        with Sandbox(STUB, frozenset({"flag", "view"}), limits, harden=harden) as sandbox:
            _measure(sandbox)


if __name__ == "__main__":
    main()
