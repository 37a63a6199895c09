"""The stub's queries as calls prepared for each of their arguments.

A query costs no frame, so code asks many of them: a plain call finds its prepared function by
looking its arguments up, and most of the work is compiled.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.worlds.base import Answer
from engine.worlds.crafter import codes, moves, nearest
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.data import DAY_FRAMES, crafter_data
from engine.worlds.crafter.memory import MapMemory
from engine.worlds.crafter.rooms import is_enclosed
from engine.worlds.crafter.rows import (
    Rows,
    count_in_view,
    creature_at,
    inside,
    is_in_view,
    is_near,
    step_x,
    step_y,
)
from engine.worlds.crafter.shelter import danger, dodge, step_to_shelter, threat
from engine.worlds.crafter.stones import is_fenced, step_to_fence
from engine.worlds.crafter.stub import (
    PRIMITIVE_FUNCTION,
    Function,
    query_names,
    stub_functions,
)

Call = Callable[[MapMemory], Answer]
_LANDS: Final = {
    "any": nearest.ANY_LAND,
    "grass": nearest.GRASSLAND,
    "mountain": nearest.MOUNTAIN,
}
_EDGE: Final = -1
_FIRST_CREATURE: Final = len(codes.MATERIALS)
_CELLS: Final = (*codes.MATERIALS, *codes.CREATURES, "edge")
"""What `_look` gives, as the stub calls it; the last one for `_EDGE`."""


def find_call(function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
    """The prepared call of a query.

    Raises:
        ValueError: there is no such query, or an argument is not what the stub allows.
    """
    if not kwargs:
        try:
            return _calls()[function][args]
        except (KeyError, TypeError):
            pass  # the stub says what is wrong, if anything is
    if function not in query_names():
        reason = "takes a frame" if function == PRIMITIVE_FUNCTION else "is not in the stub"
        raise ValueError(f"{function}() is no query: it {reason}")
    return _PREPARE[function](*stub_functions()[function].bind(args, kwargs))


@functools.cache
def _calls() -> Mapping[str, Mapping[tuple[Any, ...], Call]]:
    """By query and positional arguments."""
    calls: dict[str, Mapping[tuple[Any, ...], Call]] = {
        name: {
            given: _PREPARE[name](*function.bind(given, {}))
            for count in range(len(function.parameters) + 1)
            for given in _accepted(function, count)
        }
        for name, function in stub_functions().items()
        if name != PRIMITIVE_FUNCTION
    }
    return {**calls, "look": _Looks()}


class _Looks(dict[tuple[Any, ...], Call]):
    """Calls of `look` at any offset; never kept, because `True` would find the call for 1."""

    def __missing__(self, args: tuple[Any, ...]) -> Call:
        if [type(part) for part in args] != [int, int]:
            raise KeyError(args)
        dx, dy = args
        if abs(dx) > codes.SIZE or abs(dy) > codes.SIZE:
            raise KeyError(args)
        return _look(dx, dy)


def _accepted(function: Function, count: int) -> list[tuple[Any, ...]]:
    """All ways to give the first `count` arguments of a function that need no others."""
    given, rest = function.parameters[:count], function.parameters[count:]
    if any(parameter.takes_int for parameter in given) or any(left.required for left in rest):
        return []
    choices = [
        (*parameter.texts, None) if parameter.takes_none else parameter.texts for parameter in given
    ]
    return list(itertools.product(*choices))


def _suggestion(kernel: Callable[..., int], *numbers: int) -> Call:
    names = (*crafter_data().actions, None)  # the last one for `NONE`
    return lambda memory: names[kernel(memory.rows, memory.index, *numbers)]


def _number(kernel: Callable[..., int], *numbers: int) -> Call:
    return lambda memory: kernel(memory.rows, memory.index, *numbers)


def _count(item: str) -> Call:
    number = codes.ITEM_CODE[item]
    return lambda memory: memory.inventory.item(number)


def _unlocked(achievement: str) -> Call:
    number = crafter_data().achievements.index(achievement)
    return lambda memory: memory.unlocked.item(number)


def _look(dx: int, dy: int) -> Call:
    return lambda memory: _CELLS[_cell_at(memory.rows, memory.index, dx, dy)]


def _near(material: str) -> Call:
    return _number(_is_near, codes.MATERIAL_CODE[material])


def _seen(what: str) -> Call:
    if what in codes.CREATURE_CODE:
        kind = codes.CREATURE_CODE[what]
        return lambda memory: memory.creature_counts.item(kind) > 0
    material = codes.MATERIAL_CODE[what]
    return lambda memory: memory.material_counts.item(material) > 0


def _in_view(what: str) -> Call:
    if what in codes.CREATURE_CODE:
        return _number(_is_in_view, codes.CREATURE_CODE[what])
    return _number(_is_material_in_view, codes.MATERIAL_CODE[what])


def _distance(what: str) -> Call:
    if what in codes.CREATURE_CODE:
        return _number(moves.distance_to_creature, codes.CREATURE_CODE[what])
    return _number(moves.distance_to_material, codes.MATERIAL_CODE[what])


def _approach(what: str) -> Call:
    if what in codes.CREATURE_CODE:
        return _suggestion(moves.approach_creature, codes.CREATURE_CODE[what])
    return _suggestion(moves.approach_material, codes.MATERIAL_CODE[what])


def _step_near(first: str, second: str | None) -> Call:
    one = codes.MATERIAL_CODE[first]
    two = one if second is None else codes.MATERIAL_CODE[second]
    return _suggestion(moves.step_near, one, two)


def _step_to_place(thing: str) -> Call:
    recipe = next(
        recipe
        for recipe in crafter_data().recipes
        if recipe.kind == "place" and recipe.target == thing
    )
    takes = sum(1 << codes.MATERIAL_CODE[material] for material in recipe.where)
    placing = crafter_data().actions.index(recipe.action)
    return _suggestion(moves.step_to_place, placing, takes)


@compiled
def _cell_at(players: Rows, index: int, dx: int, dy: int) -> int:
    """Index into `_CELLS`: the creature in view, else the remembered material, at an offset."""
    memory = players[index].memory
    x = memory.x + dx
    y = memory.y + dy
    if not inside(x, y):
        return _EDGE
    creature = creature_at(memory, x, y)
    return _FIRST_CREATURE + creature if creature > 0 else int(memory.known[x, y])


@compiled
def _cell_in_front(players: Rows, index: int) -> int:
    facing = players[index].memory.facing
    return _cell_at(players, index, step_x(facing), step_y(facing))


@compiled
def _is_near(players: Rows, index: int, material: int) -> bool:
    return is_near(players[index].memory, material)


@compiled
def _is_enclosed(players: Rows, index: int) -> bool:
    return is_enclosed(players[index].memory)


@compiled
def _threat(players: Rows, index: int) -> int:
    return threat(players[index].memory)


@compiled
def _danger(players: Rows, index: int) -> bool:
    return danger(players[index].memory)


@compiled
def _is_fenced(players: Rows, index: int) -> bool:
    return is_fenced(players[index].memory)


@compiled
def _is_in_view(players: Rows, index: int, kind: int) -> bool:
    return is_in_view(players[index].memory, kind)


@compiled
def _is_material_in_view(players: Rows, index: int, material: int) -> bool:
    return count_in_view(players[index].memory, material) > 0


@compiled
def _grass_in_view(players: Rows, index: int) -> int:
    return count_in_view(players[index].memory, codes.GRASS)


_PREPARE: Final[Mapping[str, Callable[..., Call]]] = {
    "count": _count,
    "unlocked": _unlocked,
    "frames": lambda: lambda memory: memory.frames,
    "day_frame": lambda: lambda memory: memory.frames % DAY_FRAMES,
    "daylight": lambda: lambda memory: memory.daylight,
    "sleeping": lambda: lambda memory: memory.sleeping,
    "position": lambda: lambda memory: memory.position,
    "facing": lambda: lambda memory: memory.facing,
    "in_front": lambda: lambda memory: _CELLS[_cell_in_front(memory.rows, memory.index)],
    "look": _look,
    "near": _near,
    "seen": _seen,
    "in_view": _in_view,
    "grass_in_view": lambda: _number(_grass_in_view),
    "distance": _distance,
    "approach": _approach,
    "step_near": _step_near,
    "step_to_place": _step_to_place,
    "explore": lambda prefer: _suggestion(moves.explore, _LANDS[prefer]),
    "step_to_fence": lambda: _suggestion(step_to_fence),
    "fenced": lambda: _number(_is_fenced),
    "danger": lambda: _number(_danger),
    "threat": lambda: _number(_threat),
    "dodge": lambda: _suggestion(dodge),
    "enclosed": lambda: _number(_is_enclosed),
    "step_to_shelter": lambda: _suggestion(step_to_shelter),
}
"""By query, what prepares a call from its checked arguments."""
