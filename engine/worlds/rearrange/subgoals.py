"""The steps of a solution as subgoals, by the rule of LLaRP's released code.

The subgoal of an action is the conjunction of all tracked predicates that are true after it and
were not at the start, with the robot thought away from the start. It includes what comes about by
the way, such as `robot_at` of the counter next to the sink. Where nothing tracked is new, there is
no subgoal. Tracked are `robot_at` of receptacles, and of the objects of the goal's categories
`robot_at`, `on_top`, `in` and `holding`; where the goal speaks of a handle, also `robot_at`,
`opened` and `closed` of all handles. Deviations: an object is meant by its category (any other of
it will do, distinct ones for distinct objects), and the nearer `robot_at_obj` is not tracked.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.worlds.rearrange import facts
from engine.worlds.rearrange.episode import Placed
from engine.worlds.rearrange.goals import And, Atom, Exists, Goal, categories_of, walk
from engine.worlds.rearrange.names import ENTITIES, HANDLES, RECEPTACLES

_HANDLE_RELATIONS = ("opened", "closed", "in")


def speaks_of_handles(goal: Goal) -> bool:
    """Whether opening or closing something is part of a goal, or going to a handle."""
    return any(
        isinstance(part, Atom)
        and (
            part.relation in _HANDLE_RELATIONS
            or (part.relation == "robot_at" and part.place >= len(RECEPTACLES))
        )
        for part in walk(goal)
    )


def tracked(goal: Goal, objects: Sequence[Placed]) -> int:
    """The predicates that subgoals are made of, as a mask of `facts`."""
    handles = speaks_of_handles(goal)
    mask = _span(facts.AT, len(ENTITIES) if handles else len(RECEPTACLES))
    mask |= 1 << facts.NOT_HOLDING
    if handles:
        mask |= _span(facts.OPENED, 2 * len(HANDLES))
    categories = categories_of(goal)
    for index, placed in enumerate(objects):
        if placed.category in categories:
            mask |= _span(facts.object_bit(index, 0), facts.WIDTH)
    return mask


def subgoal(new: int, objects: Sequence[Placed]) -> Goal | None:
    """Put tracked predicates that became true into words; `None` if there are none."""
    atoms: list[Goal] = []
    variables: dict[str, int] = {}
    for bit in _bits(new):
        if bit < facts.FIRST_OBJECT:
            atoms.append(_of_flat(bit))
            continue
        index, relation = divmod(bit - facts.FIRST_OBJECT, facts.WIDTH)
        name = f"object_{index}"
        variables[name] = objects[index].category
        atoms.append(_of_object(name, relation))
    if not atoms:
        return None
    body = And(tuple(atoms))
    return Exists(tuple(variables.items()), body) if variables else body


def _of_flat(bit: int) -> Atom:
    if bit == facts.NOT_HOLDING:
        return Atom("not_holding")
    if bit >= facts.CLOSED:
        return Atom("closed", place=bit - facts.CLOSED)
    if bit >= facts.OPENED:
        return Atom("opened", place=bit - facts.OPENED)
    return Atom("robot_at", place=bit - facts.AT)


def _of_object(name: str, relation: int) -> Atom:
    if relation == facts.HOLDING:
        return Atom("holding", name)
    if relation == facts.AT_OBJECT:
        return Atom("robot_at", name)
    if relation >= facts.IN:
        return Atom("in", name, relation - facts.IN)
    return Atom("on_top", name, relation - facts.ON)


def _span(first: int, count: int) -> int:
    return ((1 << count) - 1) << first


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found
