"""Hostile code in fast mode: refused, stopped by the second wall, or ended within its bounds."""

from __future__ import annotations

import ast
import runpy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.sandbox import allow_list
from engine.sandbox.fast import words
from engine.sandbox.fast.code import FastCode, NotAccepted
from engine.sandbox.fast.program import FastProgram
from engine.sandbox.fast.runtime import HELPERS
from engine.sandbox.fast.translate import translate
from engine.sandbox.fast.verify import parts_of, verify
from engine.sandbox.turns import Raised, Returned

_LONGEST_SECONDS = 3.0
_FUNCTIONS = frozenset({"act", "count", "approach"})
_MONTY_ATTACKS = runpy.run_path(str(Path(__file__).parents[1] / "test_hostile.py"))["ATTACKS"]
GOOD = 'def run() -> str:\n    act("noop")\n    return "fine"\n'


def _in_run(body: str) -> str:
    return "def run() -> str:\n" + "".join(f"    {line}\n" for line in body.splitlines())


REFUSED = {
    # attributes and what hides behind them
    "class of a tuple": ("return ().__class__", "Attribute is not accepted"),
    "dunder method": ("return ().__class__()", "`.__class__` is not accepted"),
    "subclasses": ("x = ().__class__.__bases__[0].__subclasses__()", "`.__subclasses__`"),
    "private attribute": ("x = [].x_", "Attribute"),
    "attribute to write": ("x = 1\nx.y = 2", "only names and items"),
    "attribute in a loop target": ("for act.x in [1]: pass", "only names and items"),
    "augmented attribute": ("x = 1\nx.y += 2", "only names and items"),
    "bound method as a value": ("x = [].append", "Attribute"),
    "format": ('return "{0.__class__}".format(1)', "`.format` is not accepted"),
    "format_map": ('return "{x}".format_map({})', "`.format_map`"),
    "format of the type": ('return str.format("{0}", 1)', "`.format`"),
    "join of the type": ('return str.join("", ["a"])', "`str` is no value"),
    "encode": ('x = "a".encode("rot13")', "`.encode`"),
    "translate": ('x = "a".translate({97: "b" * 10**6})', "`.translate`"),
    "maketrans": ('x = str.maketrans("a", "b")', "`.maketrans`"),
    "frame of a generator": ("g = (i for i in [1])\nx = g.gi_frame", "GeneratorExp"),
    "generator kept": ("g = (i for i in [1])\nreturn str(g)", "GeneratorExp"),
    "iterator kept": ("z = zip([1], [2])\nreturn str(z)", "gone through at once"),
    "traceback": (
        "try:\n    1 // 0\nexcept ValueError as e:\n    x = e.__traceback__",
        "Attribute",
    ),
    "context of an error": (
        "try:\n    pass\nexcept ValueError as e:\n    x = e.__context__.__traceback__",
        "Attribute",
    ),
    "arguments of an error": (
        "try:\n    pass\nexcept ValueError as e:\n    x = e.args",
        "Attribute",
    ),
    "error kept": ("try:\n    pass\nexcept ValueError as e:\n    x = [e]", "`e` is an error"),
    "error in a closure": (
        "try:\n    pass\nexcept ValueError as e:\n    x = [e for _ in [1]]",
        "`e` is an error",
    ),
    "error by another name": (
        "try:\n    pass\nexcept ValueError as e:\n    e = 1",
        "use another name",
    ),
    "error passed on": ("try:\n    pass\nexcept ValueError as e:\n    act(e)", "`e` is an error"),
    "error of errors": (
        "try:\n    pass\nexcept ValueError as e:\n    raise KeyError(e)",
        "`e` is an error",
    ),
    "error after its handler": ("try:\n    pass\nexcept ValueError as e:\n    pass\nx = e", "`e`"),
    # names
    "underscore": ("_x = 1", "'_x' is not accepted"),
    "helper by its name": ("x = op_tick(1)", "no function that can be called"),
    "dunder name": ("x = __builtins__", "not known here"),
    "import function": ("x = __import__('os')", "no function that can be called"),
    "unknown function": ("x = getattr(1, 'x')", "no function that can be called"),
    "eval": ("x = eval('1')", "no function that can be called"),
    "exec": ("exec('1')", "no function that can be called"),
    "open": ("open('x')", "no function that can be called"),
    "type": ("x = type(1)", "no function that can be called"),
    "type of three": ("x = type('X', (), {})", "no function that can be called"),
    "vars": ("x = vars()", "no function that can be called"),
    "globals": ("x = globals()", "no function that can be called"),
    "object": ("x = object()", "no function that can be called"),
    "memoryview": ("x = memoryview(b'')", "no function that can be called"),
    "breakpoint": ("breakpoint()", "no function that can be called"),
    "input": ("x = input()", "no function that can be called"),
    "hash": ("x = hash('a')", "no function that can be called"),
    "id": ("x = id(act)", "no function that can be called"),
    "iter without end": ("for x in iter(int, 1): pass", "no function that can be called"),
    "map": ("x = map(act, ['noop'])", "no function that can be called"),
    "shadow a builtin": ("len = 3", "`len` is taken"),
    "shadow a builtin in a comprehension": ("x = [len for len in [1]]", "`len` is taken"),
    "shadow a builtin by an error": (
        "try:\n    pass\nexcept ValueError as len:\n    pass",
        "`len` is taken",
    ),
    "shadow a builtin by a walrus": ("x = (print := 3)", "`print` is taken"),
    "shadow the world": ("act = 1", "`act` is taken"),
    "shadow an error": ("ValueError = 1", "`ValueError` is taken"),
    "a function as a value": ("x = act", "`act` is no value"),
    "itself as a value": ("x = run", "`run` is no value"),
    "a builtin as a value": ("x = [len]", "`len` is no value"),
    "an error as a value": ("x = ValueError", "`ValueError` is no value"),
    "letters that look alike": ("\uff41ct = 1", "`act` is taken"),
    "letters of other scripts": ("é = 1", "letters of ASCII"),
    # calls
    "call of a call": ("x = str(1)()", "by their names"),
    "call of an item": ("x = [1][0]()", "by their names"),
    "call of a lambda": ("x = (lambda: 1)()", "by their names"),
    "call of a variable": ("x = 1\nx()", "no function that can be called"),
    "stars in a call": ("act(*['noop'])", "Starred"),
    "double stars in a call": ("act(**{'action': 'noop'})", "`**` in a call"),
    "stars in a list": ("x = [*range(10**9)]", "Starred"),
    "stars in a target": ("a, *b = [1, 2]", "only names and items"),
    "double stars in a dict": ("x = {**{}}", "`**` in a dict"),
    "dict of keywords": ("x = dict(__class__=1)", "`dict` takes no __class__"),
    "file of print": ("print('x', file=1)", "`print` takes no file"),
    "world as a key": ("x = sorted([1], key=act)", "`key=` takes"),
    "world in a key": ("x = sorted([1], key=lambda v: count('wood'))", "from a `key=`"),
    "lambda with a default": ("x = sorted([1], key=lambda v, w=act: 1)", "one parameter"),
    "key of several": ("x = max(1, 2, key=lambda v: v)", "single list"),
    "isinstance of a made-up type": ("x = isinstance(1, object)", "isinstance() knows"),
    "two actions at once": ("act('noop', 'do')", "takes one argument"),
    # syntax
    "import": ("import os", "Import"),
    "import from": ("from os import system", "ImportFrom"),
    "class": ("class A: pass", "ClassDef"),
    "lambda": ("x = lambda: 1", "Lambda"),
    "yield": ("yield 1", "Yield"),
    "yield from": ("yield from [1]", "YieldFrom"),
    "yield in an f-string": ("x = f'{(yield)}'", "Yield"),
    "await": ("await act('noop')", "Await"),
    "async def": ("async def f(): pass", "AsyncFunctionDef"),
    "async comprehension": ("x = [i async for i in [1]]", "`async`"),
    "with": ("with act: pass", "With"),
    "del": ("x = 1\ndel x", "Delete"),
    "global": ("global x\nx = 1", "Global"),
    "nonlocal": ("nonlocal x", "Nonlocal"),
    "match": ("match 1:\n    case 1: pass", "Match"),
    "match of a class": ("match 1:\n    case int(real=x): pass", "Match"),
    "except star": ("try:\n    pass\nexcept* ValueError:\n    pass", "TryStar"),
    "finally": ("try:\n    pass\nfinally:\n    act('noop')", "`finally`"),
    "bare except": ("try:\n    pass\nexcept:\n    pass", "what can be caught"),
    "except BaseException": ("try:\n    pass\nexcept BaseException:\n    pass", "can be caught"),
    "except MemoryError": ("try:\n    pass\nexcept MemoryError:\n    pass", "can be caught"),
    "except GeneratorExit": ("try:\n    pass\nexcept GeneratorExit:\n    pass", "can be caught"),
    "except an expression": (
        "try:\n    pass\nexcept (ValueError, act('noop')):\n    pass",
        "caught",
    ),
    "raise alone": ("raise", "`raise` alone"),
    "raise alone in a function": ("return 1\n\ndef f():\n    raise", "FunctionDef"),
    "raise what is no error": ("raise act", "no error that can be raised"),
    "raise StopIteration": ("raise StopIteration", "no error that can be raised"),
    "raise from": ("raise ValueError('a') from KeyError('b')", "`raise ... from`"),
    "raise a call": ("raise str(1)", "what can be raised"),
    "nested function": ("def f(): pass", "FunctionDef"),
    "walrus in a comprehension": ("x = [y := i for i in [1]]", "`:=`"),
    "slice to write": ("x = [1]\nx[0:1] = [2]", "slices cannot be assigned"),
    "is of numbers": ("return str(1 is 1)", "`is` compares"),
    # operators and literals
    "power": ("x = 10**10**8", "`**` takes"),
    "power of a variable": ("n = 9\nx = 2**n", "`**` takes"),
    "power in place": ("x = 9\nx **= 9", "Pow"),
    "power of a bool": ("x = 9**True", "`**` takes"),
    "shift": ("x = 1 << 10**9", "LShift"),
    "shift in place": ("x = 1\nx <<= 10**9", "LShift"),
    "matrix product": ("x = 1 @ 1", "MatMult"),
    "percent": ('x = "%1000000000d" % 1', "f-strings"),
    "bytes": ("x = b'a'", "literal b'a'"),
    "complex": ("x = 1j", "literal 1j"),
    "ellipsis": ("x = ...", "literal Ellipsis"),
    "half of a character": ("x = '\\ud800'", "half of a character"),
    "type without a value": ("x: int", "give the name a value"),
    "huge literal": (f"x = {10**30}", "beyond 64 bits"),
    # f-strings
    "wide f-string": ('x = f"{1:>1000000000}"', "a width below 1000"),
    "precise f-string": ('x = f"{1.0:.1000000000f}"', "a width below 1000"),
    "width from a value": ('n = 10**9\nx = f"{1:>{n}}"', "a width below 1000"),
    "ascii of an f-string": ('x = f"{1!a}"', "!r and !s"),
    "class in an f-string": ('x = f"{().__class__}"', "Attribute"),
    "call in an f-string": ("x = f\"{__import__('os')}\"", "no function that can be called"),
}

