"""What is asked of a flat, as an expression over predicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Relation = Literal["on_top", "in", "robot_at", "holding", "not_holding", "opened", "closed"]


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate: `on_top(object, receptacle)`, `in(object, handle)`, `robot_at(entity)`,
    `holding(object)`, `not_holding()`, `opened(handle)`, `closed(handle)`.

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

    Variables bound outside stay bound; distinct variables bind distinct objects.
    """

    variables: tuple[tuple[str, int], ...]
    """Name and category."""
    body: Goal


@dataclass(frozen=True, slots=True)
class ForAll:
    """The body holds for every object of the category."""

    variable: str
    category: int
    body: Goal


Goal = Atom | And | Or | Nand | Exists | ForAll
