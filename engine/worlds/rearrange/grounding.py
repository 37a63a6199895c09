"""Goals made ready to be checked often: grounded in the objects of one episode, once.

A predicate is a bit (`facts`), so a conjunction is a mask, and a quantifier is the list of what its
body becomes for each binding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from engine.errors import PredicateError
from engine.worlds.rearrange import facts
from engine.worlds.rearrange.goals import And, Atom, Exists, ForAll, Goal, Nand, Or
from engine.worlds.rearrange.names import CATEGORIES, ENTITIES, HANDLES, RECEPTACLES

Check = Callable[[int], bool]
"""Whether a goal is true of `facts.packed` facts."""
Binding = Mapping[str, int]

_Ground = int | Check
"""A mask whose bits all have to be set, or anything else as a function."""

MOST_BINDINGS: Final = 20_000
"""Ways to bind the variables of one quantifier beyond which a goal is refused."""
_ONLY_OF_OBJECTS: Final = ("on_top", "in", "holding")
_BITS: Final = {
    ("on_top", True): (facts.ON, len(RECEPTACLES)),
    ("in", True): (facts.IN, len(HANDLES)),
    ("robot_at", True): (facts.AT_OBJECT, 0),
    ("holding", True): (facts.HOLDING, 0),
    ("robot_at", False): (facts.AT, len(ENTITIES)),
    ("opened", False): (facts.OPENED, len(HANDLES)),
    ("closed", False): (facts.CLOSED, len(HANDLES)),
    ("not_holding", False): (facts.NOT_HOLDING, 0),
}
"""By relation and whether it is of an object: its first bit, and how many places it can name."""


def ground(goal: Goal, categories: Sequence[int]) -> Check:
    """Make a goal ready for an episode whose objects have these categories, in this order.

    Raises:
        PredicateError: The goal names an unbound variable, or a place or category there is not.
    """
    return _as_check(_ground(goal, categories, {}))


def _ground(goal: Goal, categories: Sequence[int], binding: Binding) -> _Ground:
    match goal:
        case Atom():
            return 1 << _bit(goal, binding)
        case And(parts):
            return _all([_ground(part, categories, binding) for part in parts])
        case Or(parts):
            return _any([_ground(part, categories, binding) for part in parts])
        case Nand(parts):
            return _not(_all([_ground(part, categories, binding) for part in parts]))
        case Exists(_, body):
            bindings = _bindings(goal, categories, binding)
            return _any([_ground(body, categories, bound) for bound in bindings])
        case ForAll(variable, category, body):
            if variable in binding:
                raise _error(goal, f"{variable!r} is bound outside; name the variable differently")
            every = _of_category(goal, category, categories)
            return _all([_ground(body, categories, {**binding, variable: n}) for n in every])


def _bindings(exists: Exists, categories: Sequence[int], binding: Binding) -> Iterator[Binding]:
    """The ways to extend a binding so that distinct variables have distinct objects.

    Of those that only exchange objects between variables of which the body says the same, one.
    """
    twins = _twins(exists)
    choices = [_of_category(exists, category, categories) for _, category in exists.variables]

    def extend(bound: Binding, at: int) -> Iterator[Binding]:
        if at == len(choices):
            yield bound
            return
        name = exists.variables[at][0]
        if name in bound:
            able = [n for n in choices[at] if n == bound[name]]
        else:
            after = bound[twins[name]] if name in twins else -1
            taken = set(bound.values())
            able = [n for n in choices[at] if n > after and n not in taken]
        for n in able:
            yield from extend({**bound, name: n}, at + 1)

    for count, bound in enumerate(extend(binding, 0), start=1):
        if count > MOST_BINDINGS:
            raise _error(exists, f"there are more than {MOST_BINDINGS} ways to bind its variables")
        yield bound


def _twins(exists: Exists) -> dict[str, str]:
    """For a variable the one before it of which a conjunction says just the same, if any."""
    parts = exists.body.parts if isinstance(exists.body, And) else (exists.body,)
    if not all(isinstance(part, Atom) for part in parts):
        return {}
    said: dict[str, set[tuple[str, int]]] = {name: set() for name, _ in exists.variables}
    for part in parts:
        if isinstance(part, Atom) and part.object in said:
            said[part.object].add((part.relation, part.place))
    latest: dict[tuple[int, frozenset[tuple[str, int]]], str] = {}
    twins = {}
    for name, category in exists.variables:
        kind = category, frozenset(said[name])
        if kind in latest and name != latest[kind]:
            twins[name] = latest[kind]
        latest[kind] = name
    return twins


def _bit(atom: Atom, binding: Binding) -> int:
    of_object = bool(atom.object) or atom.relation in _ONLY_OF_OBJECTS
    if (atom.relation, of_object) not in _BITS:
        raise _error(atom, f"`{atom.relation}` takes no object")
    first, places = _BITS[atom.relation, of_object]
    if places and not 0 <= atom.place < places:
        raise _error(atom, f"`place` has to be from 0 to {places - 1}")
    bit = first + atom.place if places else first
    if not of_object:
        return bit
    if atom.object not in binding:
        known = ", ".join(sorted(binding)) or "none"
        raise _error(atom, f"{atom.object!r} is no variable bound around it (those are: {known})")
    return facts.object_bit(binding[atom.object], bit)


def _of_category(goal: Goal, category: int, categories: Sequence[int]) -> list[int]:
    if not 0 <= category < len(CATEGORIES):
        raise _error(goal, f"there is no category {category!r} (0 to {len(CATEGORIES) - 1})")
    return [n for n, other in enumerate(categories) if other == category]


def _error(goal: Goal, why: str) -> PredicateError:
    return PredicateError(
        f"The goal `{goal!r}` cannot be checked: {why}.",
        hint="Correct the goal of the episode that holds it.",
    )


def _as_check(part: _Ground) -> Check:
    if not isinstance(part, int):
        return part
    mask = part
    return lambda known: known & mask == mask


def _not(part: _Ground) -> Check:
    check = _as_check(part)
    return lambda known: not check(known)


def _all(parts: Sequence[_Ground]) -> _Ground:
    mask = 0
    for part in parts:
        mask |= part if isinstance(part, int) else 0
    checks = tuple(part for part in parts if not isinstance(part, int))
    if not checks:
        return mask
    return lambda known: known & mask == mask and all(check(known) for check in checks)


def _any(parts: Sequence[_Ground]) -> _Ground:
    if len(parts) == 1:
        return parts[0]
    masks = tuple(dict.fromkeys(part for part in parts if isinstance(part, int)))
    checks = tuple(part for part in parts if not isinstance(part, int))

    def check(known: int) -> bool:
        for mask in masks:
            if known & mask == mask:
                return True
        return any(other(known) for other in checks)

    return check
