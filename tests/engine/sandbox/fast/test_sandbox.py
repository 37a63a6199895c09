"""Fast mode as a sandbox: what it runs itself, what it leaves to Monty, and how it says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.errors import SandboxError
from engine.sandbox.fast.program import FastProgram
from engine.sandbox.fast.sandbox import FastSandbox
from engine.sandbox.pool import Sandbox
from engine.sandbox.program import Program
from engine.sandbox.turns import Raised, Returned, WorldCall

FINE = 'def run() -> str:\n    act("noop")\n    return "fine"\n'
ONLY_MONTY = (
    "import math\n\ndef run() -> str:\n    act('noop')\n    return f'{math.floor(2.5)} fine'\n"
)


@pytest.fixture
def fast(sandbox: Sandbox) -> Iterator[FastSandbox]:
    with FastSandbox(sandbox, "act") as made:
        yield made


def test_accepted_code_runs_here(fast: FastSandbox) -> None:
    assert (fast.executor(FINE), fast.refusals(FINE)) == ("fast", ())
    program = fast.load(FINE)
    assert isinstance(program, FastProgram)
    assert program.start() == WorldCall("act", ("noop",), {}, 2)
    assert program.answer(True) == Returned("fine")


def test_other_code_runs_in_monty_and_it_is_said_why(fast: FastSandbox) -> None:
    assert fast.executor(ONLY_MONTY) == "monty"
    found = fast.refusals(ONLY_MONTY)
    assert [(f.line, f.column) for f in found] == [(1, 1), (5, 15)]
    assert "Import is not accepted" in found[0].message
    program = fast.load(ONLY_MONTY)
    assert isinstance(program, Program)
    assert isinstance(program.start(), WorldCall)
    assert program.answer(True) == Returned("2 fine")


def test_the_check_is_monty_s(fast: FastSandbox, sandbox: Sandbox) -> None:
    for code in (FINE, ONLY_MONTY, "def run() -> str:\n    act('up')\n    return ''\n"):
        assert fast.check(code) == sandbox.check(code)


def test_code_is_translated_once(fast: FastSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    fast.load(FINE)
    monkeypatch.setattr(
        "engine.sandbox.fast.sandbox.FastCode", lambda *_: pytest.fail("translated twice")
    )
    assert fast.load(FINE).start() == WorldCall("act", ("noop",), {}, 2)


def test_limits_are_the_sandbox_s(fast: FastSandbox) -> None:
    program = fast.load("def run() -> str:\n    while True:\n        act('noop')\n")
    turn = program.start()
    for _ in range(500):
        assert isinstance(turn, WorldCall)
        turn = program.answer(True)
    assert turn == Raised("more than 500 world calls in one execution", 3, "calls")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def run(:\n", "line 1"),
        (f"X = 1 // 0\n{FINE}", "line 1: ZeroDivisionError"),
        (f"X = [0] * {10**12}\n{FINE}", "line 1: a container"),
        (f"X = [i for i in range({10**12})]\n{FINE}", "line 1: computed for more than"),
        ("x = '\ud800'", "not valid text"),
    ],
)
def test_code_that_does_not_load_says_why(fast: FastSandbox, code: str, why: str) -> None:
    with pytest.raises(SandboxError, match=why):
        fast.load(code)


def test_a_function_that_is_not_the_world_s_cannot_be_the_primitive(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="'fly'"):
        FastSandbox(sandbox, "fly")


def test_closing_ends_its_programs_and_leaves_monty_s_sandbox(sandbox: Sandbox) -> None:
    fast = FastSandbox(sandbox, "act")
    program = fast.load(FINE)
    assert isinstance(program.start(), WorldCall)
    fast.close()
    fast.close()
    with pytest.raises(SandboxError, match="no world call waits"):
        program.answer(True)
    with pytest.raises(SandboxError, match="closed"):
        fast.load(FINE)
    assert isinstance(sandbox.load(FINE).start(), WorldCall)
