"""The static check: what it accepts, what it refuses, and where it says so."""

from __future__ import annotations

import pytest

from engine.agents.plan import CodeDiagnostic
from engine.errors import SandboxError
from engine.sandbox.pool import Sandbox
from engine.sandbox.stub import read_stub

GOOD = '''"""Chop wood; the module may have words of its own."""
import math
from collections import deque
from dataclasses import dataclass

LIMIT = 40
DIRECTIONS: tuple[Action, ...] = ("left", "right")


@dataclass
class Memory:
    seen: int = 0

    def note(self) -> None:
        self.seen += 1


def follow(action: Action | None) -> bool:
    """One step, if there is one."""
    if action is None:
        return False
    return act(action)


def run() -> str:
    memory = Memory()
    queue = deque([1, 2])
    for step in range(LIMIT):
        match count("wood"):
            case 0 | 1 if step < math.inf:
                pass
            case held:
                return f"held {held}"
        try:
            moved = follow(approach("wood"))
        except ValueError as error:
            return str(error)
        if not moved:
            memory.note()
            act(DIRECTIONS[step % 2])
        while queue:
            queue.popleft()
    totals = {item: n for item, n in [("wood", count("wood"))] if n > 0}
    best = max(totals, key=lambda item: totals[item], default="nothing")
    return f"best {best} after {sum(n * n for n in totals.values()):d}, {memory.seen}"
'''


def at(found: tuple[CodeDiagnostic, ...]) -> list[tuple[int, int, str]]:
    return [(f.line, f.column, f.code) for f in found]


def in_run(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f'def run() -> str:\n{lines}    return ""\n'


def test_ordinary_code_passes(sandbox: Sandbox) -> None:
    assert sandbox.check(GOOD) == ()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def run() -> str\n    return ''\n", (1, "syntax")),
        ("def run() -> str:\n  return ''\n   x = 1\n", (3, "syntax")),
        ("x = 1\x00", (0, "syntax")),
        ("x = '\ud800'", (0, "syntax")),
        ("(" * 300, (1, "syntax")),
        ("x = " + "-" * 20_000 + "1", (0, "syntax")),
        ("#" * 60_000, (0, "too-long")),
    ],
)
def test_what_does_not_parse(sandbox: Sandbox, code: str, expected: tuple[int, str]) -> None:
    (found,) = sandbox.check(code)
    assert (found.line, found.code) == expected


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("", "define `def run() -> str:`"),
        ("def walk() -> str:\n    return ''\n", "define `def run() -> str:`"),
        ("def run(n: int) -> str:\n    return ''\n", "no parameters"),
        ("def run(*, n: int) -> str:\n    return ''\n", "no parameters"),
        ("def run():\n    return ''\n", "declare `def run() -> str:`"),
        ("def run() -> int:\n    return 1\n", "declare `def run() -> str:`"),
        ("async def run() -> str:\n    return ''\n", "plain function"),
        (in_run("pass") * 2, "defined twice"),
    ],
)
def test_run_must_be_callable_without_arguments_and_return_text(
    sandbox: Sandbox, code: str, message: str
) -> None:
    assert any(message in found.message for found in sandbox.check(code))


def test_run_may_have_parameters_with_defaults(sandbox: Sandbox) -> None:
    assert (
        sandbox.check("def run(n: int = 3, *, m: int = 4) -> str:\n    return str(n + m)\n") == ()
    )