REFUSED_WHOLE = {
    "statement outside": ("x = 1\nif x: x = 2\n" + GOOD, "only constants and functions"),
    "action outside": ("X = act('noop')\n" + GOOD, "called outside a function"),
    "own function outside": (
        "def f() -> int:\n    return 1\nX = f()\n" + GOOD,
        "outside a function",
    ),
    "decorator": ("@print\n" + GOOD, "decorators"),
    "decorator with a call": ("@act('noop')\n" + GOOD, "decorators"),
    "default of a parameter": ("def f(a=act('noop')) -> str: pass\n" + GOOD, "default"),
    "mutable default": ("def f(a=[]) -> str: pass\n" + GOOD, "default"),
    "star parameter": ("def f(*a) -> str: pass\n" + GOOD, "plain names"),
    "double star parameter": ("def f(**a) -> str: pass\n" + GOOD, "plain names"),
    "parameter of a builtin's name": ("def f(len) -> str: pass\n" + GOOD, "`len` is taken"),
    "parameter with underscores": ("def f(__x) -> str: pass\n" + GOOD, "'__x'"),
    "function of a builtin's name": ("def len() -> str: pass\n" + GOOD, "not free"),
    "function of the world's name": ("def act(a) -> bool: return True\n" + GOOD, "not free"),
    "function with underscores": ("def __init__() -> str: pass\n" + GOOD, "not free"),
    "constant of a function's name": ("run = 1\n" + GOOD, "not free"),
    "function twice": (GOOD + GOOD, "defined twice"),
    "raise alone, called in a handler": (
        "def f() -> None:\n    raise\n" + _in_run("try:\n    f()\nexcept ValueError:\n    f()"),
        "`raise` alone",
    ),
    "deep nesting": (_in_run(f"return {'(' * 70}1{',)' * 70}"), "nested deeper"),
    "deeper nesting": (_in_run(f"return {'-' * 3000}1"), ""),
    "long chain": (_in_run(f"return {'+'.join(['1'] * 900)}"), "nested deeper"),
    "longer chain": (_in_run(f"return {'+'.join(['1'] * 20000)}"), ""),
    "nested beyond the parser": (_in_run(f"return {'[' * 5000}"), ""),
}

