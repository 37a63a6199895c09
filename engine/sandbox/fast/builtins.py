"""The builtin functions of fast mode; each pays for what it is about to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.sandbox.fast import words
from engine.sandbox.fast.meter import NUMBERS, PER_ENTRY, too_big
from engine.sandbox.fast.operators import Operators
from engine.sandbox.fast.policy_set import PolicySet
from engine.sandbox.values import is_torn

_MISSING = object()
_KINDS: dict[str, frozenset[type]] = {
    "bool": frozenset({bool}),
    "dict": frozenset({dict}),
    "float": frozenset({float}),
    "int": frozenset({int, bool}),
    "list": frozenset({list}),
    "set": frozenset({PolicySet}),
    "str": frozenset({str}),
    "tuple": frozenset({tuple}),
}


class Builtins(Operators):
    """What calls of builtin functions become."""

    __slots__ = ()

    # --- numbers ------------------------------------------------------------------------

    def fn_abs(self, value: Any) -> Any:
        """`abs(value)`."""
        return abs(value)

    def fn_bool(self, value: Any = False) -> bool:
        """`bool(value)`."""
        return bool(value)

    def fn_int(self, value: Any = 0) -> int:
        """`int(value)`; long texts take quadratic time to read."""
        if type(value) is str and len(value) > words.MAX_DIGITS:
            raise too_big("a text that is read as a number")
        return int(value)

    def fn_float(self, value: Any = 0.0) -> float:
        """`float(value)`."""
        if type(value) is str and len(value) > words.MAX_DIGITS:
            raise too_big("a text that is read as a number")
        return float(value)

    def fn_round(self, value: Any, digits: Any = None) -> Any:
        """`round(value, digits)`; many digits would take a huge power of ten."""
        if type(value) not in NUMBERS:
            raise TypeError(f"type {type(value).__name__} doesn't define __round__ method")
        if type(digits) is int and abs(digits) > words.MAX_ROUNDING:
            raise too_big("the number of digits to round to")
        return round(value, digits)

    def fn_divmod(self, left: Any, right: Any) -> Any:
        """`divmod(left, right)` of numbers."""
        if type(left) not in NUMBERS:
            raise TypeError("unsupported operand type(s) for divmod(): not a number")
        return divmod(left, right)

    def fn_ord(self, value: Any) -> int:
        """`ord(value)`."""
        return ord(value)

    def fn_chr(self, value: Any) -> str:
        """`chr(value)`; no half of a character, which no file or database would take."""
        made = chr(value)
        if is_torn(made):
            raise ValueError("chr() arg is half of a character")
        return made

    def fn_range(self, *limits: Any) -> range:
        """`range(limits)`; it holds no items until it is gone through."""
        return range(*limits)

    # --- containers ---------------------------------------------------------------------

    def fn_len(self, value: Any) -> int:
        """`len(value)`."""
        return len(value)

    def fn_list(self, values: Any = ()) -> list[Any]:
        """`list(values)`."""
        return self.items_of(values)

    def fn_tuple(self, values: Any = ()) -> tuple[Any, ...]:
        """`tuple(values)`."""
        return tuple(self.items_of(values))

    def fn_set(self, values: Any = ()) -> PolicySet:
        """`set(values)`."""
        items = self.items_of(values)
        self.room(len(items), PER_ENTRY)
        for item in items:
            self.pay_new_key(item)
        return PolicySet(items)

    def fn_dict(self, values: Any = ()) -> dict[Any, Any]:
        """`dict(values)`, of another dict or of pairs."""
        if type(values) is dict:
            self.room(len(values), PER_ENTRY)
            return dict(values)
        made: dict[Any, Any] = {}
        for key, value in self.items_of(values):
            self.op_put(made, key, value)
        return made

    def fn_enumerate(self, values: Any, start: Any = 0) -> Any:
        """`enumerate(values, start)`, gone through at once."""
        return enumerate(values, start)

    def fn_zip(self, *values: Any) -> Any:
        """`zip(*values)`, gone through at once."""
        return zip(*values, strict=False)

    def fn_reversed(self, values: Any) -> Any:
        """`reversed(values)`, gone through at once."""
        return reversed(values)

    def fn_any(self, values: Any) -> bool:
        """`any(values)`."""
        return any(self.items_of(values))

    def fn_all(self, values: Any) -> bool:
        """`all(values)`."""
        return all(self.items_of(values))

    def fn_sum(self, values: Any, start: Any = 0) -> Any:
        """`sum(values, start)`."""
        items = self.items_of(values)
        if type(start) in NUMBERS and NUMBERS.issuperset(map(type, items)):
            return self.number(sum(items, start))
        if type(start) is str:
            raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
        for item in items:
            start = self.op_add(start, item)
        return start

    # --- order --------------------------------------------------------------------------

    def fn_min(self, *values: Any, default: Any = _MISSING) -> Any:
        """`min(values)`."""
        return self._extreme(min, values, default)

    def fn_max(self, *values: Any, default: Any = _MISSING) -> Any:
        """`max(values)`."""
        return self._extreme(max, values, default)

    def _extreme(self, choose: Callable[..., Any], values: tuple[Any, ...], default: Any) -> Any:
        items = self.items_of(values[0]) if len(values) == 1 else list(values)
        self.pay_order(items)
        return choose(items) if default is _MISSING else choose(items, default=default)

    def fn_min_by(self, items: list[Any], keys: list[Any], default: Any = _MISSING) -> Any:
        """`min(items, key=...)`, with the keys of all items."""
        return self._extreme_by(min, items, keys, default)

    def fn_max_by(self, items: list[Any], keys: list[Any], default: Any = _MISSING) -> Any:
        """`max(items, key=...)`, with the keys of all items."""
        return self._extreme_by(max, items, keys, default)

    def _extreme_by(
        self, choose: Callable[..., Any], items: list[Any], keys: list[Any], default: Any
    ) -> Any:
        self.pay_order(keys)
        if not items and default is not _MISSING:
            return default
        return items[choose(range(len(keys)), key=keys.__getitem__)]

    def fn_sorted(self, values: Any, reverse: Any = False) -> list[Any]:
        """`sorted(values)`."""
        items = self.items_of(values)
        self.pay_order(items, len(items).bit_length())
        items.sort(reverse=bool(reverse))
        return items

    def fn_sorted_by(self, items: list[Any], keys: list[Any], reverse: Any = False) -> list[Any]:
        """`sorted(items, key=...)`, with the keys of all items."""
        self.pay_order(keys, len(keys).bit_length())
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=bool(reverse))
        return [items[index] for index in order]

    # --- others -------------------------------------------------------------------------

    def fn_isinstance(self, value: Any, names: tuple[str, ...]) -> bool:
        """`isinstance(value, (int, ...))`."""
        return any(type(value) in _KINDS[name] for name in names)
