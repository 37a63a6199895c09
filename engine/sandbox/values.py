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


def is_torn(text: str) -> bool:
    """Whether a text holds half of a character (a surrogate), which cannot be stored or sent."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def require_plain(value: Any) -> None:
    """Accept numbers, text, None, and lists, tuples and dicts of them, within bounds.

    Raises:
        ValueError: another type, too deep, too long or too big; the text says which.
    """
    _copied(value, MAX_DEPTH, [MAX_ITEMS])


def copy_plain(value: Any) -> Any:
    """A copy of plain data that shares nothing that could change.

    Raises:
        ValueError: it is not plain data, as in `require_plain`.
    """
    return _copied(value, MAX_DEPTH, [MAX_ITEMS])


def copy_and_count(value: Any) -> tuple[Any, int]:
    """A copy of plain data, and of how many values it consists.

    Raises:
        ValueError: it is not plain data, as in `require_plain`.
    """
    left = [MAX_ITEMS]
    return _copied(value, MAX_DEPTH, left), MAX_ITEMS - left[0]


def _copied(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"more than {MAX_ITEMS} items")
    kind = type(value)
    if kind in SCALARS:
        if kind is int and not -_MAX_INT <= value < _MAX_INT:
            raise ValueError("an integer beyond 64 bits")
        if kind is str and len(value) > MAX_TEXT:
            raise ValueError(f"a text of {len(value)} characters (at most {MAX_TEXT})")
        return value
    if depth == 0:
        raise ValueError(f"data nested deeper than {MAX_DEPTH}")
    if kind is list or kind is tuple:
        return kind([_copied(item, depth - 1, left) for item in value])
    if kind is dict:
        return {
            _copied(key, depth - 1, left): _copied(item, depth - 1, left)
            for key, item in value.items()
        }
    name = getattr(value, "name", kind.__name__)
    raise ValueError(f"{name!r}, which is not a number, text, None, list, tuple or dict")