CONTAINED = {
    # time
    "loop for ever": ("n = 1\nwhile n:\n    n += 1", "time"),
    "loop of loops": (
        "while True:\n    for i in range(9):\n        for j in range(9): pass",
        "time",
    ),
    "huge range": ("for i in range(10**18): pass", "time"),
    "growing list": ("x = [1]\nfor y in x:\n    x.append(y)", "memory"),
    "comprehension for ever": ("x = [i for i in range(10**15) if i < 0]", "time"),
    "nested comprehension": (
        "x = [j for i in range(10**9) for j in range(10**9) if j < 0]",
        "time",
    ),
    "swallow the limit": (
        "while True:\n    try:\n        while True: pass\n    except Exception:\n        pass",
        "time",
    ),
    "swallow it in a function": (
        "for i in range(10**9):\n    try:\n        x = sum([j for j in range(10**5)])\n"
        "    except (ValueError, Exception) as e:\n        x = str(e)",
        "time",
    ),
    "much to sort": (
        "x = list(range(10**5))\nfor i in range(10**5):\n    x = sorted(x, reverse=True)",
        "time",
    ),
    "much to search": ("x = list(range(10**5))\nwhile True:\n    y = -1 in x", "time"),
    "much to search for equals": (
        "t = [[0] * 100] * 1000\nwhile True:\n    y = [1] * 100 in t",
        "time",
    ),
    "much to copy": ("x = list(range(10**5))\nwhile True:\n    y = x[:]", "time"),
    "long texts to compare for ever": (
        "a, b = 'x' * 99999 + 'a', 'x' * 99999 + 'a'\nwhile a == b: pass",
        "time",
    ),
    "long texts to look up for ever": (
        "a, b = 'x' * 99999 + 'a', 'x' * 99999 + 'a'\nd = {a: 1}\nwhile d[b]: pass",
        "time",
    ),
    "much to ask": (
        "x = [[0] * 99] * 99\nfor i in range(600):\n    for j in range(99): count(x)",
        "time or calls",
    ),
    "long texts to sort": (
        "a = ['x' * 99999 + 'a', 'x' * 99999 + 'b'] * 40000\nwhile True:\n    a.sort()",
        "time",
    ),
    "compare what is nested in itself": (
        "a = b = [1]\nfor i in range(25):\n    a = [a, a]\n    b = [b, b]\nreturn str(a == b)",
        "time",
    ),
    "order what is nested in itself": (
        "a = b = (1,)\nfor i in range(25):\n    a = (a, a)\n    b = (b, b)\nreturn str(a < b)",
        "time",
    ),
    "hash what is nested in itself": (
        "a = (1,)\nfor i in range(25):\n    a = (a, a)\nx = {a: 1}",
        "time",
    ),
    "look up what is nested in itself": (
        "a = (1,)\nfor i in range(25):\n    a = (a, a)\nx = {}.get(a)",
        "time",
    ),
    "a set of what is nested in itself": (
        "a = (1,)\nfor i in range(25):\n    a = (a, a)\nx = {a}",
        "time",
    ),
    "min of what is nested in itself": (
        "a = b = [1]\nfor i in range(25):\n    a = [a, a]\n    b = [b, b]\nx = min([a, b])",
        "time",
    ),
    "index of what is nested in itself": (
        "a = b = [1]\nfor i in range(25):\n    a = [a, a]\n    b = [b, b]\nx = [a].index(b)",
        "time",
    ),
    "pass what is nested in itself": (
        "a = ('noop',)\nfor i in range(7):\n    a = (a,) * 40\nact(a)",
        "exception",
    ),
    # memory
    "one huge text": ('x = "a" * 10**10', "memory"),
    "one huge list": ("x = [0] * 10**10", "memory"),
    "huge list, times first": ("x = 10**10 * [0]", "memory"),
    "huge list in place": ("x = [0]\nx *= 10**10", "memory"),
    "list of a range": ("x = list(range(10**9))", "memory"),
    "tuple of a range": ("x = tuple(range(10**9))", "memory"),
    "set of a range": ("x = set(range(10**9))", "memory"),
    "sum of a range": ("x = sum(range(10**15))", "memory"),
    "max of a range": ("x = max(range(10**15))", "memory"),
    "sorted range": ("x = sorted(range(10**15))", "memory"),
    "list of a zip": ("x = list(zip(range(10**15), range(10**15)))", "memory"),
    "dict of pairs": ("x = dict(enumerate(range(10**15)))", "memory"),
    "any of a range": (
        "x = any(range(0, 10**15, 10**15 + 1))\ny = all(range(1, 10**15))",
        "memory",
    ),
    "doubling text": ('x = "a"\nwhile True:\n    x = x + x', "memory"),
    "doubling text in place": ('x = "a"\nwhile True:\n    x += x', "memory"),
    "doubling list": ("x = [1]\nwhile True:\n    x += x", "memory"),
    "doubling tuple": ("x = (1,)\nwhile True:\n    x = x + x", "memory"),
    "doubling by extend": ("x = [1]\nwhile True:\n    x.extend(x)", "memory"),
    "doubling f-string": ('x = "a"\nwhile True:\n    x = f"{x}{x}"', "memory"),
    "doubling by join": ('x = "ab"\nwhile True:\n    x = x.join([x, x, x])', "memory"),
    "doubling by replace": ('x = "ab"\nwhile True:\n    x = x.replace("a", x)', "memory"),
    "replace of nothing": ('x = "a" * 99999\ny = x.replace("", x)', "memory"),
    "long join": ('x = ("a" * 99999).join(["b"] * 99999)', "memory"),
    "text of a long list": ('x = str(["a" * 90000] * 10)', "memory"),
    "text of what is nested in itself": (
        "a = [1]\nfor i in range(25):\n    a = [a, a]\nreturn str(a)",
        "memory",
    ),
    "f-string of what is nested in itself": (
        'a = [1]\nfor i in range(25):\n    a = [a, a]\nreturn f"{a}"',
        "memory",
    ),
    "a list in itself": ("a = []\na.append(a)\nreturn str(a)", "memory"),
    "a dict in itself": ("a = {}\na[1] = a\nreturn str(a == {1: a})", "memory"),
    "a tuple that crashes a hash": (
        "a = ()\nfor i in range(100000):\n    a = (a,)\nx = {a: 1}",
        "memory",
    ),
    "a tuple that crashes a look-up": (
        "a = ()\nfor i in range(100000):\n    a = (a,)\nx = a in {}",
        "memory",
    ),
    "many items": ("x = []\nwhile True:\n    x.append(1)", "memory or time"),
    "many inserts": ("x = []\nwhile True:\n    x.insert(len(x), 1)", "memory or time"),
    "many keys": ("x = {}\nfor i in range(10**9):\n    x[i] = i", "memory or time"),
    "many keys by setdefault": (
        "x = {}\nfor i in range(10**9):\n    x.setdefault(i, i)",
        "memory or time",
    ),
    "many members": ("x = set()\nfor i in range(10**9):\n    x.add(i)", "memory or time"),
    "many characters": ('x = ""\nwhile True:\n    x += "abcdefghijklmnop"', "memory or time"),
    "huge product": ("x = 3\nwhile True:\n    x = x * x", "memory"),
    "huge product in place": ("x = 3\nwhile True:\n    x *= x", "memory"),
    "huge power by squares": ("x = 3\nwhile True:\n    x = x**2", "memory"),
    "huge sum": ("x = 1\nwhile True:\n    x = x + x", "memory"),
    "huge difference": ("x = 1\nwhile True:\n    x = x - -x", "memory"),
    "huge sum of a list": ("x = 1\nwhile True:\n    x = sum([x, x, x])", "memory"),
    "long digits": ('x = int("9" * 5000)', "memory"),
    "long decimals": ('x = float("9" * 5000)', "memory"),
    "round to nothing": ("x = round(5, -10**9)", "memory"),
    "colliding keys": (f"x = {{}}\nfor i in range(9):\n    x[i * {2**61 - 1}] = i", "memory"),
    "colliding members": (f"x = set()\nfor i in range(9):\n    x.add(i * {2**61 - 1})", "memory"),
    # errors
    "half of a character by number": ("return chr(55296)", "exception"),
    "an error that names a huge key": ("x = {}\ny = x[('x' * 99999,) * 999]", "exception"),
    "deep recursion": ("return f(0)", "exception"),
    "recursion of two": ("return g(0)", "exception"),
    "text of a percent": ('x = "%1000000000d"\ny = x % 1', "exception"),
    "views together": ("x = {'a': 1}.keys() & {'a'}", "exception"),
    "an append to a number": ("x = 1\nx.append(2)", "exception"),
    "a number as a list": ("for i in 5: pass", "exception"),
    "reach for a set": ("x = {1}\nreturn x[0]", "exception"),
    "return no text": ("return 5", "exception"),
    "pass a set": ("count({1})", "exception"),
    "pass a huge number": ("x = 2\nfor i in range(6):\n    x = x * x\nact(x * x)", "exception"),
    "pass a huge text": ("act('x' * 10**5)", "exception"),
    "pass a bottomless list": ("x = []\nfor i in range(20): x = [x]\nact(x)", "exception"),
    # others
    "flood the output": ('while True:\n    print("x" * 100)', "output"),
    "flood the world": ('while True:\n    act("noop")', "calls"),
}

