"""The kinds of task: what is drawn at random for one, what it asks, and how it is carried out.

Source: the instructions of Language Rearrangement (LLaRP, arXiv 2310.17722): the same goals and
solutions for its 17 kinds, with laying the table as one of its own. An object that a task names is
the only one of its category in the flat (unless it asks for all), where the original may lay out
two; so an instruction is always true of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from engine.worlds.rearrange.goals import And, Atom, Exists, ForAll, Goal, Nand
from engine.worlds.rearrange.layout import OPEN_AIR, Layout
from engine.worlds.rearrange.names import (
    CATEGORIES,
    FRIDGE_HANDLE,
    INSTANCES,
    RECEPTACLE_NAMES,
    RECEPTACLES,
)
from engine.worlds.rearrange.phrasings import plural, spoken
from engine.worlds.rearrange.solutions import carry, carry_near, go, turn_fridge

EMPTY_HANDED: Final = Atom("not_holding")
CUTLERY: Final = (CATEGORIES.index("knife"), CATEGORIES.index("spoon"))
TABLES: Final = (RECEPTACLE_NAMES.index("black_table"), RECEPTACLE_NAMES.index("brown_table"))


@dataclass(frozen=True, slots=True)
class Demand:
    """What is settled about a task before chance decides the rest."""

    kind: str
    phrasing: str
    """With a slot for each word that chance decides."""
    category: int | None = None
    """Of the object, where the phrasing tells it."""
    target: int | None = None
    """Receptacle, where the phrasing tells it."""


@dataclass(frozen=True, slots=True)
class Laid:
    """An object that a task needs, and the receptacle it lies on."""

    category: int
    receptacle: int


@dataclass(frozen=True, slots=True)
class Task:
    """A demand with everything decided."""

    instruction: str
    goal: Goal
    solution: tuple[int, ...]
    laid: tuple[Laid, ...] = ()
    fridge_open: bool = False


class Chance:
    """Draws what a demand leaves open."""

    def __init__(
        self,
        demand: Demand,
        layout: Layout,
        categories: Sequence[int],
        rng: np.random.Generator,
    ) -> None:
        """Objects are drawn from `categories`."""
        self.demand = demand
        self.layout = layout
        self._categories = categories
        self._rng = rng

    def place(self, *others: int) -> int:
        """An open-air receptacle that is none of the others."""
        return int(self._rng.choice([place for place in OPEN_AIR if place not in others]))

    def target(self, *others: int) -> int:
        """The receptacle that the phrasing tells, or any that is none of the others."""
        return self.place(*others) if self.demand.target is None else self.demand.target

    def object(self) -> int:
        """The category that the phrasing tells, or any."""
        return self.objects(1)[0] if self.demand.category is None else self.demand.category

    def objects(self, count: int, instances: int = 1) -> list[int]:
        """Different categories, each of which has that many different objects."""
        able = [n for n in self._categories if INSTANCES[CATEGORIES[n]] >= instances]
        return [int(n) for n in self._rng.choice(able, count, replace=False)]

    def below(self, limit: int) -> int:
        """An integer from 0 to below the limit."""
        return int(self._rng.integers(limit))

    def say(self, **words: int) -> str:
        """The instruction: slots of objects and places filled with words."""
        told = {slot: _word(slot, index) for slot, index in words.items()}
        text = self.demand.phrasing.format_map(told)
        return text[0].upper() + text[1:]


def decide(
    demand: Demand, layout: Layout, categories: Sequence[int], rng: np.random.Generator
) -> Task:
    """Draw a task of a demanded kind.

    Raises:
        ValueError: There is no such kind.
    """
    make = KINDS.get(demand.kind)
    if make is None:
        raise ValueError(f"No kind of task is called {demand.kind!r}: take one of {list(KINDS)}.")
    return make(Chance(demand, layout, categories, rng))


def _move(chance: Chance) -> Task:
    thing, source = chance.object(), chance.place(*_told(chance))
    target = chance.target(source)
    return Task(
        instruction=chance.say(object=thing, source=source, target=target),
        goal=_placed((thing, target)),
        solution=carry(thing, source, target),
        laid=(Laid(thing, source),),
    )


def _take_off(chance: Chance) -> Task:
    thing, source = chance.object(), chance.place()
    elsewhere = [place for place in OPEN_AIR if place != source]
    hidden = [n for n, receptacle in enumerate(RECEPTACLES) if not receptacle.open_air]
    off = Nand((Exists((("X", thing),), Atom("on_top", "X", source)),))
    return Task(
        instruction=chance.say(object=thing, source=source),
        goal=And((EMPTY_HANDED, off)),
        solution=carry_near(chance.layout, [(thing, source)], elsewhere + hidden),
        laid=(Laid(thing, source),),
    )


def _put_two(chance: Chance) -> Task:
    first, second = chance.objects(2)
    return _two(chance, first, second, chance.place())


def _set_table(chance: Chance) -> Task:
    return _two(chance, *CUTLERY, TABLES[chance.below(2)])


def _two(chance: Chance, first: int, second: int, target: int) -> Task:
    sources = chance.place(target), chance.place(target)
    return Task(
        instruction=chance.say(first=first, second=second, target=target),
        goal=_placed((first, target), (second, target)),
        solution=carry(first, sources[0], target) + carry(second, sources[1], target),
        laid=(Laid(first, sources[0]), Laid(second, sources[1])),
    )


def _swap(chance: Chance) -> Task:
    first, second = chance.objects(2)
    source = chance.place()
    target = chance.place(source)
    return Task(
        instruction=chance.say(first=first, second=second, source=source, target=target),
        goal=_placed((first, target), (second, source)),
        solution=carry(first, source, target) + carry(second, target, source),
        laid=(Laid(first, source), Laid(second, target)),
    )


def _close_fridge(chance: Chance) -> Task:
    goal = And((Atom("closed", place=FRIDGE_HANDLE),))
    return Task(chance.say(), goal, turn_fridge("close"), fridge_open=True)


def _open_fridge(chance: Chance) -> Task:
    goal = And((Atom("opened", place=FRIDGE_HANDLE),))
    return Task(chance.say(), goal, turn_fridge("open"))


def _go_to(chance: Chance) -> Task:
    target = chance.place()
    return Task(chance.say(target=target), And((Atom("robot_at", place=target),)), go(target))


def _find(chance: Chance) -> Task:
    thing, source = chance.object(), chance.place()
    return Task(
        instruction=chance.say(object=thing),
        goal=Exists((("X", thing),), Atom("robot_at", "X")),
        solution=go(source),
        laid=(Laid(thing, source),),
    )


def _gather(chance: Chance) -> Task:
    away = 1 + chance.below(2)
    there = chance.below(2) if away > 1 else 1
    target = chance.place()
    sources = [chance.place(target) for _ in range(away)]
    return _all_of(chance, target, sources, there)


def _gather_from(chance: Chance) -> Task:
    target = chance.place()
    return _all_of(chance, target, [chance.place(target)] * 2, chance.below(2))


def _all_of(chance: Chance, target: int, sources: Sequence[int], there: int) -> Task:
    """All objects of a category on the target, where some of them may be already."""
    (thing,) = chance.objects(1, instances=len(sources) + there)
    body = And((Atom("on_top", "X", target), EMPTY_HANDED))
    loads = [(thing, source) for source in sources]
    return Task(
        instruction=chance.say(object=thing, objects=thing, source=sources[0], target=target),
        goal=ForAll("X", thing, body),
        solution=carry_near(chance.layout, loads, [target]),
        laid=tuple(Laid(thing, place) for place in [*sources, *[target] * there]),
    )


def _three(chance: Chance) -> Task:
    things = chance.objects(3)
    targets = [chance.place() for _ in things]
    sources = [chance.place(target) for target in targets]
    return Task(
        instruction=chance.say(
            **dict(zip(("first", "second", "third"), things, strict=True)),
            **dict(zip(("target", "target2", "target3"), targets, strict=True)),
        ),
        goal=_placed(*zip(things, targets, strict=True)),
        solution=sum(map(carry, things, sources, targets), ()),
        laid=tuple(map(Laid, things, sources)),
    )


def _if_open(chance: Chance) -> Task:
    return _conditional(chance, fridge_open=True)


def _if_closed(chance: Chance) -> Task:
    return _conditional(chance, fridge_open=False)


def _conditional(chance: Chance, fridge_open: bool) -> Task:
    """The first object if the fridge is open, else the second; the other one stays in its place."""
    first, second = chance.objects(2)
    target = chance.place()
    sources = chance.place(target), chance.place(target)
    fridge = Atom("opened" if fridge_open else "closed", place=FRIDGE_HANDLE)
    wanted = (
        ((first, target), (second, sources[1]))
        if fridge_open
        else ((first, sources[0]), (second, target))
    )
    return Task(
        instruction=chance.say(first=first, second=second, target=target),
        goal=_placed(*wanted, also=(fridge,)),
        solution=carry(*((first, sources[0]) if fridge_open else (second, sources[1])), target),
        laid=(Laid(first, sources[0]), Laid(second, sources[1])),
        fridge_open=fridge_open,
    )


KINDS: Final[Mapping[str, Callable[[Chance], Task]]] = MappingProxyType(
    {
        "move": _move,
        "fetch": _move,
        "take_off": _take_off,
        "put_two": _put_two,
        "set_table": _set_table,
        "swap": _swap,
        "close_fridge": _close_fridge,
        "open_fridge": _open_fridge,
        "go_to": _go_to,
        "find": _find,
        "by_look": _move,
        "by_purpose": _move,
        "by_place": _move,
        "gather": _gather,
        "gather_from": _gather_from,
        "three": _three,
        "if_open": _if_open,
        "if_closed": _if_closed,
    }
)
"""How a task of each kind is drawn."""


def _placed(*wanted: tuple[int, int], also: tuple[Atom, ...] = ()) -> Goal:
    """Objects of these categories on these receptacles, and nothing in the gripper."""
    names = "XYZ"[: len(wanted)]
    on = tuple(Atom("on_top", name, place) for name, (_, place) in zip(names, wanted, strict=True))
    variables = tuple((name, category) for name, (category, _) in zip(names, wanted, strict=True))
    return Exists(variables, And((*also, *on, EMPTY_HANDED)))


def _told(chance: Chance) -> tuple[int, ...]:
    return () if chance.demand.target is None else (chance.demand.target,)


def _word(slot: str, index: int) -> str:
    if slot == "objects":
        return plural(index)
    if slot == "source" or slot.startswith("target"):
        return RECEPTACLES[index].spoken
    return spoken(index)
