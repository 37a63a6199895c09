"""Goals made ready to be checked often: grounded in the objects of one episode, once.

A predicate is a bit (`facts`), so a conjunction is a mask, and a quantifier is the list of what its
body becomes for each binding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
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

MOST_BINDINGS: Final = 50_000
"""Ways to bind the variables of one quantifier beyond which a goal is refused."""
_PLACES: Final = {
    "on_top": len(RECEPTACLES),
    "in": len(HANDLES),
    "robot_at": len(ENTITIES),
    "opened": len(HANDLES),
    "closed": len(HANDLES),
}


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
        case Exists(variables, body):
            bindings = _bindings(variables, categories, binding)
            return _any([_ground(body, categories, bound) for bound in bindings])
        case ForAll(variable, category, body):
            if variable in binding:
                raise _error(goal, f"{variable!r} is bound outside; name the variable differently")
            every = _of_category(goal, category, categories)
            return _all([_ground(body, categories, {**binding, variable: n}) for n in every])


def _bindings(
    variables: Sequence[tuple[str, int]], categories: Sequence[int], binding: Binding
) -> Iterator[Binding]:
    """The ways to extend a binding so that distinct variables have distinct objects."""
    choices = []
    for name, category in variables:
        able = _of_category(Exists(tuple(variables), And(())), category, categories)
        if name in binding:
            able = [n for n in able if n == binding[name]]
        choices.append(able)
    if (count := math.prod(len(able) for able in choices)) > MOST_BINDINGS:
        raise _error(
            Exists(tuple(variables), And(())),
            f"there are {count} ways to bind its variables, more than {MOST_BINDINGS}",
        )
    for objects in product(*choices):
        bound = {**binding, **{name: n for (name, _), n in zip(variables, objects, strict=True)}}
        if len(set(bound.values())) == len(bound):
            yield bound


def _bit(atom: Atom, binding: Binding) -> int:
    limit = _PLACES.get(atom.relation)
    of_object = atom.relation in ("on_top", "in", "holding") or (
        atom.relation == "robot_at" and bool(atom.object)
    )
    if of_object and atom.object not in binding:
        known = ", ".join(sorted(binding)) or "none"
        raise _error(atom, f"{atom.object!r} is no variable bound around it (those are: {known})")
    placed = limit is not None and not (atom.relation == "robot_at" and atom.object)
    if placed and limit is not None and not 0 <= atom.place < limit:
        raise _error(atom, f"`place` has to be from 0 to {limit - 1}")
    match atom.relation:
        case "on_top":
            return facts.object_bit(binding[atom.object], facts.ON + atom.place)
        case "in":
            return facts.object_bit(binding[atom.object], facts.IN + atom.place)
        case "holding":
            return facts.object_bit(binding[atom.object], facts.HOLDING)
        case "robot_at" if atom.object:
            return facts.object_bit(binding[atom.object], facts.AT_OBJECT)
        case "robot_at":
            return facts.AT + atom.place
        case "opened":
            return facts.OPENED + atom.place
        case "closed":
            return facts.CLOSED + atom.place
        case "not_holding":
            return facts.NOT_HOLDING


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
