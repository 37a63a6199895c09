"""What the player knows, in the words of the stub and of the predicates."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import UnknownName
from engine.worlds.base import Answer, Vocabulary
from engine.worlds.crafter import codes, moves, shelter
from engine.worlds.crafter.data import crafter_data
from engine.worlds.crafter.memory import MapMemory
from engine.worlds.crafter.perception import Percept
from engine.worlds.crafter.stub import PRIMITIVE_FUNCTION, query_names, stub_functions

_SENSES = ("daylight", "threat", "frames")
_FLAGS = ("sleeping", "enclosed")


@functools.cache
def vocabulary() -> Vocabulary:
    """Words for predicates in this world."""
    materials = frozenset(codes.MATERIAL_CODE)
    return Vocabulary(
        numbers=frozenset({*codes.ITEMS, *_SENSES}),
        flags=frozenset(_FLAGS),
        tests={
            "unlocked": frozenset(crafter_data().achievements),
            "near": materials,
            "seen": materials | frozenset(codes.CREATURE_CODE),
        },
    )


class PlayerMemory:
    """The player of `base.PlayerState`: predicate terms and the stub's queries over a memory."""

    def __init__(self, memory: MapMemory | None = None) -> None:
        self.memory = MapMemory() if memory is None else memory

    @classmethod
    def born(cls, percept: Percept) -> PlayerMemory:
        """A player that has seen nothing but its first view."""
        player = cls()
        player.memory.look(percept)
        return player

    def term(self, name: str, argument: str | None = None) -> float:
        """Value of a vocabulary term; flags and tests are 0.0 or 1.0.

        Raises:
            UnknownName: the vocabulary has no such term.
        """
        memory = self.memory
        if argument is None:
            if name in codes.ITEM_CODE:
                return float(memory.holds(codes.ITEM_CODE[name]))
            if name in _SENSES or name in _FLAGS:
                return float(getattr(memory, name))
        elif name in vocabulary().tests and argument in vocabulary().tests[name]:
            return float(getattr(self, f"_{name}")(argument))
        written = name if argument is None else f"{name}({argument})"
        known = ", ".join(sorted(vocabulary().numbers | vocabulary().flags))
        raise UnknownName(f"Crafter has no term {written!r}", f"Terms are {known} and tests.")

    def terms(self) -> Mapping[str, float]:
        """All numbers of the vocabulary."""
        return {name: self.term(name) for name in (*codes.ITEMS, *_SENSES)}

    def answer(self, function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Answer:
        """Answer of a query of the stub.

        Raises:
            ValueError: there is no such query, or an argument is not what the stub allows.
        """
        if function not in query_names():
            reason = "takes a frame" if function == PRIMITIVE_FUNCTION else "is not in the stub"
            raise ValueError(f"{function}() is no query: it {reason}")
        values = stub_functions()[function].bind(args, kwargs)
        query: Callable[..., Answer] = getattr(self, f"_{function}")
        return query(*values)

    # The queries of the stub, under their names there with an underscore before.

    def _count(self, item: str) -> int:
        return self.memory.holds(codes.ITEM_CODE[item])

    def _unlocked(self, achievement: str) -> bool:
        return achievement in self.memory.unlocked

    def _frames(self) -> int:
        return self.memory.frames

    def _daylight(self) -> float:
        return self.memory.daylight

    def _sleeping(self) -> bool:
        return self.memory.sleeping

    def _position(self) -> tuple[int, int]:
        return self.memory.position

    def _facing(self) -> tuple[int, int]:
        return self.memory.facing

    def _in_front(self) -> str:
        return self._look(*self.memory.facing)

    def _look(self, dx: int, dy: int) -> str:
        cell = self.memory.ahead((dx, dy))
        if not self.memory.on_map(cell):
            return "edge"
        creature = self.memory.creature(cell)
        return codes.CREATURES[creature] if creature else codes.MATERIALS[self.memory.known[cell]]

    def _near(self, material: str) -> bool:
        return self.memory.near(codes.MATERIAL_CODE[material])

    def _seen(self, what: str) -> bool:
        kind = codes.CREATURE_CODE.get(what)
        if kind is not None:
            return bool(moves.cells_of(self.memory, kind))
        return bool((self.memory.known == codes.MATERIAL_CODE[what]).any())

    def _distance(self, what: str) -> int:
        return moves.distance(self.memory, what)

    def _approach(self, what: str) -> str | None:
        return moves.approach(self.memory, what)

    def _step_near(self, first: str, second: str | None) -> str | None:
        return moves.step_near(self.memory, first, second)

    def _step_to_place(self, thing: str) -> str | None:
        return moves.step_to_place(self.memory, thing)

    def _explore(self, prefer: str) -> str | None:
        return moves.explore(self.memory, prefer)

    def _threat(self) -> int:
        return self.memory.threat

    def _dodge(self) -> str | None:
        return shelter.dodge(self.memory)

    def _enclosed(self) -> bool:
        return self.memory.enclosed

    def _step_to_shelter(self) -> str | None:
        return shelter.step_to_shelter(self.memory)
