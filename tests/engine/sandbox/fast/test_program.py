"""Programs of fast mode: driven call by call as Monty's are, and action by action."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from engine.errors import SandboxError
from engine.sandbox.fast.code import FastCode
from engine.sandbox.fast.program import FastProgram
from engine.sandbox.program import Limits
from engine.sandbox.turns import Raised, Returned, Turn, WorldCall

Make = Callable[..., FastProgram]
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
ANSWERS: dict[str, Any] = {"approach": "left", "act": True, "count": 7}


def ask(function: str, _args: tuple[Any, ...], _kwargs: Any) -> Any:
    return ANSWERS[function]


# --- call by call -------------------------------------------------------------------------


def test_calls_come_one_by_one_with_arguments_and_lines(make: Make) -> None:
    program = make(CHOP)
    calls: list[WorldCall] = []
    turn: Turn = program.start()
    while isinstance(turn, WorldCall):
        calls.append(turn)
        turn = program.answer(ANSWERS[turn.function])
    assert [(c.function, c.args, c.line) for c in calls] == [
        *[("approach", ("wood",), 6), ("act", ("left",), 9)] * 3,
        ("count", ("wood",), 10),
    ]
    assert turn == Returned("done with 7")


def test_keyword_arguments_arrive(make: Make) -> None:
    program = make('def run() -> str:\n    return str(count(item="wood"))\n')
    assert program.start() == WorldCall("count", (), {"item": "wood"}, 2)
    seen: list[Any] = []
    assert program.answer(1) == Returned("1")
    assert program.begin(lambda f, a, k: seen.append((f, a, dict(k))) or 2) == Returned("2")
    assert seen == [("count", (), {"item": "wood"})]


def test_fail_raises_inside_the_code_where_it_can_be_caught(make: Make) -> None:
    program = make(
        'def run() -> str:\n    try:\n        count("gold")\n'
        "    except ValueError as error:\n        return str(error)\n    return ''\n"
    )
    program.start()
    assert program.fail("no such item 'gold'") == Returned("no such item 'gold'")


def test_an_uncaught_failure_names_the_line(make: Make) -> None:
    program = make(
        'def f() -> int:\n    return count("gold")\n\ndef run() -> str:\n    f()\n    return ""\n'
    )
    program.start()
    assert program.fail("no gold") == Raised("ValueError: no gold", 2, "exception")


def test_starting_twice_is_refused(make: Make) -> None:
    program = make(CHOP)
    program.start()
    with pytest.raises(SandboxError, match="under way"):
        program.start()
    with pytest.raises(SandboxError, match="under way"):
        program.begin(ask)


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", [[object()]], float])
def test_only_plain_data_goes_in(make: Make, value: Any) -> None:
    program = make(CHOP)
    program.start()
    with pytest.raises(SandboxError, match="the world answered with"):
        program.answer(value)
    assert isinstance(program.answer("left"), WorldCall)


@pytest.mark.parametrize("value", [True, 3, 1.5, None, "x", [1, (2, "a")], {"a": [1]}, (0, -1)])
def test_plain_data_survives_the_way_in_and_out(make: Make, value: Any) -> None:
    program = make('def run() -> str:\n    act(approach("wood"))\n    return "x"\n')
    program.start()
    turn = program.answer(value)
    assert isinstance(turn, WorldCall)
    assert turn.args == (value,)
    assert repr(turn.args[0]) == repr(value)


def test_code_and_world_share_nothing_that_changes(make: Make) -> None:
    program = make(
        "def run() -> str:\n    x = approach('wood')\n    x.append(5)\n    act(x)\n"
        "    x.append(6)\n    return str(x)\n"
    )
    answer, seen = [[1]], []
    program.start()
    turn = program.answer(answer)
    assert isinstance(turn, WorldCall)
    seen.append(turn.args[0])
    assert program.answer(True) == Returned("[[1], 5, 6]")
    assert (answer, seen) == ([[1]], [[[1], 5]])


def test_a_program_starts_again_with_fresh_globals(make: Make, run_turns: Any) -> None:
    program = make(
        "SEEN = []\nPAIR = (1, [])\n\ndef run() -> str:\n"
        '    SEEN.append(count("wood"))\n    PAIR[1].append(1)\n'
        "    return str(len(SEEN) + len(PAIR[1]))\n"
    )
    for _ in range(3):
        assert run_turns(program)[1] == Returned("2")


def test_limits_of_calls_are_kept(make: Make, run_turns: Any) -> None:
    program = make("def run() -> str:\n    while True:\n        count('wood')\n", Limits(calls=20))
    calls, end = run_turns(program)
    assert len(calls) == 20
    assert end == Raised("more than 20 world calls in one execution", 3, "calls")


# --- action by action ---------------------------------------------------------------------


def test_only_actions_come_out(make: Make) -> None:
    program = make(CHOP)
    steps = [program.begin(ask), *(program.proceed(True) for _ in range(3))]
    assert steps == ["left", "left", "left", Returned("done with 7")]


def test_actions_come_out_of_functions_loops_and_comprehensions(make: Make, run_turns: Any) -> None:
    program = make(
        "def go(way: str) -> bool:\n    return act(way)\n\n"
        "def run() -> str:\n    x = [go(way) for way in ('left', 'right') if count('wood')]\n"
        "    y = {way: act(way) for way in ('do', 'noop')}\n    z = max(go('up'), act('down'))\n"
        "    return f'{x} {y} {z} {go(action)}' if (action := approach('wood')) else ''\n"
    )
    steps: list[Any] = [program.begin(ask)]
    while isinstance(steps[-1], str):
        steps.append(program.proceed(len(steps) % 2 == 0))
    actions = ["left", "right", "do", "noop", "up", "down", "left"]
    assert steps[:-1] == actions
    assert steps[-1] == Returned("[False, True] {'do': False, 'noop': True} True False")
    calls, end = run_turns(program, [1, False, 1, True, False, True, False, True, "left", False])
    assert [args[0] for name, args, _ in calls if name == "act"] == actions
    assert end == steps[-1]


def test_an_answer_s_value_error_is_raised_inside(make: Make) -> None:
    def refuse(function: str, _args: Any, _kwargs: Any) -> Any:
        raise ValueError(f"{function}() got 'gold'" + "x" * 1000)

    caught = make(
        "def run() -> str:\n    try:\n        count('gold')\n    except ValueError as e:\n"
        "        return str(e)\n    return ''\n"
    )
    end = caught.begin(refuse)
    assert isinstance(end, Returned)
    assert end.value.startswith("count() got 'gold'xxx")
    assert len(end.value) == 500
    end = make("def run() -> str:\n    count('gold')\n    return ''\n").begin(refuse)
    assert isinstance(end, Raised)
    assert end.message.startswith("ValueError: count() got 'gold'")
    assert (end.line, end.kind) == (2, "exception")


@pytest.mark.parametrize("catch", ["Exception", "KeyError", "(LookupError, RuntimeError)"])
def test_what_breaks_in_the_world_is_not_caught_by_code(make: Make, catch: str) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("a fault of the world")

    program = make(
        f"def run() -> str:\n    try:\n        count('wood')\n    except {catch}:\n        pass\n"
        "    return 'went on'\n"
    )
    with pytest.raises(KeyError, match="a fault of the world"):
        program.begin(broken)
    assert program.begin(ask) == Returned("went on")


def test_a_stop_of_the_host_passes_through(make: Make) -> None:
    class Stop(BaseException):
        pass

    def stop(*_: Any) -> Any:
        raise Stop

    program = make(
        "def run() -> str:\n    try:\n        count('wood')\n    except Exception:\n        pass\n"
        "    return ''\n"
    )
    with pytest.raises(Stop):
        program.begin(stop)
    assert program.begin(ask) == Returned("")


def test_an_answer_that_is_not_plain_is_the_world_s_fault(make: Make) -> None:
    program = make("def run() -> str:\n    return str(count('wood'))\n")
    with pytest.raises(SandboxError, match="the world answered with"):
        program.begin(lambda *_: object())  # type: ignore[arg-type, return-value]


def test_what_is_no_text_comes_as_a_call_and_can_be_rejected(make: Make) -> None:
    program = make(
        "def run() -> str:\n    try:\n        act(approach('wood'))\n    except ValueError as e:\n"
        "        act('noop')\n        return str(e)\n    return ''\n"
    )
    step = program.begin(lambda *_: None)
    assert step == WorldCall("act", (None,), {}, 3)
    assert program.reject("act() takes a text") == "noop"
    assert program.proceed(True) == Returned("act() takes a text")


def test_code_that_only_asks_is_stopped(make: Make) -> None:
    asked: list[str] = []

    def counted(function: str, _args: Any, _kwargs: Any) -> int:
        asked.append(function)
        return 1

    program = make(
        "def run() -> str:\n    act('noop')\n    while True:\n        count('wood')\n",
        Limits(questions_per_frame=50),
    )
    assert program.begin(counted) == "noop"
    assert program.proceed(True) == Raised(
        "asked 50 questions without taking an action", 4, "questions"
    )
    assert len(asked) == 49


def test_code_that_only_acts_wrongly_is_stopped(make: Make) -> None:
    program = make(
        "def run() -> str:\n    while True:\n        try:\n            act('fly')\n"
        "        except ValueError:\n            pass\n",
        Limits(questions_per_frame=50),
    )
    step: Any = program.begin(ask)
    times = 0
    while step == "fly":
        times += 1
        step = program.reject("no such action")
    assert isinstance(step, Raised)
    assert step.kind == "questions"
    assert times == 50


def test_questions_are_counted_anew_after_each_action(make: Make) -> None:
    program = make(
        "def run() -> str:\n    for _ in range(9):\n        for _ in range(30):\n"
        "            count('wood')\n        act('noop')\n    return 'x'\n",
        Limits(questions_per_frame=50),
    )
    step: Any = program.begin(ask)
    while step == "noop":
        step = program.proceed(True)
    assert step == Returned("x")


def test_many_executions_of_one_code_at_once(make: Make) -> None:
    code = FastCode(CHOP, frozenset({"act", "approach", "count"}), "act")
    programs = [FastProgram(code) for _ in range(16)]
    for number, program in enumerate(programs):

        def answer(function: str, _args: Any, _kwargs: Any, number: int = number) -> Any:
            return {"approach": f"way {number}", "count": number}[function]

        assert program.begin(answer) == f"way {number}"
    for _ in range(2):
        for number, program in enumerate(programs):
            assert program.proceed(True) == f"way {number}"
    ends = [program.proceed(True) for program in programs]
    assert ends == [Returned(f"done with {number}") for number in range(16)]


def test_programs_from_many_threads(make: Make) -> None:
    code = FastCode(CHOP, frozenset({"act", "approach", "count"}), "act")
    ends: list[Any] = []

    def work() -> None:
        program = FastProgram(code)
        for _ in range(50):
            step: Any = program.begin(ask)
            while step == "left":
                step = program.proceed(True)
            ends.append(step)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == [Returned("done with 7")] * 200


# --- endings ------------------------------------------------------------------------------


def test_abort_ends_an_execution_whatever_the_code_catches(make: Make) -> None:
    program = make(
        "def run() -> str:\n    while True:\n        try:\n"
        '            act("noop")\n        except Exception:\n            pass\n'
    )
    assert program.begin(ask) == "noop"
    program.abort()
    with pytest.raises(SandboxError, match="no action waits"):
        program.proceed(True)
    with pytest.raises(SandboxError, match="no action waits"):
        program.reject("x")
    assert isinstance(program.start(), WorldCall)
    with pytest.raises(SandboxError, match="no action waits"):
        program.proceed(True)
    program.close()
    with pytest.raises(SandboxError, match="no world call waits"):
        program.answer(True)
    with pytest.raises(SandboxError, match="no world call waits"):
        program.fail("x")


def test_recursion_ends_and_counts_anew(make: Make, run_turns: Any) -> None:
    program = make(
        "def down(n: int) -> int:\n    act('noop')\n    return 0 if n == 0 else down(n - 1)\n\n"
        "def run() -> str:\n    return f'{down(40)} {down(80)}'\n"
    )
    for _ in range(2):
        assert run_turns(program)[1] == Returned("0 0")
    deep = make(
        "def down(n: int) -> int:\n    return 0 if n == 0 else down(n - 1)\n\n"
        "def run() -> str:\n    try:\n        down(101)\n    except Exception:\n"
        "        return 'caught'\n    return ''\n"
    )
    end = deep.start()
    assert isinstance(end, Raised)
    assert "100 deep" in end.message


def test_what_was_printed_can_be_read(make: Make) -> None:
    program = make('def run() -> str:\n    print("seen", 3, [1])\n    return "x"\n')
    program.start()
    assert program.printed == "seen 3 [1]\n"


def test_a_long_returned_text_is_cut(make: Make) -> None:
    end = make('def run() -> str:\n    return "x" * 10000\n').start()
    assert end == Returned("x" * 2000)


def test_sets_keep_the_order_of_insertion(make: Make) -> None:
    program = make(
        "def run() -> str:\n    x = {'pear', 'fig', 'plum'} | {'lime', 'fig'}\n"
        "    x.remove('fig')\n    x.add('fig')\n    return ' '.join(x)\n"
    )
    assert program.start() == Returned("pear plum lime fig")


def test_the_same_program_gives_the_same_turns(make: Make, run_turns: Any) -> None:
    program = make(
        "def run() -> str:\n    x = {approach('wood'), approach('stone')}\n"
        "    for item in x: count(item)\n    return str(x)\n"
    )
    answers = ["zinc", "amber", 1, 1]
    assert run_turns(program, answers) == run_turns(program, answers)
