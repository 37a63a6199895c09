"""Small programs made at random mean the same in Monty and in fast mode."""

from __future__ import annotations

import textwrap
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from engine.sandbox.fast.code import FastCode
from engine.sandbox.fast.program import FastProgram
from engine.sandbox.pool import Limits, Sandbox
from engine.sandbox.turns import Raised, Returned, Turn, WorldCall

FUNCTIONS = frozenset({"act", "count", "approach"})
NUMBERS, LISTS, TEXTS = ("a", "b", "n"), ("xs", "ys"), ("s", "t")
HEAD = """\
LIMIT = 4
PAIRS = (("left", 1), ("right", 2))


def double(n: int, times: int = 2) -> int:
    \"\"\"A function of numbers alone.\"\"\"
    return n * times


def ask(item: str) -> int:
    \"\"\"A function that asks.\"\"\"
    for _ in range(2):
        if count(item) > 1:
            return count(item)
    return 0


def step(action: str, times: int) -> int:
    \"\"\"A function that acts.\"\"\"
    done = 0
    while done < times % 3:
        if act(action):
            done += 1
        else:
            break
    return done


def run() -> str:
    a, b, n = 3, -2, LIMIT
    xs, ys = [1, 2, 3], [5, 4]
    s, t = "ab", "Wood"
    d = {"one": 1, "two": 2}
    u = {3, 1, 2}
    f = 1.5
"""
TAIL = '    return f"{a} {b} {n} {xs} {ys} {s!r} {t} {d} {u} {f} {f:.2f}"\n'

small = st.integers(-9, 9).map(str)
words = st.sampled_from(['"x"', '"Wood"', '"a b"', '""', '"one"'])
names = st.sampled_from(['"wood"', '"stone"'])


