"""Programs: started, answered, failed, aborted, started again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.errors import SandboxError
from engine.sandbox.pool import Limits, Sandbox
from engine.sandbox.program import Program
from engine.sandbox.turns import Raised, Returned, Turn, WorldCall

CHOP = """\
LIMIT = 3


def run() -> str:
    for _ in range(LIMIT):
        action = approach("wood")
        if action is None:
            return "no tree"
        act(action)
    return f"done with {count('wood')}"
"""


@pytest.fixture
def load(sandbox: Sandbox) -> Iterator[Callable[[str], Program]]:
    loaded: list[Program] = []

    def load(code: str) -> Program:
        loaded.append(sandbox.load(code))
        return loaded[-1]

    yield load
    for program in loaded:
        program.close()


def drive(program: Program, answers: dict[str, Any]) -> tuple[list[WorldCall], Turn]:
    calls: list[WorldCall] = []
    turn = program.start()
    while isinstance(turn, WorldCall):
        calls.append(turn)
        turn = program.answer(answers[turn.function])
    return calls, turn


def test_calls_come_one_by_one_with_arguments_and_lines(load: Callable[[str], Program]) -> None:
    calls, end = drive(load(CHOP), {"approach": "left", "act": True, "count": 7})
    assert [(c.function, c.args, c.line) for c in calls] == [
        *[("approach", ("wood",), 6), ("act", ("left",), 9)] * 3,
        ("count", ("wood",), 10),
    ]
    assert end == Returned("done with 7")


def test_lines_are_counted_in_characters_not_bytes(load: Callable[[str], Program]) -> None:
    code = '# é漢字🙂\ndef run() -> str:\n    x = "ü🙂"\n    act("noop"); act("do")\n    return x\n'
    calls, end = drive(load(code), {"act": True})
    assert [call.line for call in calls] == [4, 4]
    assert end == Returned("ü🙂")


def test_keyword_arguments_arrive(load: Callable[[str], Program]) -> None:
    turn = load('def run() -> str:\n    return str(count(item="wood"))\n').start()
    assert isinstance(turn, WorldCall)
    assert (turn.args, dict(turn.kwargs)) == ((), {"item": "wood"})


def test_a_program_starts_again_with_fresh_globals(load: Callable[[str], Program]) -> None:
    program = load(
        "SEEN = []\n\ndef run() -> str:\n"
        '    SEEN.append(count("wood"))\n    return str(len(SEEN))\n'
    )
    for _ in range(3):
        assert drive(program, {"count": 1})[1] == Returned("1")


def test_fail_raises_inside_the_code_where_it_can_be_caught(load: Callable[[str], Program]) -> None:
    program = load(
        'def run() -> str:\n    try:\n        count("gold")\n'
        "    except ValueError as error:\n        return str(error)\n    return ''\n"
    )
    program.start()
    assert program.fail("no such item 'gold'") == Returned("no such item 'gold'")


def test_an_uncaught_failure_names_the_line(load: Callable[[str], Program]) -> None:
    program = load(
        'def f() -> int:\n    return count("gold")\n\ndef run() -> str:\n    f()\n    return ""\n'
    )
    program.start()
    assert program.fail("no gold") == Raised("ValueError: no gold", 2, "exception")


def test_abort_ends_an_execution_whatever_the_code_catches(load: Callable[[str], Program]) -> None:
    program = load(
        "def run() -> str:\n    while True:\n        try:\n"
        '            act("noop")\n        except BaseException:\n            pass\n'
    )
    assert isinstance(program.start(), WorldCall)
    program.abort()
    with pytest.raises(SandboxError, match="no world call waits"):
        program.answer(True)
    assert isinstance(program.start(), WorldCall)


def test_starting_twice_is_refused(load: Callable[[str], Program]) -> None:
    program = load(CHOP)
    program.start()
    with pytest.raises(SandboxError, match="under way"):
        program.start()


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", [[object()]], float])
def test_only_plain_data_goes_in(load: Callable[[str], Program], value: Any) -> None:
    program = load(CHOP)
    program.start()
    with pytest.raises(SandboxError, match="the world answered with"):
        program.answer(value)
    assert isinstance(program.answer("left"), WorldCall)


@pytest.mark.parametrize("value", [True, 3, 1.5, None, "x", [1, (2, "a")], {"a": [1]}, (0, -1)])
def test_plain_data_survives_the_way_in_and_out(load: Callable[[str], Program], value: Any) -> None:
    program = load('def run() -> str:\n    act(approach("wood"))\n    return "x"\n')
    program.start()
    turn = program.answer(value)
    assert isinstance(turn, WorldCall)
    assert turn.args == (value,)


def test_what_was_printed_can_be_read(load: Callable[[str], Program]) -> None:
    program = load('def run() -> str:\n    print("seen", 3)\n    return "x"\n')
    program.start()
    assert program.printed == "seen 3\n"


def test_an_execution_is_repeatable(load: Callable[[str], Program]) -> None:
    code = (
        "import random, time, datetime\n\ndef run() -> str:\n    time.sleep(5)\n"
        "    return f'{random.random()} {time.time()} {datetime.datetime.now()} {set(\"abc\")}'\n"
    )
    assert load(code).start() == load(code).start()


def test_code_that_does_not_load_says_why(sandbox: Sandbox) -> None:
    for code, why in {
        "def run(:\n": "line 1",
        "X = 1 / 0\n": "ZeroDivisionError",
        'act("noop")\n': "move it into run",
        "import socket\n": "module 'socket' does not exist",
        "x = '\ud800'": "not valid text",
        "while True: pass\n": "time limit",
    }.items():
        with pytest.raises(SandboxError, match=why):
            sandbox.load(code)


def test_many_programs_from_many_threads(sandbox: Sandbox) -> None:
    ends: list[Turn] = []

    def work() -> None:
        program = sandbox.load(CHOP)
        for _ in range(5):
            ends.append(drive(program, {"approach": "left", "act": True, "count": 7})[1])

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == [Returned("done with 7")] * 30


def test_a_closed_sandbox_ends_its_programs(stub: str) -> None:
    sandbox = Sandbox(stub, frozenset({"act", "approach", "count"}), harden=False)
    program = sandbox.load(CHOP)
    assert isinstance(program.start(), WorldCall)
    sandbox.close()
    sandbox.close()
    with pytest.raises(SandboxError, match="closed"):
        program.start()
    with pytest.raises(SandboxError, match="closed"):
        sandbox.load(CHOP)


def test_more_programs_than_workers_is_an_error_not_a_hang(
    stub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.sandbox.pool._CHECKOUT_SECONDS", 0.05)
    with Sandbox(stub, frozenset({"approach"}), Limits(), max_processes=1, harden=False) as sandbox:
        first, second = sandbox.load(CHOP), sandbox.load(CHOP)
        first.start()
        with pytest.raises(SandboxError, match="no sandbox worker came free"):
            second.start()
        first.abort()
        assert isinstance(second.start(), WorldCall)


def test_functions_must_be_in_the_stub(stub: str) -> None:
    with pytest.raises(SandboxError, match="fly"):
        Sandbox(stub, frozenset({"act", "fly"}))
