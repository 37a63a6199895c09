"""The methods of fast mode: of lists, tuples, dicts, sets and texts, and of nothing else."""

from __future__ import annotations

from typing import Any

from engine.sandbox.fast import words
from engine.sandbox.fast.builtins import Builtins
from engine.sandbox.fast.meter import PER_ENTRY, too_big
from engine.sandbox.fast.policy_set import PolicySet


def _no_method(target: Any, name: str) -> AttributeError:
    return AttributeError(f"'{type(target).__name__}' object has no attribute '{name}'")


class Methods(Builtins):
    """What calls of methods become; the type of the target decides, as it does in Python."""

    __slots__ = ()

    # --- lists and tuples ---------------------------------------------------------------

    def m_append(self, target: Any, item: Any) -> None:
        """`target.append(item)`."""
        if type(target) is not list:
            raise _no_method(target, "append")
        if len(target) >= words.MAX_ITEMS:
            raise too_big(f"a list of more than {words.MAX_ITEMS} items")
        target.append(item)

    def m_extend(self, target: Any, values: Any) -> None:
        """`target.extend(values)`."""
        if type(target) is not list:
            raise _no_method(target, "extend")
        self.op_extend(target, self.items_of(values))

    def m_insert(self, target: Any, index: Any, item: Any) -> None:
        """`target.insert(index, item)`."""
        if type(target) is not list:
            raise _no_method(target, "insert")
        if len(target) >= words.MAX_ITEMS:
            raise too_big(f"a list of more than {words.MAX_ITEMS} items")
        self.op_tick(len(target) // 16)
        target.insert(index, item)

    def m_reverse(self, target: Any) -> None:
        """`target.reverse()`."""
        if type(target) is not list:
            raise _no_method(target, "reverse")
        self.op_tick(len(target) // 16)
        target.reverse()

    def m_sort(self, target: Any, reverse: Any = False) -> None:
        """`target.sort()`."""
        if type(target) is not list:
            raise _no_method(target, "sort")
        self.pay_order(target, len(target).bit_length())
        target.sort(reverse=bool(reverse))

    def m_sort_by(self, target: Any, keys: list[Any], reverse: Any = False) -> None:
        """`target.sort(key=...)`, with the keys of all items."""
        if type(target) is not list:
            raise _no_method(target, "sort")
        target[:] = self.fn_sorted_by(target, keys, reverse)

    # --- several kinds ------------------------------------------------------------------

    def m_index(self, target: Any, item: Any) -> int:
        """`target.index(item)`."""
        if type(target) not in (list, tuple, str):
            raise _no_method(target, "index")
        self.pay_search(target, item)
        try:
            return target.index(item)  # type: ignore[no-any-return]
        except ValueError:
            if type(target) is not list:
                raise
        raise ValueError("list.index(x): x not in list")  # as Monty words it

    def m_count(self, target: Any, item: Any) -> int:
        """`target.count(item)`."""
        if type(target) not in (list, tuple, str):
            raise _no_method(target, "count")
        self.pay_search(target, item)
        return target.count(item)  # type: ignore[no-any-return]

    def m_pop(self, target: Any, *given: Any) -> Any:
        """`target.pop(...)`."""
        if type(target) is list:
            self.op_tick(len(target) // 16)
            return target.pop(*given)
        if type(target) is dict:
            self.pay_key(given[:1])
            return target.pop(*given)
        if type(target) is not PolicySet:
            raise _no_method(target, "pop")
        if given:
            raise TypeError(f"set.pop() takes no arguments ({len(given)} given)")
        if not target.items:
            raise KeyError("pop from an empty set")
        return target.items.popitem()[0]

    def m_remove(self, target: Any, item: Any) -> None:
        """`target.remove(item)`."""
        if type(target) is list:
            self.pay_search(target, item)
            target.remove(item)
        elif type(target) is PolicySet:
            self.pay_key(item)
            del target.items[item]
        else:
            raise _no_method(target, "remove")

    def m_copy(self, target: Any) -> Any:
        """`target.copy()`."""
        if type(target) not in (list, dict, PolicySet):
            raise _no_method(target, "copy")
        self.room(len(target), PER_ENTRY)
        return PolicySet(target.items) if type(target) is PolicySet else target.copy()

    def m_clear(self, target: Any) -> None:
        """`target.clear()`."""
        if type(target) not in (list, dict, PolicySet):
            raise _no_method(target, "clear")
        (target.items if type(target) is PolicySet else target).clear()

    def m_update(self, target: Any, values: Any) -> None:
        """`target.update(values)`."""
        if type(target) is dict:
            self.op_join(target, self.fn_dict(values))
        elif type(target) is PolicySet:
            for item in self.items_of(values):
                self.m_add(target, item)
        else:
            raise _no_method(target, "update")

    # --- dicts --------------------------------------------------------------------------

    def m_get(self, target: Any, key: Any, default: Any = None) -> Any:
        """`target.get(key, default)`."""
        if type(target) is not dict:
            raise _no_method(target, "get")
        self.pay_key(key)
        return target.get(key, default)

    def m_setdefault(self, target: Any, key: Any, default: Any) -> Any:
        """`target.setdefault(key, default)`."""
        if type(target) is not dict:
            raise _no_method(target, "setdefault")
        self.pay_key(key)
        if key not in target:
            self.op_put(target, key, default)
        return target[key]

    def m_keys(self, target: Any) -> Any:
        """`target.keys()`."""
        if type(target) is not dict:
            raise _no_method(target, "keys")
        return target.keys()

    def m_values(self, target: Any) -> Any:
        """`target.values()`."""
        if type(target) is not dict:
            raise _no_method(target, "values")
        return target.values()

    def m_items(self, target: Any) -> Any:
        """`target.items()`."""
        if type(target) is not dict:
            raise _no_method(target, "items")
        return target.items()

    # --- sets ---------------------------------------------------------------------------

    def m_add(self, target: Any, item: Any) -> None:
        """`target.add(item)`."""
        if type(target) is not PolicySet:
            raise _no_method(target, "add")
        self.op_put(target.items, item, None)

    def m_discard(self, target: Any, item: Any) -> None:
        """`target.discard(item)`."""
        if type(target) is not PolicySet:
            raise _no_method(target, "discard")
        self.pay_key(item)
        target.items.pop(item, None)

    def m_union(self, target: Any, values: Any) -> Any:
        """`target.union(values)`."""
        return self.op_or(*self._sets(target, "union", values))

    def m_intersection(self, target: Any, values: Any) -> Any:
        """`target.intersection(values)`."""
        return self.op_and(*self._sets(target, "intersection", values))

    def m_difference(self, target: Any, values: Any) -> Any:
        """`target.difference(values)`."""
        return self.op_subtract(*self._sets(target, "difference", values))

    def m_issubset(self, target: Any, values: Any) -> Any:
        """`target.issubset(values)`."""
        return self.op_at_most(*self._sets(target, "issubset", values))

    def m_issuperset(self, target: Any, values: Any) -> Any:
        """`target.issuperset(values)`."""
        return self.op_at_least(*self._sets(target, "issuperset", values))

    def _sets(self, target: Any, name: str, values: Any) -> tuple[PolicySet, PolicySet]:
        if type(target) is not PolicySet:
            raise _no_method(target, name)
        return target, self.fn_set(values)

    # --- texts --------------------------------------------------------------------------

    def _text(self, target: Any, name: str) -> str:
        """The target, which must be a text; pays for going through it."""
        if type(target) is not str:
            raise _no_method(target, name)
        self.op_tick(1 + len(target) // 16)
        return target

    def m_startswith(self, target: Any, start: Any) -> bool:
        """`target.startswith(start)`."""
        return self._text(target, "startswith").startswith(start)

    def m_endswith(self, target: Any, end: Any) -> bool:
        """`target.endswith(end)`."""
        return self._text(target, "endswith").endswith(end)

    def m_find(self, target: Any, text: Any) -> int:
        """`target.find(text)`."""
        return self._text(target, "find").find(text)

    def m_isdigit(self, target: Any) -> bool:
        """`target.isdigit()`."""
        return self._text(target, "isdigit").isdigit()

    def m_lower(self, target: Any) -> str:
        """`target.lower()`."""
        return self._text(target, "lower").lower()

    def m_upper(self, target: Any) -> str:
        """`target.upper()`."""
        return self._text(target, "upper").upper()

    def m_title(self, target: Any) -> str:
        """`target.title()`."""
        return self._text(target, "title").title()

    def m_capitalize(self, target: Any) -> str:
        """`target.capitalize()`."""
        return self._text(target, "capitalize").capitalize()

    def m_strip(self, target: Any, characters: Any = None) -> str:
        """`target.strip(characters)`."""
        return self._text(target, "strip").strip(characters)

    def m_lstrip(self, target: Any, characters: Any = None) -> str:
        """`target.lstrip(characters)`."""
        return self._text(target, "lstrip").lstrip(characters)

    def m_rstrip(self, target: Any, characters: Any = None) -> str:
        """`target.rstrip(characters)`."""
        return self._text(target, "rstrip").rstrip(characters)

    def m_split(self, target: Any, separator: Any = None) -> list[str]:
        """`target.split(separator)`."""
        parts = self._text(target, "split").split(separator)
        self.room(len(parts), PER_ENTRY)
        return parts

    def m_join(self, target: Any, values: Any) -> str:
        """`target.join(values)`; its length is known before it is made."""
        text, items = self._text(target, "join"), self.items_of(values)
        self.text_room(len(text) * len(items) + sum(len(i) for i in items if type(i) is str))
        return text.join(items)

    def m_replace(self, target: Any, old: Any, new: Any) -> str:
        """`target.replace(old, new)`; its length is known before it is made."""
        text = self._text(target, "replace")
        if type(old) is str and type(new) is str:
            self.text_room(len(text) + text.count(old) * len(new))
        return text.replace(old, new)