_RECURSION = (
    "def f(n: int) -> str:\n    try:\n        return f(n + 1)\n    except RuntimeError:\n"
    "        return 'caught'\n\n"
    "def g(n: int) -> str:\n    return h(n)\n\ndef h(n: int) -> str:\n    return g(n)\n\n"
)


def _translated(code: str) -> Any:
    """Compiled past the walk over the source, the second wall alone."""
    tree = allow_list.parse(code)
    assert isinstance(tree, ast.Module)
    made = translate(tree, _FUNCTIONS, "act", inline=True)
    return compile(made, words.FILENAME, "exec", dont_inherit=True)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_reason_and_a_line(name: str) -> None:
    body, reason = REFUSED[name]
    with pytest.raises(NotAccepted) as refused:
        FastCode(_in_run(f"act('noop')\n{body}"), _FUNCTIONS, "act")
    found = refused.value.diagnostics
    assert any(reason in each.message for each in found), found
    assert all(each.line >= 3 and each.column >= 1 for each in found), found


@pytest.mark.parametrize("name", REFUSED_WHOLE)
def test_refused_as_a_whole(name: str) -> None:
    code, reason = REFUSED_WHOLE[name]
    with pytest.raises(NotAccepted) as refused:
        FastCode(code, _FUNCTIONS, "act")
    assert any(reason in each.message for each in refused.value.diagnostics)