@pytest.mark.parametrize(
    ("body", "code", "instead"),
    [
        ("x = [1]\ndel x[0]", "syntax-refused", "pop()"),
        ("with x: pass", "syntax-refused", "plain statements"),
        ("import random", "import", "deterministic"),
        ("import heapq", "import", "deque"),
        ("from numpy import array", "import", "lists and tuples"),
        ("import math.foo", "import", "importable are"),
        ("from math import *", "import", "one by one"),
        ("from . import secrets", "import", "importable are"),
        ("class A(Exception): pass", "class", "cannot have bases"),
        ("class A:\n    @property\n    def x(self) -> int: return 1", "decorator", "@dataclass"),
        ("try:\n    pass\nexcept:\n    pass", "except", "ValueError"),
        ("try:\n    pass\nexcept BaseException:\n    pass", "name", "ValueError"),
        ("x = getattr(1, 'y')", "name", "the attribute itself"),
        ("x = eval('1')", "name", "the expression itself"),
        ("x = cuont('wood')", "name", "did you mean `count`?"),
        ("x = '{}'.format(1)", "attribute", "f-string"),
        ("x = (1).__class__", "dunder", "double underscores"),
        ("__x = 1", "dunder", "double underscores"),
        ("for act in [1]: pass", "redefined", "cannot be redefined"),
        ("f = lambda: count('wood')", "world-call", "write a loop"),
        ("x = sorted([1], key=count)", "world-call", "directly"),
        ("while True: x = 1", "endless", "never ends"),
        ("x = 1  # type: ignore", "ignore", "mend the types"),
        ("act('up')", "invalid-argument-type", "Expected"),
        ("act(approach('wood'))", "invalid-argument-type", "None"),
        ("act()", "missing-argument", "action"),
        ("act('do', 2)", "too-many-positional-arguments", "act"),
        ("return 5", "invalid-return-type", "expected `str`"),
    ],
)
def test_what_is_refused_says_what_to_write_instead(
    sandbox: Sandbox, body: str, code: str, instead: str
) -> None:
    found = sandbox.check(in_run(body))
    assert any(f.code == code and instead in f.message for f in found), found


def test_positions_start_at_one_and_point_at_the_offence(sandbox: Sandbox) -> None:
    code = 'def run() -> str:\n    act("noop")\n    act("up")\n    return open("x")\n'
    assert at(sandbox.check(code)) == [(3, 9, "invalid-argument-type"), (4, 12, "name")]


@pytest.mark.parametrize(
    "line", ['act("noop")', "for i in [1]: pass", "if LIMIT: LIMIT = 2", "print('x')", "X = f()"]
)
def test_nothing_happens_outside_functions(sandbox: Sandbox, line: str) -> None:
    code = "LIMIT = 1\ndef f() -> int:\n    return count('wood')\n" + in_run("pass") + line + "\n"
    found = sandbox.check(code)
    assert found
    assert found[-1].line in {3, 7}


def test_a_constant_that_cannot_be_made_is_found(sandbox: Sandbox) -> None:
    found = sandbox.check("X = [1][5]\n" + in_run("pass"))
    assert [f.line for f in found] == [1]


def test_the_check_does_not_run_the_code(sandbox: Sandbox) -> None:
    assert sandbox.check(in_run("n = 1\nwhile n:\n    n += 1")) == ()


def test_findings_are_remembered(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    code = in_run("act('remember me')")
    first = sandbox.check(code)
    monkeypatch.setattr("engine.sandbox.pool.type_check", lambda *_: pytest.fail("checked twice"))
    assert sandbox.check(code) is first


def test_shortened_lists_of_literals_get_their_name() -> None:
    stub = read_stub(
        'Action = Literal["a", "b", "c"]\nItem = Literal["x", "y", "z"]\n'
        "def act(a: Action) -> None: ...\n"
    )
    text = 'Expected `Literal["a", "b", ... omitted 3 literals] | None`, found `Literal["q"]`'
    assert stub.name_aliases(text) == 'Expected `Action | None`, found `Literal["q"]`'


@pytest.mark.parametrize("text", ["def act(:", "x = 1"])
def test_a_broken_stub_is_an_error(text: str) -> None:
    with pytest.raises(SandboxError, match="stub"):
        read_stub(text)


def test_code_that_makes_the_type_checker_explode_is_refused_in_time(
    stub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.sandbox.pool._TYPE_CHECK_SECONDS", 1.0)
    with Sandbox(stub, frozenset({"act"}), harden=False) as sandbox:
        (found,) = sandbox.check(in_run("x = (1, 1)\n" + "x = (x, x)\n" * 40 + "return str(x)"))
        assert "took too long" in found.message
        assert sandbox.check(in_run('act("noop")')) == ()
