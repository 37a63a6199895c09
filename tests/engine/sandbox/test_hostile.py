"""Hostile code: refused by the check, and contained when the check is passed by."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import pytest

from engine.errors import SandboxError
from engine.sandbox.pool import Sandbox
from engine.sandbox.turns import Kind, Raised, Returned, Turn, WorldCall

_LONGEST_SECONDS = 3.0


@dataclass(frozen=True)
class Attack:
    """`body` is the inside of run(); `refused` is in the check's words, None if it passes."""

    body: str
    refused: str | None
    kind: Kind | None
    contained: str
    before: str = ""
    answers: list[object] = field(default_factory=lambda: [True])

    @property
    def code(self) -> str:
        lines = "".join(f"    {line}\n" for line in self.body.splitlines())
        return f"{self.before}def run() -> str:\n{lines}"


GOOD = Attack('act("noop")\nreturn "fine"', None, None, "")

ATTACKS = {
    "read a file": Attack(
        'return open("/etc/passwd").read()',
        "`open` is not available",
        "exception",
        "'open' is refused",
    ),
    "read a path": Attack(
        'return Path("/etc/passwd").read_text()',
        "`pathlib` is not available",
        "exception",
        "read_text' is refused",
        before="from pathlib import Path\n",
    ),
    "write a file": Attack(
        'open("/tmp/x", "w").write("x")\nreturn ""',
        "`open` is not",
        "exception",
        "'open' is refused",
    ),
    "open a socket": Attack(
        "import socket\nreturn str(socket.socket())",
        "`socket` is not available",
        "exception",
        "module 'socket' does not exist",
    ),
    "fetch a page": Attack(
        'import urllib.request\nreturn ""', "`urllib.request` is not", "exception", "does not exist"
    ),
    "read the environment": Attack(
        "import os\nreturn str(os.environ)",
        "`os` is not available",
        "exception",
        "'os.environ' is refused",
    ),
    "read one variable": Attack(
        'import os\nreturn str(os.getenv("HOME"))',
        "`os` is not",
        "exception",
        "'os.getenv' is refused",
    ),
    "run a program": Attack(
        'import subprocess\nreturn ""',
        "`subprocess` is not available",
        "exception",
        "does not exist",
    ),
    "import by hand": Attack(
        'return str(__import__("os"))',
        "double underscores",
        "exception",
        "'__import__' does not exist",
    ),
    "globals by str.format": Attack(
        'return "{0.__globals__}".format(act)',
        "f-string",
        "exception",
        "no attribute '__globals__'",
    ),
    "all classes": Attack(
        "return str(().__class__.__bases__[0].__subclasses__())",
        "double underscores",
        "exception",
        "no attribute '__class__'",
    ),
    "frames of an error": Attack(
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n"
        "    return str(e.__traceback__.tb_frame)\nreturn ''",
        "double underscores",
        "exception",
        "AttributeError",
    ),
    "loop for ever": Attack("while True:\n    pass", "never ends", "time", "endless loop"),
    "loop for ever in disguise": Attack(
        "n = 1\nwhile n:\n    n += 1\nreturn ''", None, "time", "endless loop"
    ),
    "swallow the time limit": Attack(
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
        "BaseException",
        "time",
        "endless loop",
    ),
    "swallow it with a bare except": Attack(
        "while True:\n    try:\n        while True: pass\n    except:\n        pass",
        "`except:` is refused",
        "time",
        "endless loop",
    ),
    "memory bomb": Attack(
        'x = []\nwhile len(x) >= 0:\n    x.append("a" * 1000)\nreturn ""', None, "memory", "32 MiB"
    ),
    "one huge text": Attack('return "a" * 10**10', None, "memory", "32 MiB"),
    "swallow the memory limit": Attack(
        "while True:\n    try:\n        x = [1] * 10**8\n    except BaseException:\n        pass",
        "BaseException",
        "memory",
        "32 MiB",
    ),
    "huge power": Attack("return str(10**10**8)", None, "memory", "32 MiB"),
    "huge power within memory": Attack(
        "x = 10**10**7\nreturn str(x % 7)", None, "time", "arithmetic"
    ),
    "huge shifts": Attack(
        "x = 1\nwhile x > 0:\n    x = (x << 1000) * 3\nreturn ''", None, "time", "endless loop"
    ),
    "deep recursion": Attack(
        "return f(0)",
        None,
        "exception",
        "recursion depth",
        before="def f(n: int) -> str:\n    return f(n + 1)\n\n",
    ),
    "flood the output": Attack(
        'while True:\n    print("x" * 100)', None, "output", "printed more than 4096 bytes"
    ),
    "flood the world with calls": Attack(
        'while True:\n    count("wood")', None, "calls", "500 world calls", answers=[1] * 600
    ),
    "loop over a lookup": Attack("while True:\n    f = act", "call it", "time", "endless loop"),
    "return no text": Attack("return 5", "expected `str`", "exception", "must return a text"),
    "return nothing": Attack("act('noop')", "return", "exception", "returned a NoneType"),
    "call what is not there": Attack(
        "return str(teleport(1))",
        "`teleport` is not defined",
        "exception",
        "'teleport' does not exist",
    ),
    "catch what is not there": Attack(
        "try:\n    teleport(1)\nexcept Exception:\n    pass\nreturn 'went on'",
        "`teleport` is not defined",
        "exception",
        "'teleport' does not exist",
    ),
    "pass an object": Attack(
        "act(A())\nreturn ''",
        "is incorrect: Expected",
        "exception",
        "act() was called with 'A'",
        before="class A:\n    pass\n\n",
    ),
    "pass a bottomless list": Attack(
        "x = []\nfor _ in range(100000):\n    x = [x]\nact(x)\nreturn ''",
        "is incorrect: Expected",
        "exception",
        "nested deeper",
    ),
    "pass a huge number": Attack(
        "act(10**5000)\nreturn ''", "is incorrect: Expected", "exception", "beyond 64 bits"
    ),
    "pass a huge text": Attack(
        "act('x' * 10**6)\nreturn ''", "is incorrect: Expected", "exception", "1000000 characters"
    ),
    "wait for the clock": Attack("await act('noop')", "`await`", "exception", ""),
    "leave by SystemExit": Attack("raise SystemExit", "SystemExit", "exception", ""),
    "leave by exit": Attack(
        "exit()", "`exit` is not available", "exception", "'exit' does not exist"
    ),
    "run made-up text": Attack(
        "return eval('1' + '+1')", "`eval` is not available", "exception", "must return a text"
    ),
}


