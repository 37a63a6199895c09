"""What fast mode knows: the names code may use, and how big anything may become.

Fast mode runs in the process that trains. So its language is a small part of what Monty accepts,
written down here name by name, and every value has a size at which it stops growing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

FILENAME = "<policy code>"
"""File name of translated code; tells its frames from the host's in a traceback."""
HELPER = "%"
"""Begins every name that the translation adds. No source text can spell such a name."""

MAX_NESTING = 60
"""Depth of the syntax tree of one program."""
MAX_ITEMS = 100_000
"""Items of one list, tuple, dict or set."""
MAX_TEXT = 100_000
"""Characters of one text."""
MAX_DEPTH = 30
"""Nesting of data that is compared, hashed or written out."""
MAX_CALLS_DEEP = 100
"""Calls of one another that functions which call themselves may have open."""
MAX_DIGITS = 308
"""Characters of a text that is read as a number; integers keep below `INTEGER_LIMIT`."""
INTEGER_LIMIT = 2**1024
KEY_LIMIT = 2**60
"""Integers as keys of a dict keep below it, so that no two of them have the same hash."""
MAX_ROUNDING = 30
STEPS_PER_SECOND = 5_000_000
"""Steps of computing (about one node of the syntax tree each) that pass for one second."""


@dataclass(frozen=True, slots=True)
class Signature:
    """How a function or method may be called: positional arguments, and keywords."""

    least: int
    most: int
    keywords: frozenset[str] = frozenset()


def _takes(least: int, most: int | None = None, *keywords: str) -> Signature:
    return Signature(least, least if most is None else most, frozenset(keywords))


_MANY = 30

BUILTINS: Mapping[str, Signature] = {
    "abs": _takes(1),
    "all": _takes(1),
    "any": _takes(1),
    "bool": _takes(0, 1),
    "chr": _takes(1),
    "dict": _takes(0, 1),
    "divmod": _takes(2),
    "enumerate": _takes(1, 2, "start"),
    "float": _takes(0, 1),
    "int": _takes(0, 1),
    "isinstance": _takes(2),
    "len": _takes(1),
    "list": _takes(0, 1),
    "max": _takes(1, _MANY, "default", "key"),
    "min": _takes(1, _MANY, "default", "key"),
    "ord": _takes(1),
    "print": _takes(0, _MANY),
    "range": _takes(1, 3),
    "repr": _takes(1),
    "reversed": _takes(1),
    "round": _takes(1, 2),
    "set": _takes(0, 1),
    "sorted": _takes(1, 1, "key", "reverse"),
    "str": _takes(0, 1),
    "sum": _takes(1, 2),
    "tuple": _takes(0, 1),
    "zip": _takes(1, _MANY),
}

METHODS: Mapping[str, Signature] = {
    "add": _takes(1),
    "append": _takes(1),
    "capitalize": _takes(0),
    "clear": _takes(0),
    "copy": _takes(0),
    "count": _takes(1),
    "difference": _takes(1),
    "discard": _takes(1),
    "endswith": _takes(1),
    "extend": _takes(1),
    "find": _takes(1),
    "get": _takes(1, 2),
    "index": _takes(1),
    "insert": _takes(2),
    "intersection": _takes(1),
    "isdigit": _takes(0),
    "issubset": _takes(1),
    "issuperset": _takes(1),
    "items": _takes(0),
    "join": _takes(1),
    "keys": _takes(0),
    "lower": _takes(0),
    "lstrip": _takes(0, 1),
    "pop": _takes(0, 2),
    "remove": _takes(1),
    "replace": _takes(2),
    "reverse": _takes(0),
    "rstrip": _takes(0, 1),
    "setdefault": _takes(2),
    "sort": _takes(0, 0, "key", "reverse"),
    "split": _takes(0, 1),
    "startswith": _takes(1),
    "strip": _takes(0, 1),
    "title": _takes(0),
    "union": _takes(1),
    "update": _takes(1),
    "upper": _takes(0),
    "values": _takes(0),
}

ITERATORS: frozenset[str] = frozenset({"enumerate", "reversed", "zip"})
"""Builtins whose result may only be gone through at once, never kept."""
CONSUMERS: frozenset[str] = frozenset(
    {"all", "any", "dict", "list", "max", "min", "set", "sorted", "sum", "tuple"}
)
"""Builtins that go through a single argument at once."""
KEY_BUILTINS: frozenset[str] = frozenset({"abs", "float", "int", "len", "str"})
TYPES: frozenset[str] = frozenset({"bool", "dict", "float", "int", "list", "set", "str", "tuple"})

ERRORS: Mapping[str, type[Exception]] = {
    error.__name__: error
    for error in (
        ArithmeticError,
        AssertionError,
        AttributeError,
        Exception,
        IndexError,
        KeyError,
        LookupError,
        OverflowError,
        RuntimeError,
        TypeError,
        ValueError,
        ZeroDivisionError,
    )
}

FORMAT_SPEC = re.compile(r"(?:[^{}]?[<>^])?[-+ ]?0?\d{0,3},?(?:\.\d{1,2})?[bdefgosxEFGX%]?")
"""Only what is bounded: a width below 1000, a precision below 100."""