@pytest.mark.parametrize("name", CONTAINED)
def test_contained(
    name: str, make: Callable[..., FastProgram], run_turns: Any, run_actions: Any
) -> None:
    body, kind = CONTAINED[name]
    program = make(_RECURSION + _in_run(body + "\nreturn 1"))
    for drive in (run_turns, run_actions):
        began = time.process_time()
        _, end = drive(program)
        assert time.process_time() - began < _LONGEST_SECONDS
        assert isinstance(end, Raised), end
        assert end.kind in kind.split(" or "), end
    assert run_turns(make(GOOD))[1] == Returned("fine")


@pytest.mark.parametrize("name", _MONTY_ATTACKS)
def test_what_attacks_monty_is_refused_or_contained(
    name: str, run_turns: Any, make: Callable[..., FastProgram]
) -> None:
    attack = _MONTY_ATTACKS[name]
    try:
        program = make(attack.code)
    except NotAccepted:
        return
    began = time.process_time()
    _, end = run_turns(program, attack.answers)
    assert time.process_time() - began < _LONGEST_SECONDS
    assert isinstance(end, Raised), end


_WALLED = (
    "class of a tuple", "dunder method", "subclasses", "private attribute", "attribute to write",
    "attribute in a loop target", "augmented attribute", "bound method as a value", "format",
    "format_map", "encode", "translate", "maketrans", "frame of a generator", "traceback",
    "context of an error", "arguments of an error", "dunder name", "import function", "eval",
    "exec", "open", "type", "type of three", "vars", "globals", "object", "memoryview",
    "breakpoint", "input", "hash", "id", "iter without end", "map", "call of a call",
    "call of an item", "call of a lambda", "call of a variable", "stars in a call",
    "stars in a list", "import", "import from", "class", "lambda", "yield", "yield from",
    "yield in an f-string", "await", "async def", "with", "del", "global", "nonlocal", "match",
    "match of a class", "except star", "shift", "shift in place", "matrix product", "bytes",
    "complex", "ellipsis", "class in an f-string", "call in an f-string", "nested function",
)  # fmt: skip


