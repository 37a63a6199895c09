"""The subset of Python that policy code may use, and what to write instead of the rest."""

from __future__ import annotations

import ast
from collections.abc import Mapping

MAX_CODE_BYTES = 50_000

MODULES: frozenset[str] = frozenset(
    {"math", "collections", "itertools", "functools", "bisect", "copy", "dataclasses", "typing"}
)

BUILTINS: frozenset[str] = frozenset({
    "abs", "all", "any", "bool", "chr", "dict", "divmod", "enumerate", "filter", "float",
    "frozenset", "hash", "int", "isinstance", "iter", "len", "list", "map", "max", "min",
    "next", "object", "ord", "pow", "print", "range", "repr", "reversed", "round", "set",
    "slice", "sorted", "str", "sum", "tuple", "type", "zip", "Exception", "ArithmeticError",
    "AssertionError", "AttributeError", "IndexError", "KeyError", "LookupError",
    "NotImplementedError", "OverflowError", "RuntimeError", "StopIteration", "TypeError",
    "ValueError", "ZeroDivisionError",
})  # fmt: skip

DECORATORS: frozenset[str] = frozenset({"dataclass"})

ABSENT_MODULES: Mapping[str, str] = {
    "random": "policy code is deterministic: choose by position() or frames() instead",
    "time": "time passes only by act(); frames() counts it",
    "datetime": "time passes only by act(); frames() counts it",
    "heapq": "keep a list and take min() of it, or search breadth first with collections.deque",
    "numpy": "use lists and tuples",
    "enum": "use text constants",
    "__future__": "leave it out, annotations need it not",
    "crafter": "the functions of the world are there without an import",
    "os": "policy code has no files and no environment",
    "sys": "policy code has no access to the interpreter",
    "asyncio": "write plain functions: act() waits by itself",
}

ABSENT_NAMES: Mapping[str, str] = {
    "open": "policy code has no files",
    "input": "policy code cannot ask; call the functions of the world",
    "eval": "write the expression itself",
    "exec": "write the statements themselves",
    "compile": "write the statements themselves",
    "getattr": "write the attribute itself",
    "setattr": "assign to the attribute itself",
    "delattr": "keep the value in a dict and use pop()",
    "hasattr": "use a dict and `in`",
    "globals": "pass values as arguments",
    "locals": "pass values as arguments",
    "vars": "keep values in a dict",
    "dir": "keep values in a dict",
    "callable": "decide by the type you know",
    "super": "classes have no bases here: use functions",
    "property": "write a method",
    "staticmethod": "write a function outside the class",
    "classmethod": "write a function outside the class",
    "exit": "return from run()",
    "quit": "return from run()",
    "BaseException": "catch the error you expect, such as ValueError",
    "TimeoutError": "limits cannot be caught; catch the error you expect, such as ValueError",
    "MemoryError": "limits cannot be caught; catch the error you expect, such as ValueError",
}

ABSENT_ATTRIBUTES: Mapping[str, str] = {
    "format": 'use an f-string: f"{value}"',
    "format_map": 'use an f-string: f"{value}"',
}

ABSENT_SYNTAX: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Delete: ("`del`", "use pop() of a list or dict, or build a new one"),
    ast.Yield: ("`yield`", "collect the values in a list and return it"),
    ast.YieldFrom: ("`yield`", "collect the values in a list and return it"),
    ast.AsyncFunctionDef: ("`async def`", "write a plain function: act() waits by itself"),
    ast.AsyncFor: ("`async for`", "write a plain loop"),
    ast.AsyncWith: ("`async with`", "write plain statements"),
    ast.Await: ("`await`", "call the function plainly: act() waits by itself"),
    ast.With: ("`with`", "there is nothing to open or close; write plain statements"),
    ast.TryStar: ("`except*`", "use `except`"),
}

ALLOWED_SYNTAX: tuple[type[ast.AST], ...] = (
    ast.Module, ast.FunctionDef, ast.ClassDef, ast.Return, ast.Assign, ast.AugAssign,
    ast.AnnAssign, ast.For, ast.While, ast.If, ast.Match, ast.match_case, ast.pattern, ast.Raise,
    ast.Try, ast.ExceptHandler, ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal,
    ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.BoolOp, ast.NamedExpr, ast.BinOp,
    ast.UnaryOp, ast.Lambda, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp, ast.Compare, ast.Call, ast.FormattedValue, ast.JoinedStr,
    ast.Constant, ast.Attribute, ast.Subscript, ast.Starred, ast.Name, ast.List, ast.Tuple,
    ast.Slice, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop,
    ast.comprehension, ast.arguments, ast.arg, ast.keyword, ast.alias,
)  # fmt: skip

LANGUAGE_NOTES = """\
- Plain functions, loops, `if`, `match`, `try`/`except` of a named error, f-strings, lists, tuples,
  dicts, sets, comprehensions, lambdas, small classes without bases, `@dataclass`.
- Importable: math, collections, itertools, functools, bisect, copy, dataclasses, typing. Nothing
  else: no random, time, heapq, enum, numpy, os, sys.
- Absent: `del`, `yield`, `with`, `async`/`await`, class inheritance, @property, @staticmethod,
  names with double underscores (but for `__init__`), str.format, getattr, eval, open.
- The functions of the world are there without an import. Call them directly: they cannot be given
  to another function (`map`, `sorted(key=...)`), used inside a lambda, or be redefined.
- `except` names the error it expects; `except:` and `except BaseException:` are refused.
- Outside functions only imports, definitions and constants; nothing there may call the world.
- Global variables begin anew with every execution.
- Recursion goes 1000 deep; prefer loops. A loop that computes for more than a second without
  calling the world is stopped."""
"""For the fast agent's prompt: the rules above, in words."""
