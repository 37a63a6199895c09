"""What computing costs in fast mode, and the end of it."""

from __future__ import annotations

from itertools import islice
from typing import Any

from engine.sandbox.fast import words
from engine.sandbox.fast.policy_set import PolicySet
from engine.sandbox.turns import Kind

NUMBERS: frozenset[type] = frozenset({int, float, bool})
VIEWS: frozenset[type] = frozenset({type({}.keys()), type({}.values()), type({}.items())})
SIZED: frozenset[type] = frozenset({list, tuple, dict, str, range, PolicySet, *VIEWS})

BYTES = 64
"""What one step of computing may add to memory at most."""
PER_ENTRY = 4
"""Steps that an entry of a dict, an item of a set, or a pair made by `zip` stands for."""


class FastLimit(BaseException):
    """A limit of fast mode was reached; no `except` that code may write catches it."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def too_big(what: str) -> FastLimit:
    """A value outgrew what fast mode keeps."""
    return FastLimit("memory", f"{what} is too big for fast mode")


def unsupported(what: str) -> FastLimit:
    """Something that only Monty can do."""
    return FastLimit("exception", f"{what} is not available in fast mode")


class Meter:
    """Counts down the steps of one turn; helpers pay before they do what takes long.

    A step is about one node of the syntax tree: some 50 ns, and at most `BYTES` of memory.
    Counting is exact and the same everywhere, so an execution that is ended by it is ended at the
    same place wherever it runs; a timer would end it elsewhere each time.
    """

    __slots__ = ("budget", "depth", "left")

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.left = budget
        self.depth = 0

    def op_tick(self, steps: int) -> None:
        """Pay for steps."""
        self.left -= steps
        if self.left < 0:
            raise FastLimit("time", "too many steps")

    def op_enter(self) -> None:
        """Begin a function that may call itself."""
        self.depth += 1
        if self.depth > words.MAX_CALLS_DEEP:
            message = f"functions call one another more than {words.MAX_CALLS_DEEP} deep"
            raise FastLimit("exception", f"{message}: write a loop")

    def op_leave(self) -> None:
        """End it."""
        self.depth -= 1

    def pay(self, value: Any, depth: int = words.MAX_DEPTH) -> None:
        """Pay for going through a value as a tree, as comparing and hashing do.

        What is contained twice is paid for twice: a few lines can nest a list into itself so often
        that no comparison of it would ever end.
        """
        kind = type(value)
        if kind is str:
            self.op_tick(1 + len(value) // 64)
        elif kind in SIZED and kind is not range:
            if depth == 0:
                raise too_big(f"data nested deeper than {words.MAX_DEPTH}")
            self.op_tick(2 + 2 * len(value))
            parts = (*value, *value.values()) if kind is dict else value
            for part in parts:
                if type(part) not in NUMBERS:
                    self.pay(part, depth - 1)

    def pay_key(self, value: Any) -> None:
        """Pay for hashing a value that is looked up."""
        if type(value) not in NUMBERS:
            self.pay(value)

    def pay_new_key(self, value: Any) -> None:
        """Pay for a key of a dict or an item of a set; refuse numbers made to collide."""
        kind = type(value)
        if kind is int:
            if not -words.KEY_LIMIT < value < words.KEY_LIMIT:
                raise too_big("an integer as a key")
        elif kind not in NUMBERS:
            self.pay(value)

    def pay_search(self, values: Any, item: Any) -> None:
        """Pay for comparing an item with one value after another."""
        before = self.left
        self.pay(item)
        self.op_tick((2 + before - self.left) * (1 + len(values) // 4))

    def pay_order(self, items: list[Any], rounds: int = 1) -> None:
        """Pay for comparing items with each other, each one some `rounds` times."""
        before = self.left
        if not NUMBERS.issuperset(map(type, items)):
            self.pay(items)
        self.op_tick((len(items) + before - self.left) * rounds // 4)

    def room(self, items: int, steps: int = 1) -> None:
        """Pay for a new container, or for one more copy of it.

        Args:
            steps: for each item.

        Raises:
            FastLimit: it would hold too many items, or there are no steps left.
        """
        if items > words.MAX_ITEMS:
            raise too_big(f"a container of more than {words.MAX_ITEMS} items")
        self.left -= items * steps
        if self.left < 0:
            raise FastLimit("time", "too many steps")

    def text_room(self, characters: int) -> None:
        """Pay for a new text.

        Raises:
            FastLimit: it would be too long, or there are no steps left.
        """
        if characters > words.MAX_TEXT:
            raise too_big(f"a text of more than {words.MAX_TEXT} characters")
        self.op_tick(1 + characters // 16)

    def items_of(self, values: Any) -> list[Any]:
        """The items of anything that can be gone through, as a new list.

        Raises:
            TypeError: it cannot be gone through.
            FastLimit: it has too many items.
        """
        if type(values) in SIZED:
            self.room(len(values))
            return list(values)
        found = list(islice(iter(values), words.MAX_ITEMS + 1))
        self.room(len(found), PER_ENTRY)
        return found

    def number(self, value: Any) -> Any:
        """A result of arithmetic, bounded.

        Raises:
            FastLimit: an integer of too many bits.
        """
        if type(value) is int and not -words.INTEGER_LIMIT < value < words.INTEGER_LIMIT:
            raise too_big("an integer")
        return value