@pytest.mark.parametrize("name", _WALLED)
def test_the_second_wall_stands_by_itself(name: str) -> None:
    body, _ = REFUSED[name]
    try:
        code = _translated(_in_run(body))
    except (TypeError, SyntaxError):
        return
    with pytest.raises(TypeError, match="fast mode"):
        verify(code, frozenset({"run"}) | HELPERS)


@pytest.mark.parametrize(
    "source",
    [
        "x = ().__class__",
        "import os",
        "from os import system",
        "class A: pass",
        "def f():\n    global x\n    x = 1",
        "async def f(): pass",
        "with x: pass",
        "x = open",
        "x = __builtins__",
        "def f(): return [].append",
        "def f(): return print(**{})",
        "def f():\n    import os",
        "def f(a=lambda: ().x): pass",
        "del x[0]",
        "x = b'a'",
        "x = 1j",
    ],
)
def test_verify_knows_byte_code_that_could_leave(source: str) -> None:
    with pytest.raises(TypeError, match="fast mode"):
        verify(compile(source, "<policy code>", "exec"), frozenset({"x", "f", "A"}))


def test_translated_code_has_no_attributes_and_no_names_but_its_own(
    make: Callable[..., FastProgram],
) -> None:
    code = "LIMIT = [3]\n\ndef f(a: int) -> list[int]:\n    return [a, LIMIT[0]]\n\n" + _in_run(
        "x = sorted(f(2), key=lambda v: -v)\nx.append(1)\nreturn str(x)"
    )
    program = make(code)
    assert program.start() == Returned("[3, 2, 1]")
    for part in parts_of(FastCode(code, _FUNCTIONS, "act").inline):
        own = {name for name in part.co_names if not name.startswith("%")}
        assert own <= {"LIMIT", "f", "run"}