def finish(sandbox: Sandbox, attack: Attack) -> Turn:
    program = sandbox.load(attack.code)
    turn = program.start()
    for answer in attack.answers:
        if not isinstance(turn, WorldCall):
            break
        turn = program.answer(answer)  # type: ignore[arg-type]
    program.close()
    return turn


@pytest.mark.parametrize("name", [n for n, attack in ATTACKS.items() if attack.refused])
def test_the_check_refuses(sandbox: Sandbox, name: str) -> None:
    attack = ATTACKS[name]
    found = sandbox.check(attack.code)
    assert attack.refused is not None
    assert any(attack.refused in f.message for f in found), found
    assert all(f.line >= 1 and f.column >= 1 for f in found), found


@pytest.mark.parametrize("name", ATTACKS)
def test_the_sandbox_contains(sandbox: Sandbox, name: str) -> None:
    attack = ATTACKS[name]
    began = time.monotonic()
    end = finish(sandbox, attack)
    assert isinstance(end, Raised), end
    assert end.kind == attack.kind, end
    assert attack.contained in end.message, end
    assert time.monotonic() - began < _LONGEST_SECONDS
    assert finish(sandbox, GOOD) == Returned("fine")


@pytest.mark.parametrize("body", ["yield 1", "x = 1\ndel x", "class A(str):\n    pass"])
def test_what_the_interpreter_lacks_does_not_load(sandbox: Sandbox, body: str) -> None:
    attack = Attack(f"{body}\nreturn ''", "", None, "")
    assert sandbox.check(attack.code)
    with pytest.raises(SandboxError, match="does not load: line"):
        sandbox.load(attack.code)


def test_a_function_as_an_argument_is_refused(sandbox: Sandbox) -> None:
    found = sandbox.check("def run() -> str:\n    act(lambda: 1)\n    return ''\n")
    assert [f.code for f in found] == ["invalid-argument-type"]


def test_redefining_a_world_function_reaches_nothing(sandbox: Sandbox) -> None:
    code = (
        "def act(action: str) -> bool:\n    return True\n\n"
        'def run() -> str:\n    return str(act("x"))\n'
    )
    assert any("cannot be redefined" in found.message for found in sandbox.check(code))
    assert sandbox.load(code).start() == Returned("True")


def test_wrong_types_reach_the_world_as_they_are_and_it_can_refuse(sandbox: Sandbox) -> None:
    code = "def run() -> str:\n    act(3)\n    return ''\n"
    assert any("is incorrect: Expected" in found.message for found in sandbox.check(code))
    program = sandbox.load(code)
    assert program.start() == WorldCall("act", (3,), {}, 2)
    assert program.fail("act() takes the name of an action, not 3") == Raised(
        "ValueError: act() takes the name of an action, not 3", 2, "exception"
    )


def test_a_long_returned_text_is_cut(sandbox: Sandbox) -> None:
    end = sandbox.load('def run() -> str:\n    return "x" * 10**6\n').start()
    assert isinstance(end, Returned)
    assert len(end.value) == 2000