def _form(pattern: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(lambda chosen: pattern.format(*chosen))


def _expressions(depth: int) -> dict[str, st.SearchStrategy[str]]:
    """Strategies for expressions of each kind, with at most `depth` levels below."""
    number: st.SearchStrategy[str] = st.one_of(
        small, st.sampled_from((*NUMBERS, "LIMIT")), _form("count({})", names)
    )
    text: st.SearchStrategy[str] = st.one_of(words, st.sampled_from(TEXTS))
    many: st.SearchStrategy[str] = st.sampled_from((*LISTS, "[]", "[7, 7]"))
    truth: st.SearchStrategy[str] = st.sampled_from(("True", "False", "n > 2", "s in t"))
    members: st.SearchStrategy[str] = st.sampled_from(("u", "set()", "{5, 3}"))
    if depth:
        below = _expressions(depth - 1)
        number, text, many = below["number"], below["text"], below["many"]
        truth, members = below["truth"], below["members"]
        number = st.one_of(
            number,
            *(_form(f"({{}} {sign} {{}})", number, number) for sign in "+-*"),
            *(_form(f"({{}} {sign} {{}})", number, number) for sign in ("//", "%", "&", "|", "^")),
            _form("(-{})", number),
            _form("abs({})", number),
            _form("double({}, times={})", number, number),
            _form("ask({})", names),
            _form("step({}, {})", names, number),
            _form("min({}, {})", number, number),
            _form("max({}, default={})", many, number),
            _form("max({}, key=lambda v: -v, default=0)", many),
            _form("sum({})", many),
            _form("sum(v * 2 for v in {} if v > {})", many, number),
            _form("len({})", st.one_of(many, text, members)),
            _form("{}[{}]", many, number),
            _form("d.get({}, {})", text, number),
            _form("d[{}]", text),
            _form("({} if {} else {})", number, truth, number),
            _form("{}.index({})", many, number),
            _form("{}.count({})", many, number),
            _form("int({} * 1.0)", number),
            _form("round({} / 4)", number),
            _form("({} ** 2)", number),
        )
        text = st.one_of(
            text,
            _form("({} + {})", text, text),
            _form("({} * ({} % 3))", text, number),
            _form("str({})", st.one_of(number, many, members, truth, st.just("d"))),
            _form("repr({})", st.one_of(text, many)),
            _form('f"{{{}}}-{{{}!r}}"', st.sampled_from(NUMBERS), st.sampled_from(TEXTS)),
            _form('f"{{{}:>4}}|{{{}:<5}}|"', st.sampled_from(NUMBERS), st.sampled_from(TEXTS)),
            _form("{}.upper()", text),
            _form("{}.replace({}, {})", text, text, text),
            _form('",".join([str(v) for v in {}])', many),
            _form("{}[{}:{}]", text, number, number),
            _form("{}[::-1]", text),
            _form("(approach({}) or {})", names, text),
        )
        many = st.one_of(
            many,
            _form("[{}, {}]", number, number),
            _form("({} + {})", many, many),
            _form("[v + {} for v in {} if v != {}]", number, many, number),
            _form("[v * w for v in {} for w in range(2)]", many),
            _form("[count({}) + v for v in {}]", names, many),
            _form("sorted({})", st.one_of(many, members)),
            _form("sorted({}, key=abs, reverse={})", many, truth),
            _form("{}[{}:]", many, number),
            _form("list(range({} % 5))", number),
            _form("list(reversed({}))", many),
            _form("[v for v in {}]", members),
            _form(
                "list(d.values())",
            ),
            _form("[i * v for i, v in enumerate({})]", many),
            _form("[v - w for v, w in zip({}, {})]", many, many),
        )
        truth = st.one_of(
            truth,
            *(_form(f"({{}} {sign} {{}})", number, number) for sign in ("<", ">=", "==", "!=")),
            _form("({} < {} <= {})", number, number, number),
            _form("({} in {})", number, st.one_of(many, members)),
            _form("({} not in {})", text, st.just("d")),
            _form("({} == {})", many, many),
            _form("({} < {})", text, text),
            _form("(not {})", truth),
            _form("({} and {})", truth, truth),
            _form("({} or {})", truth, truth),
            _form("any(v > {} for v in {})", number, many),
            _form("all([v < {} for v in {}])", number, many),
            _form("isinstance({}, (int, str))", st.one_of(number, text, many)),
            _form("act({})", names),
        )
        members = st.one_of(
            members,
            *(_form(f"({{}} {sign} {{}})", members, members) for sign in "|&-^"),
            _form("set({})", many),
            _form("{{v % 3 for v in {}}}", many),
        )
    return {"number": number, "text": text, "many": many, "truth": truth, "members": members}


E = _expressions(2)


def _indented(block: str) -> str:
    return textwrap.indent(block, "    ")


def _statements(depth: int) -> st.SearchStrategy[str]:
    simple = st.one_of(
        _form("{} = {}", st.sampled_from(NUMBERS), E["number"]),
        _form("{} = {}", st.sampled_from(TEXTS), E["text"]),
        _form("{} = {}", st.sampled_from(LISTS), E["many"]),
        _form("u = {}", E["members"]),
        _form("f = {} / 8 + 0.1", E["number"]),
        _form("{} += {}", st.sampled_from(NUMBERS), E["number"]),
        _form("{} *= 2", st.sampled_from(NUMBERS)),
        _form("{} += {}", st.sampled_from(LISTS), E["many"]),
        _form("{} += {}", st.sampled_from(TEXTS), E["text"]),
        _form("{}.append({})", st.sampled_from(LISTS), E["number"]),
        _form("{}.insert({}, {})", st.sampled_from(LISTS), E["number"], E["number"]),
        _form("{}.pop({})", st.sampled_from(LISTS), E["number"]),
        _form("{}.sort(key=lambda v: v % 3)", st.sampled_from(LISTS)),
        _form("{}[{}] = {}", st.sampled_from(LISTS), E["number"], E["number"]),
        _form("{}[{}] += {}", st.sampled_from(LISTS), E["number"], E["number"]),
        _form("d[{}] = {}", E["text"], E["number"]),
        _form("d.setdefault({}, {})", E["text"], E["number"]),
        _form("d.pop({}, None)", E["text"]),
        _form("d.update({{{}: {}}})", E["text"], E["number"]),
        _form("u.add({})", E["number"]),
        _form("u.discard({})", E["number"]),
        st.sampled_from(["a, b = b, a", "xs[0], xs[-1] = xs[-1], xs[0]", "xs = ys", "d |= d"]),
        _form("act({})", E["text"]),
        _form("print({}, {})", E["text"], E["number"]),
        _form("assert {}, {}", E["truth"], E["text"]),
        _form("raise ValueError({})", E["text"]),
        _form("n = (m := {}) + m", E["number"]),
        _form(
            "try:\n    raise KeyError({})\n"
            "except LookupError as error:\n    t = f'{{error}} {{error!r}}'",
            E["text"],
        ),
    )
    if depth == 0:
        return simple
    inner = _statements(depth - 1)
    block = st.lists(inner, min_size=1, max_size=3).map(lambda lines: _indented("\n".join(lines)))
    return st.one_of(
        simple,
        simple,
        _form("if {}:\n{}\nelse:\n{}", E["truth"], block, block),
        _form("for v in {}:\n{}\n    if v > {}:\n        break", E["many"], block, E["number"]),
        _form("for v in range({} % 4):\n{}\n    continue\nelse:\n    n += 1", E["number"], block),
        _form("for i, v in enumerate({}):\n{}", E["text"], block),
        _form("for k, v in list(d.items()):\n{}\n    b += v", block),
        _form("for way, v in PAIRS:\n{}\n    s += way", block),
        _form("for k in range(4):\n    if not {}:\n        break\n{}", E["truth"], block),
        _form(
            "try:\n{}\nexcept {}:\n    s = 'caught'\nelse:\n{}",
            block,
            st.sampled_from(("ValueError", "(KeyError, IndexError)", "Exception", "LookupError")),
            block,
        ),
        _form("try:\n{}\nexcept ZeroDivisionError:\n{}\n    raise", block, block),
        _form("if {}:\n    return {}", E["truth"], E["text"]),
    )


programs = st.lists(_statements(2), min_size=2, max_size=6).map(
    lambda lines: HEAD + _indented("\n".join(lines)) + "\n" + TAIL
)
answers = st.lists(st.integers(0, 4), min_size=8, max_size=8)


def _answer(call: WorldCall, given: list[int], number: int) -> Any:
    """What the world says: a number, a direction or nothing; an unknown thing is an error."""
    value = given[number % len(given)]
    if call.function == "act":
        return value % 2 == 0
    if call.args not in (("wood",), ("stone",)):
        raise ValueError(f"no {call.args!r:.40}")
    return value if call.function == "count" else [None, "left", "right", "", "do"][value]


def _by_calls(program: Any, given: list[int]) -> tuple[list[Any], Turn]:
    log: list[Any] = []
    turn = program.start()
    while isinstance(turn, WorldCall) and len(log) < 120:
        log.append((turn.function, turn.args, turn.line))
        try:
            value = _answer(turn, given, len(log))
        except ValueError as error:
            turn = program.fail(str(error))
        else:
            turn = program.answer(value)
    program.abort()
    return log, turn


def _by_actions(program: FastProgram, given: list[int]) -> tuple[list[Any], Any]:
    log: list[Any] = []

    def ask(function: str, args: tuple[Any, ...], _kwargs: Any) -> Any:
        log.append((function, args))
        return _answer(WorldCall(function, args, {}, 0), given, len(log))

    step: Any = program.begin(ask)
    while isinstance(step, str | WorldCall) and len(log) < 120:
        args = (step,) if isinstance(step, str) else step.args
        log.append(("act", args))
        step = program.proceed(_answer(WorldCall("act", args, {}, 0), given, len(log)))
    program.abort()
    return log, step


def _told(end: Turn) -> Any:
    """What can be compared: the words of an error differ between interpreters, its kind cannot."""
    if isinstance(end, Raised):
        return end.kind, end.message.split(":")[0]
    return end if isinstance(end, Returned) else "cut"


@settings(
    max_examples=150,
    deadline=None,
    phases=[Phase.generate],  # each example is a program; making it smaller takes minutes
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(code=programs, given_answers=answers)
def test_both_executors_agree(sandbox: Sandbox, code: str, given_answers: list[int]) -> None:
    translated = FastCode(code, FUNCTIONS, "act")
    limits = Limits(calls=500)
    monty = sandbox.load(code)
    log, end = _by_calls(monty, given_answers)
    fast = FastProgram(translated, limits)
    fast_log, fast_end = _by_calls(fast, given_answers)
    assert (fast_log, _told(fast_end)) == (log, _told(end)), code
    assert fast.printed == monty.printed
    acted_log, acted_end = _by_actions(fast, given_answers)
    assert acted_log == [(function, args) for function, args, _ in log]
    if len(acted_log) < 120:
        assert _told(acted_end) == _told(end)