def test_a_name_of_the_translation_cannot_be_written() -> None:
    for spelling in ("%op_tick", "\\x25op_tick", "\N{FULLWIDTH PERCENT SIGN}op_tick"):
        with pytest.raises(SyntaxError):
            ast.parse(f"{spelling} = 1")


def test_a_text_is_not_searched_for_in_a_range(make: Callable[..., FastProgram]) -> None:
    program = make(_in_run('return str(["a" in range(10**15), 3.0 in range(4), True in range(2)])'))
    assert program.start() == Returned("[False, True, True]")


def test_bare_raise_does_not_reach_what_the_host_handles(
    make: Callable[..., FastProgram],
) -> None:
    program = make(
        _in_run(
            "try:\n    raise ValueError('mine')\nexcept ValueError:\n    try:\n        raise\n"
            "    except ValueError as e:\n        return str(e)"
        )
    )
    try:
        raise LookupError("the host's")
    except LookupError:
        assert program.start() == Returned("mine")


def test_code_holds_no_more_memory_than_it_may(make: Callable[..., FastProgram]) -> None:
    program = make(
        _in_run("kept = []\nwhile True:\n    kept.append(list(range(300, 20300)))\n    act('noop')")
    )
    step: Any = program.begin(lambda *_: True)
    frames = 0
    while isinstance(step, str):
        frames += 1
        step = program.proceed(True)
    assert isinstance(step, Raised)
    assert step.kind == "memory"
    assert "32 MiB" in step.message
    assert 20 < frames < 200


