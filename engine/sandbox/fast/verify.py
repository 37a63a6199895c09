"""A last look at translated code: what it could reach, read from its byte code.

The walk over the source (`subset`) is the wall; this one stands behind it and knows nothing of it.
Code that has no instruction for attributes, imports, globals to write or classes, and that names
nothing but its own functions and the helpers, cannot leave even if the walk had a hole.
"""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Iterator
from types import CodeType

from engine.sandbox.fast import words

_FORBIDDEN = (
    "ATTR", "METHOD", "IMPORT", "BUILD_CLASS", "STORE_GLOBAL", "DELETE_GLOBAL", "DELETE_NAME",
    "DELETE_SUBSCR", "WITH", "ASYNC", "AWAITABLE", "ANEXT", "AITER", "LOCALS", "CLASSDEREF",
    "SUPER", "MATCH_", "EG_MATCH", "CALL_FUNCTION_EX", "DICT_MERGE", "ANNOTATIONS",
)  # fmt: skip
"""Parts of instruction names, in any version of Python."""
_FLAGS = (
    inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
)
_TEMPORARY = re.compile(re.escape(words.HELPER) + r"[a-z]+\d+")
"""Names of functions and values that the translation made (`building.helper`, numbered)."""
_CONSTANTS = frozenset({int, float, str, bool, type(None), tuple, CodeType})


def verify(code: CodeType, known: frozenset[str]) -> None:
    """Raise TypeError if the code could do more than compute and call what is known.

    Args:
        code: a compiled module.
        known: names of its own functions and constants, and of the helpers.
    """
    for part in parts_of(code):
        strange = {name for name in part.co_names if not _TEMPORARY.fullmatch(name)} - known
        if strange:
            raise TypeError(f"fast mode: the code would reach {sorted(strange)!r}")
        if part.co_flags & _FLAGS:
            raise TypeError("fast mode: the code has a coroutine, or parameters with stars")
        _verify_constants(part.co_consts)
        for instruction in dis.get_instructions(part):
            name = instruction.opname
            if any(word in name for word in _FORBIDDEN):
                raise TypeError(f"fast mode: the code has the instruction {name}")


def _verify_constants(values: tuple[object, ...]) -> None:
    for value in values:
        if type(value) not in _CONSTANTS:
            raise TypeError(f"fast mode: the code holds {value!r:.40}")
        if isinstance(value, tuple):
            _verify_constants(value)


def parts_of(code: CodeType) -> Iterator[CodeType]:
    """A module and the functions in it."""
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from parts_of(value)
