"""Operators, items and texts of fast mode."""

from __future__ import annotations

from typing import Any

from engine.sandbox.fast import words
from engine.sandbox.fast.meter import (
    NUMBERS,
    PER_ENTRY,
    SIZED,
    VIEWS,
    Meter,
    too_big,
    unsupported,
)
from engine.sandbox.fast.policy_set import PolicySet

_SEQUENCES = frozenset({str, list, tuple})
_WHOLE = frozenset({int, bool})


class Operators(Meter):
    """What the operators of the language become."""

    __slots__ = ()

    # --- arithmetic ---------------------------------------------------------------------

    def op_add(self, left: Any, right: Any) -> Any:
        """`left + right`; operands are bounded, so the sum may be looked at afterwards."""
        value = left + right
        kind = type(value)
        if kind is int:
            if not -words.INTEGER_LIMIT < value < words.INTEGER_LIMIT:
                raise too_big("an integer")
        elif kind is str:
            self.text_room(len(value))
        elif kind is not float:
            self.room(len(value))
        return value

    def op_extend(self, left: Any, right: Any) -> Any:
        """`left += right`, which for a list changes it; another list only, as in Monty."""
        if type(left) is not list:
            return self.op_add(left, right)
        if type(right) is not list:
            kind = type(right).__name__
            raise TypeError(f'can only concatenate list (not "{kind}") to list')
        if len(left) + len(right) > words.MAX_ITEMS:
            raise too_big(f"a list of more than {words.MAX_ITEMS} items")
        self.room(len(right))
        left += right
        return left

    def op_subtract(self, left: Any, right: Any) -> Any:
        """`left - right`."""
        if type(left) not in NUMBERS:
            self._pay_sets(left, right)
        return self.number(left - right)

    def op_multiply(self, left: Any, right: Any) -> Any:
        """`left * right`; the size of a repetition is known before it is made."""
        kinds = type(left), type(right)
        if kinds[0] in NUMBERS and kinds[1] in NUMBERS:
            return self.number(left * right)
        for values, times, kind in ((left, right, kinds[1]), (right, left, kinds[0])):
            if type(values) in _SEQUENCES and kind in _WHOLE:
                size = len(values) * max(times, 0)
                self.text_room(size) if type(values) is str else self.room(size)
        return left * right

    def op_divide(self, left: Any, right: Any) -> Any:
        """`left / right`."""
        return left / right

    def op_floor(self, left: Any, right: Any) -> Any:
        """`left // right`."""
        return left // right

    def op_modulo(self, left: Any, right: Any) -> Any:
        """`left % right` of numbers."""
        if type(left) is str:
            raise unsupported("the operator % of a text")
        return left % right

    def op_power(self, base: Any, exponent: int) -> Any:
        """`base ** 2` and `base ** 3`."""
        if type(base) not in NUMBERS:
            raise TypeError("unsupported operand type(s) for **: not a number")
        return self.number(base**exponent)

    def op_and(self, left: Any, right: Any) -> Any:
        """`left & right`."""
        self._pay_sets(left, right)
        return left & right

    def op_or(self, left: Any, right: Any) -> Any:
        """`left | right`."""
        self._pay_sets(left, right)
        merged = left | right
        if type(merged) in SIZED:
            self.room(len(merged))
        return merged

    def op_join(self, left: Any, right: Any) -> Any:
        """`left |= right`, which for a dict changes it; for a set it does not, as in Monty."""
        if type(left) is not dict or type(right) is not dict:
            return self.op_or(left, right)
        self.room(len(left) + len(right), PER_ENTRY)
        left |= right
        return left

    def op_xor(self, left: Any, right: Any) -> Any:
        """`left ^ right`."""
        self._pay_sets(left, right)
        return left ^ right

    def _pay_sets(self, left: Any, right: Any) -> None:
        """Pay for operators of sets; views of dicts would give sets without an order."""
        for value in (left, right):
            kind = type(value)
            if kind is PolicySet or kind is dict:
                self.room(len(value), PER_ENTRY)
            elif kind in VIEWS:
                raise unsupported("an operator between views of a dict")

    # --- comparisons --------------------------------------------------------------------

    def _pay_both(self, left: Any, right: Any) -> None:
        """Pay for going through two values side by side; a number is unlike all but numbers."""
        if type(right) not in NUMBERS:
            self.pay(left)
            self.pay(right)

    def op_equal(self, left: Any, right: Any) -> Any:
        """`left == right`."""
        if type(left) not in NUMBERS:
            self._pay_both(left, right)
        return left == right

    def op_unequal(self, left: Any, right: Any) -> Any:
        """`left != right`."""
        if type(left) not in NUMBERS:
            self._pay_both(left, right)
        return left != right

    def op_less(self, left: Any, right: Any) -> Any:
        """`left < right`."""
        if type(left) not in NUMBERS:
            self._pay_both(left, right)
        return left < right

    def op_at_most(self, left: Any, right: Any) -> Any:
        """`left <= right`."""
        if type(left) not in NUMBERS:
            self._pay_both(left, right)
        return left <= right

    def op_greater(self, left: Any, right: Any) -> Any:
        """`left > right`."""
        if type(left) not in NUMBERS:
            self._pay_both(left, right)
        return left > right

    def op_at_least(self, left: Any, right: Any) -> Any:
        """`left >= right`."""
        if type(left) not in NUMBERS:
            self._pay_both(left, right)
        return left >= right

    def op_in(self, item: Any, values: Any) -> bool:
        """`item in values`."""
        kind = type(values)
        if kind is range:
            # Anything but an integer would be searched for one number at a time.
            if type(item) is float and item.is_integer():
                item = int(item)
            return type(item) in _WHOLE and item in values
        if kind is str:
            self.op_tick(1 + len(values) // 64)
        elif kind is list or kind is tuple or kind in VIEWS:
            self.pay_search(values, item)
        else:
            self.pay_key(item)
        return item in values

    def op_not_in(self, item: Any, values: Any) -> bool:
        """`item not in values`."""
        return not self.op_in(item, values)

    # --- items --------------------------------------------------------------------------

    def op_item(self, values: Any, key: Any) -> Any:
        """`values[key]`."""
        if type(key) is not int:
            self.pay_key(key)
        return values[key]

    def op_store(self, value: Any, values: Any, key: Any) -> None:
        """`values[key] = value`."""
        if type(values) is dict:
            self.op_put(values, key, value)
        else:
            values[key] = value

    def op_put(self, values: dict[Any, Any], key: Any, value: Any) -> None:
        """`values[key] = value` of a dict."""
        self.pay_new_key(key)
        values[key] = value
        if len(values) > words.MAX_ITEMS:
            raise too_big(f"a dict of more than {words.MAX_ITEMS} items")

    def op_cut(self, values: Any, start: Any, stop: Any, step: Any) -> Any:
        """`values[start:stop:step]`."""
        cut = values[start:stop:step]
        if type(cut) is not range:
            self.op_tick(1 + len(cut))
        return cut

    def op_dict(self, parts: tuple[Any, ...]) -> dict[Any, Any]:
        """`{key: value, ...}` from keys and values in turn."""
        made: dict[Any, Any] = {}
        for key, value in zip(parts[::2], parts[1::2], strict=True):
            self.op_put(made, key, value)
        return made

    def op_made(self, values: Any) -> Any:
        """What a comprehension gathered."""
        self.room(len(values))
        return values

    # --- texts --------------------------------------------------------------------------

    def op_text(self, text: str) -> str:
        """An f-string, put together from bounded parts."""
        self.text_room(len(text))
        return text

    def op_format(self, value: Any, spec: str) -> str:
        """One value of an f-string with a format."""
        if type(value) in NUMBERS or type(value) is str:
            return format(value, spec)
        return format(self.fn_str(value), spec)

    def fn_str(self, value: Any = "") -> str:
        """`str(value)`."""
        kind = type(value)
        if kind is not str and kind not in NUMBERS and value is not None:
            self._pay_shown(value)
        return str(value)

    def fn_repr(self, value: Any) -> str:
        """`repr(value)`."""
        if type(value) not in NUMBERS:
            self._pay_shown(value)
        return repr(value)

    def _pay_shown(self, value: Any) -> None:
        """Pay for the text of a value; errors hold one bounded text or key."""
        parts = value.args if isinstance(value, Exception) else (value,)
        self.text_room(self._shown(parts, words.MAX_DEPTH))

    def _shown(self, value: Any, depth: int) -> int:
        """About how many characters the text of a value has."""
        kind = type(value)
        if kind is str:
            return 2 + len(value)
        if kind not in SIZED or kind is range:
            return 5
        if depth == 0:
            raise too_big(f"data nested deeper than {words.MAX_DEPTH}")
        self.op_tick(2 + 2 * len(value))
        parts = (*value, *value.values()) if kind is dict else value
        total = 2
        for part in parts:
            total += 2 + self._shown(part, depth - 1)
            if total > words.MAX_TEXT:
                raise too_big(f"a text of more than {words.MAX_TEXT} characters")
        return total

    def op_error(self, kind: type[Exception], *texts: Any) -> Exception:
        """A named error with at most one text."""
        return kind(*(self.fn_str(text) for text in texts))
