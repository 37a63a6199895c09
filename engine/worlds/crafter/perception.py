"""What a player sees of the official game at one moment, and nothing more.

Perception is symbolic: cells have names, also in the dark where a person would see noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.worlds.crafter import codes
from engine.worlds.crafter.game import Game
from engine.worlds.crafter.package import objects
from engine.worlds.crafter.percepts import Percepts

_KINDS = {
    objects.Cow: codes.COW,
    objects.Zombie: codes.ZOMBIE,
    objects.Skeleton: codes.SKELETON,
    objects.Arrow: codes.ARROW,
}
_DIRECTION = {direction: index for index, direction in enumerate(codes.DIRECTIONS)}


def perceive(game: Game, percepts: Percepts, index: int) -> None:
    """Copy what is in view out of the game into one row."""
    player, world = game.player, game.world
    px, py = int(player.pos[0]), int(player.pos[1])
    left, top = px - codes.REACH_X, py - codes.REACH_Y
    x0, x1 = max(left, 0), min(left + codes.VIEW_WIDTH, codes.SIZE)
    y0, y1 = max(top, 0), min(top + codes.VIEW_HEIGHT, codes.SIZE)
    view = np.s_[x0 - left : x1 - left, y0 - top : y1 - top]
    materials = percepts.materials[index]
    materials[:] = 0
    materials[view] = world.material_map[x0:x1, y0:y1]
    creatures, arrows = percepts.creatures[index], percepts.arrows[index]
    creatures[:] = 0
    arrows[:] = 0
    window = world.object_map[x0:x1, y0:y1]
    xs, ys = np.nonzero(window)
    for x, y, number in zip(xs.tolist(), ys.tolist(), window[xs, ys].tolist(), strict=True):
        other = world.object_at(number)
        if other is not player:
            cell = (x + x0 - left, y + y0 - top)
            creatures[cell] = _kind(other)
            if isinstance(other, objects.Arrow):
                arrows[cell] = 1 + _direction(other.facing)
    percepts.inventory[index] = list(player.inventory.values())
    percepts.facing[index] = _direction(player.facing)
    percepts.sleeping[index] = player.sleeping
    percepts.daylight[index] = world.daylight
    unlocked = game.unlocked
    percepts.unlocked[index] = [name in unlocked for name in player.achievements]


def _kind(creature: Any) -> int:
    if isinstance(creature, objects.Plant):
        return codes.RIPE_PLANT if creature.ripe else codes.PLANT
    return _KINDS[type(creature)]


def _direction(facing: Any) -> int:
    return _DIRECTION[int(facing[0]), int(facing[1])]
