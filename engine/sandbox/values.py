"""Plain data: the only values that cross the border between policy code and the world."""

from __future__ import annotations

from typing import Any

MESSAGE_CHARACTERS = 500
"""Of an error's text, on its way into the code or out of it."""
RESULT_CHARACTERS = 2_000
"""Of what `run()` returns."""
MAX_TEXT = 10_000
MAX_ITEMS = 10_000
MAX_DEPTH = 8
_MAX_INT = 2**63
SCALARS: frozenset[type] = frozenset({bool, int, float, str, type(None)})


def require_plain(value: Any) -> None:
    """Accept numbers, text, None, and lists, tuples and dicts of them, within bounds.

    Raises:
        ValueError: another type, too deep, too long or too big; the text says which.
    """
    _require(value, MAX_DEPTH, [MAX_ITEMS])


def _require(value: Any, depth: int, left: list[int]) -> None:
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"more than {MAX_ITEMS} items")
    kind = type(value)
    if kind in SCALARS:
        if kind is int and not -_MAX_INT <= value < _MAX_INT:
            raise ValueError("an integer beyond 64 bits")
        if kind is str and len(value) > MAX_TEXT:
            raise ValueError(f"a text of {len(value)} characters (at most {MAX_TEXT})")
        return
    if depth == 0:
        raise ValueError(f"data nested deeper than {MAX_DEPTH}")
    if kind is list or kind is tuple:
        for item in value:
            _require(item, depth - 1, left)
    elif kind is dict:
        for key, item in value.items():
            _require(key, depth - 1, left)
            _require(item, depth - 1, left)
    else:
        name = getattr(value, "name", kind.__name__)
        raise ValueError(f"{name!r}, which is not a number, text, None, list, tuple or dict")


def copy_plain(value: Any) -> Any:
    """A copy of plain data that shares nothing that could change.

    Raises:
        ValueError: it is not plain data, as in `require_plain`.
    """
    require_plain(value)
    return _copy(value)


def _copy(value: Any) -> Any:
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(_copy(item) for item in value)
    if kind is dict:
        return {_copy(key): _copy(item) for key, item in value.items()}
    return value
