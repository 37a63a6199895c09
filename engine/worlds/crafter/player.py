"""What the player knows, in the words of the stub and of the predicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import UnknownName
from engine.worlds.base import Answer
from engine.worlds.crafter import codes
from engine.worlds.crafter.memory import MapMemory, Memories
from engine.worlds.crafter.queries import find_call
from engine.worlds.crafter.terms import FLAGS, SENSES, vocabulary

__all__ = ["PlayerMemory", "vocabulary"]


class PlayerMemory:
    """The player of `base.PlayerState`: predicate terms and the stub's queries over a memory."""

    def __init__(self, memories: Memories, index: int) -> None:
        self.memory = MapMemory(memories, index)

    def term(self, name: str, argument: str | None = None) -> float:
        """Value of a vocabulary term; flags and tests are 0.0 or 1.0.

        Raises:
            UnknownName: the vocabulary has no such term.
        """
        if argument is None:
            if name in codes.ITEM_CODE:
                return float(self.memory.inventory[codes.ITEM_CODE[name]])
            if name in SENSES or name in FLAGS:
                return self._value(name)
        elif name in vocabulary().tests and argument in vocabulary().tests[name]:
            return self._value(name, argument)
        written = name if argument is None else f"{name}({argument})"
        known = ", ".join(sorted(vocabulary().numbers | vocabulary().flags))
        raise UnknownName(f"Crafter has no term {written!r}", f"Terms are {known} and tests.")

    def _value(self, query: str, *args: str) -> float:
        """Of the term that is called like a query of the stub."""
        value = self.answer(query, args, {})
        assert isinstance(value, int | float)
        return float(value)

    def terms(self) -> Mapping[str, float]:
        """All numbers of the vocabulary."""
        numbers = dict(zip(codes.ITEMS, map(float, self.memory.inventory.tolist()), strict=True))
        return {**numbers, **{name: self._value(name) for name in SENSES}}

    def answer(self, function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Answer:
        """Answer of a query of the stub.

        Raises:
            ValueError: there is no such query, or an argument is not what the stub allows.
        """
        return find_call(function, args, kwargs)(self.memory)
