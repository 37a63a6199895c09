"""The sets of fast mode: they keep the order in which their items came.

CPython orders a set by hashes that differ from process to process, so code that goes through one
would not repeat itself. Monty keeps the order of insertion; so do these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class PolicySet:
    """A set whose items stay in order; results of operators are ordered as Monty orders them."""

    __slots__ = ("items",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self.items = dict.fromkeys(items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, item: Any) -> bool:
        return item in self.items

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self.items))}}}" if self.items else "set()"

    def __eq__(self, other: object) -> Any:
        if type(other) is not PolicySet:
            return NotImplemented
        return self.items.keys() == other.items.keys()

    def __le__(self, other: object) -> Any:
        if type(other) is not PolicySet:
            return NotImplemented
        return self.items.keys() <= other.items.keys()

    def __lt__(self, other: object) -> Any:
        if type(other) is not PolicySet:
            return NotImplemented
        return self.items.keys() < other.items.keys()

    def __ge__(self, other: object) -> Any:
        if type(other) is not PolicySet:
            return NotImplemented
        return self.items.keys() >= other.items.keys()

    def __gt__(self, other: object) -> Any:
        if type(other) is not PolicySet:
            return NotImplemented
        return self.items.keys() > other.items.keys()

    def __or__(self, other: object) -> Any:
        if type(other) is not PolicySet:
            return NotImplemented
        return PolicySet((*self.items, *other.items))

    def __and__(self, other: object) -> Any:
        if type(other) is not PolicySet:
            return NotImplemented
        small, large = (self, other) if len(self) < len(other) else (other, self)
        return PolicySet(item for item in small.items if item in large.items)

    def __sub__(self, other: object) -> Any:
        if type(other) is not PolicySet:
            return NotImplemented
        return PolicySet(item for item in self.items if item not in other.items)

    def __xor__(self, other: object) -> Any:
        if type(other) is not PolicySet:
            return NotImplemented
        return (self - other) | (other - self)


PolicySet.__name__ = PolicySet.__qualname__ = "set"
