"""What a player sees of the game at one moment, and nothing more.

Perception is symbolic: cells have names, also in the dark where a person would see noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter import codes
from engine.worlds.crafter.game import Game
from engine.worlds.crafter.package import objects

_KINDS = {
    objects.Cow: codes.COW,
    objects.Zombie: codes.ZOMBIE,
    objects.Skeleton: codes.SKELETON,
    objects.Arrow: codes.ARROW,
}


class Sighting(NamedTuple):
    """A creature in view: its kind, where it is relative to the player, where an arrow flies."""

    kind: int
    dx: int
    dy: int
    heading: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Percept:
    """The local view, the inventory and the player's own body."""

    materials: NDArray[np.uint8]
    """Material codes, shape (9, 7), the player in the middle; 0 outside the map."""
    creatures: tuple[Sighting, ...]
    inventory: tuple[int, ...]
    facing: tuple[int, int]
    sleeping: bool
    daylight: float
    unlocked: frozenset[str]


def perceive(game: Game) -> Percept:
    """Copy what is in view out of the game."""
    player, world = game.player, game.world
    px, py = int(player.pos[0]), int(player.pos[1])
    left, top = px - codes.REACH_X, py - codes.REACH_Y
    x0, x1 = max(left, 0), min(left + codes.VIEW_WIDTH, codes.SIZE)
    y0, y1 = max(top, 0), min(top + codes.VIEW_HEIGHT, codes.SIZE)
    materials = np.zeros((codes.VIEW_WIDTH, codes.VIEW_HEIGHT), np.uint8)
    materials[x0 - left : x1 - left, y0 - top : y1 - top] = world.material_map[x0:x1, y0:y1]
    window = world.object_map[x0:x1, y0:y1]
    xs, ys = np.nonzero(window)
    creatures = []
    for x, y, index in zip(xs.tolist(), ys.tolist(), window[xs, ys].tolist(), strict=True):
        other = world.object_at(index)
        if other is not player:
            creatures.append(_sighting(other, x + x0 - px, y + y0 - py))
    facing = player.facing
    return Percept(
        materials=materials,
        creatures=tuple(creatures),
        inventory=tuple(int(amount) for amount in player.inventory.values()),
        facing=(int(facing[0]), int(facing[1])),
        sleeping=bool(player.sleeping),
        daylight=float(world.daylight),
        unlocked=game.unlocked,
    )


def _sighting(creature: Any, dx: int, dy: int) -> Sighting:
    if isinstance(creature, objects.Plant):
        return Sighting(codes.RIPE_PLANT if creature.ripe else codes.PLANT, dx, dy, (0, 0))
    heading = (0, 0)
    if isinstance(creature, objects.Arrow):
        heading = (int(creature.facing[0]), int(creature.facing[1]))
    return Sighting(_KINDS[type(creature)], dx, dy, heading)
