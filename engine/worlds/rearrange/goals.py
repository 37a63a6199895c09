"""What is asked of a flat, as an expression over predicates; `grounding` evaluates it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Relation = Literal["on_top", "in", "robot_at", "holding", "not_holding", "opened", "closed"]


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate: `on_top(object, receptacle)`, `in(object, handle)`, `robot_at(entity)`,
    `holding(object)`, `not_holding()`, `opened(handle)`, `closed(handle)`; `robot_at` with an
    object means within 2.0 m and 1.57 rad of that object.

    An argument is an index; an object is given by the name of a variable that a quantifier binds.
    """

    relation: Relation
    object: str = ""
    place: int = -1


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts hold."""

    parts: tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts holds."""

    parts: tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class Nand:
    """Not all of the parts hold."""

    parts: tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """There are distinct objects of these categories for which the body holds.

    Variables bound outside stay bound; distinct variables bind distinct objects. A name that is
    bound outside already keeps its object, which then has to be of the category named here.
    """

    variables: tuple[tuple[str, int], ...]
    """Name and category."""
    body: Goal


@dataclass(frozen=True, slots=True)
class ForAll:
    """The body holds for every object of the category: also for those bound outside, and if there
    is no such object."""

    variable: str
    category: int
    body: Goal


Goal = Atom | And | Or | Nand | Exists | ForAll


def walk(goal: Goal) -> Iterator[Goal]:
    """The goal and all its parts, from the outside in."""
    yield goal
    match goal:
        case And(parts) | Or(parts) | Nand(parts):
            for part in parts:
                yield from walk(part)
        case Exists(_, body) | ForAll(_, _, body):
            yield from walk(body)
        case Atom():
            pass


def categories_of(goal: Goal) -> tuple[int, ...]:
    """The categories of objects that a goal speaks of, in order of appearance."""
    found: dict[int, None] = {}
    for part in walk(goal):
        if isinstance(part, Exists):
            found.update((category, None) for _, category in part.variables)
        elif isinstance(part, ForAll):
            found[part.category] = None
    return tuple(found)
