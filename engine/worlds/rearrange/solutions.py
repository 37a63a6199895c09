"""Solution templates: the actions that carry out an instruction, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from engine.worlds.rearrange.geometry import at
from engine.worlds.rearrange.layout import Layout
from engine.worlds.rearrange.names import ACTIONS, FRIDGE_HANDLE, RECEPTACLES, Skill

ACTION_OF: Final = MappingProxyType({(a.skill, a.target): n for n, a in enumerate(ACTIONS)})
"""Index of an action by skill and target."""
FRIDGE: Final = len(RECEPTACLES) + FRIDGE_HANDLE
"""The fridge's handle as an entity."""


def carry(category: int, source: int, target: int) -> tuple[int, ...]:
    """Go to where an object lies, pick it, go to where it shall lie, place it."""
    return _actions(("nav", source), ("pick", category), ("nav", target), ("place", target))


def turn_fridge(skill: Skill) -> tuple[int, ...]:
    """Go to the fridge and `open` or `close` it."""
    return _actions(("nav", FRIDGE), (skill, FRIDGE_HANDLE))


def go(entity: int) -> tuple[int, ...]:
    """Go somewhere."""
    return _actions(("nav", entity))


def carry_near(
    layout: Layout, loads: Sequence[tuple[int, int]], targets: Sequence[int]
) -> tuple[int, ...]:
    """Carry objects, each given by category and where it lies, to any of the targets.

    Unlike `carry`, goes nowhere without need: a place in reach of the robot is used from where it
    is, as the original's search for the shortest solution finds.
    """
    actions: list[tuple[Skill, int]] = []
    stand = -1
    for category, source in loads:
        if stand != source:
            actions.append(("nav", source))
        actions.append(("pick", category))
        stand = source
        near_by = in_reach(layout, source)
        target = next((place for place in targets if place in near_by), -1)
        if target < 0:
            stand = target = targets[0]
            actions.append(("nav", target))
        actions.append(("place", target))
    return _actions(*actions)


def in_reach(layout: Layout, entity: int) -> frozenset[int]:
    """The entities that the robot is at (`robot_at`) once it has gone to one of them."""
    x, y, heading = layout.stands[entity].tolist()
    return frozenset(at(layout.positions, x, y, heading).nonzero()[0].tolist())


def _actions(*steps: tuple[Skill, int]) -> tuple[int, ...]:
    return tuple(ACTION_OF[step] for step in steps)