def test_what_is_let_go_is_not_held_against_code(make: Callable[..., FastProgram]) -> None:
    program = make(_in_run("while True:\n    x = list(range(300, 20300))\n    act('noop')"))
    step: Any = program.begin(lambda *_: True)
    for _ in range(300):
        assert step == "noop"
        step = program.proceed(True)
    program.abort()


HIDDEN = {
    "in a list being made": "return len([list(range(300, 20300)), deep(n + 1)])",
    "in an argument": "return first(list(range(300, 20300)), deep(n + 1))",
    "in a variable": "x = list(range(300, 20300))\nreturn deep(n + 1) + len(x)",
    "behind a caught error": "try:\n    fail()\nexcept ValueError:\n    deep(n + 1)\nreturn 0",
    "in a loop": "for x in list(range(300, 20300)):\n    return deep(n + 1)\nreturn 0",
    "in a loop over pairs": "for x in zip(list(range(300, 20300))):\n    deep(n + 1)\nreturn 0",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_memory_is_found_where_it_hides(name: str, make: Callable[..., FastProgram]) -> None:
    body = "".join(f"    {line}\n" for line in HIDDEN[name].splitlines())
    program = make(
        "def first(a: list[int], b: int) -> int:\n    return b\n\n"
        "def fail() -> None:\n    x = list(range(300, 20300))\n"
        "    raise ValueError(str(len(x)))\n\n"
        "def deep(n: int) -> int:\n    act('noop')\n    if n > 80:\n        return 0\n"
        + body
        + "\n"
        + _in_run("deep(0)\nwhile True:\n    act('do')")
    )
    step: Any = program.begin(lambda *_: True)
    while step == "noop":
        step = program.proceed(True)
    assert isinstance(step, Raised)
    assert step.kind == "memory"
