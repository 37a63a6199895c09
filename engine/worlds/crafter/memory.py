"""The player's memory of the map, fed by what it sees alone.

The position is kept by dead reckoning: the player starts in the middle of a map of known size and
knows the rule when a step succeeds. Nothing here ever reads the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter import codes
from engine.worlds.crafter.navigation import (
    BLOCKED,
    FAR,
    Bytes,
    Ints,
    first_direction,
    has_near,
    nearest_by_material,
    spread,
)
from engine.worlds.crafter.perception import Percept
from engine.worlds.crafter.rooms import ROOM_CELLS, closed_room

Cell = tuple[int, int]

NOTHING_NEAR = 99
"""`threat` when no zombie, skeleton or arrow is in view."""
_NIGHT = 0.75
_RECENT = 14
_FEW_PLACES = 3
_IMPATIENT_FRAMES = 15
_FRESH_PRICE = 15
_AVOID = np.array((0, 5, 6, 3, 2, BLOCKED, BLOCKED), np.uint8)
"""Extra price of a cell by the creature on it: a cow is in the way, a zombie hurts."""


class Creature(NamedTuple):
    """A creature in view; `heading` is where an arrow flies, (0, 0) for the others."""

    kind: int
    x: int
    y: int
    heading: Cell


class Room(NamedTuple):
    """A closed room in the making: entered from `entrance` in `direction`, two cells long."""

    entrance: Cell
    direction: int
    since: int
    stage: int


@dataclass(frozen=True, slots=True)
class Paths:
    """All ways from where the player stands, over the remembered map."""

    start: Cell
    extra: Bytes
    prices: Ints
    cost: Ints
    frames: Ints
    back: NDArray[np.int8]
    nearest: Ints
    """Per material: cost, x, y of the cell, x, y of where to stand."""

    def reaches(self, cell: Cell) -> bool:
        """Whether there is a way to the cell."""
        return bool(self.cost[cell] < FAR)

    def first_step(self, cell: Cell) -> Cell | None:
        """Direction of the first step to a cell; None when there is no way or it is reached."""
        found = first_direction(self.back, *cell, *self.start)
        return None if found < 0 else codes.DIRECTIONS[found]


class MapMemory:
    """Map, creatures, own body and own plans, as the player knows them."""

    def __init__(self) -> None:
        self.known: Bytes = np.zeros((codes.SIZE, codes.SIZE), np.uint8)
        self.creatures: Bytes = np.zeros((codes.SIZE, codes.SIZE), np.uint8)
        self.view: Bytes = np.zeros((codes.VIEW_WIDTH, codes.VIEW_HEIGHT), np.uint8)
        self.in_view: tuple[Creature, ...] = ()
        self.cows: set[Cell] = set()
        self.plants: dict[Cell, int] = {}
        self.position: Cell = codes.START
        self.frames = 0
        self.heading: Cell = (-1, -1)
        self.room: Room | None = None
        self.recent: list[Cell] = []
        self.impatient_until = 0
        self.fresh_stones: dict[Cell, int] = {}
        self.facing: Cell = (0, 1)
        self.inventory: tuple[int, ...] = (0,) * len(codes.ITEMS)
        self.sleeping = False
        self.daylight = 0.0
        self.unlocked: frozenset[str] = frozenset()
        self._paths: Paths | None = None
        self._enclosed: bool | None = None

    def update(self, percept: Percept, action: str) -> None:
        """Take in what is seen one frame after `action` was taken."""
        self.position = self._position_after(action)
        self.frames += 1
        self.look(percept)
        self.recent = [*self.recent[1 - _RECENT :], self.position]
        if (
            len(self.recent) == _RECENT
            and len(set(self.recent)) <= _FEW_PLACES
            and self.frames > self.impatient_until + 5
        ):
            # Going back and forth because a creature comes into and out of view: mind it less.
            self.impatient_until = self.frames + _IMPATIENT_FRAMES
        self.fresh_stones = {
            cell: until for cell, until in self.fresh_stones.items() if until >= self.frames
        }

    def look(self, percept: Percept) -> None:
        """Take in a view without time passing."""
        self.view = percept.materials
        self.facing = percept.facing
        self.inventory = percept.inventory
        self.sleeping = percept.sleeping
        self.daylight = percept.daylight
        self.unlocked = percept.unlocked
        self._paths = None
        self._enclosed = None
        px, py = self.position
        left, top = px - codes.REACH_X, py - codes.REACH_Y
        x0, x1 = max(left, 0), min(left + codes.VIEW_WIDTH, codes.SIZE)
        y0, y1 = max(top, 0), min(top + codes.VIEW_HEIGHT, codes.SIZE)
        self.known[x0:x1, y0:y1] = percept.materials[x0 - left : x1 - left, y0 - top : y1 - top]
        for creature in self.in_view:
            self.creatures[creature.x, creature.y] = 0
        self.in_view = tuple(
            Creature(seen.kind, px + seen.dx, py + seen.dy, seen.heading)
            for seen in percept.creatures
        )
        self.cows = {cell for cell in self.cows if not self.sees(cell)}
        self.plants = {cell: kind for cell, kind in self.plants.items() if not self.sees(cell)}
        for creature in self.in_view:
            cell = (creature.x, creature.y)
            self.creatures[cell] = creature.kind
            if creature.kind == codes.COW:
                self.cows.add(cell)
            elif creature.kind in (codes.PLANT, codes.RIPE_PLANT):
                self.plants[cell] = creature.kind

    def _position_after(self, action: str) -> Cell:
        """Where the player is after an action: a step succeeds when the cell ahead was free."""
        direction = codes.DIRECTION.get(action)
        asleep = self.sleeping and self.inventory[codes.ENERGY] < codes.MOST
        if direction is None or asleep:
            return self.position
        cell = (self.position[0] + direction[0], self.position[1] + direction[1])
        if self.is_free(cell) or (self.material(cell) == codes.LAVA and not self.creature(cell)):
            return cell
        return self.position

    # What is where

    def sees(self, cell: Cell) -> bool:
        """Whether a cell is in the 9 x 7 view now."""
        return (
            abs(cell[0] - self.position[0]) <= codes.REACH_X
            and abs(cell[1] - self.position[1]) <= codes.REACH_Y
        )

    def on_map(self, cell: Cell) -> bool:
        """Whether a cell is on the map at all."""
        return 0 <= cell[0] < codes.SIZE and 0 <= cell[1] < codes.SIZE

    def material(self, cell: Cell) -> int:
        """Code of the remembered material; -1 outside the map."""
        return int(self.known[cell]) if self.on_map(cell) else -1

    def creature(self, cell: Cell) -> int:
        """Code of the creature in view; 0 for none."""
        return int(self.creatures[cell]) if self.on_map(cell) else 0

    def is_free(self, cell: Cell) -> bool:
        """Whether the player could step there."""
        return self.material(cell) in codes.WALKABLE and self.creature(cell) == 0

    def ahead(self, direction: Cell, steps: int = 1) -> Cell:
        """The cell some steps from the player in a direction."""
        return (
            self.position[0] + steps * direction[0],
            self.position[1] + steps * direction[1],
        )

    @property
    def front(self) -> Cell:
        """The cell the player faces."""
        return self.ahead(self.facing)

    def holds(self, item: int) -> int:
        """How many of an item the player has."""
        return self.inventory[item]

    def near(self, material: int) -> bool:
        """Whether crafting would find the material around the player."""
        return bool(has_near(self.known, *self.position, material))

    @property
    def threat(self) -> int:
        """Distance of the nearest zombie, skeleton or arrow in view, both axes summed."""
        return min(
            (
                abs(seen.x - self.position[0]) + abs(seen.y - self.position[1])
                for seen in self.in_view
                if seen.kind in (codes.ZOMBIE, codes.SKELETON, codes.ARROW)
            ),
            default=NOTHING_NEAR,
        )

    @property
    def night(self) -> bool:
        """Whether it is dark enough for zombies to be many."""
        return self.daylight < _NIGHT

    @property
    def enclosed(self) -> bool:
        """Whether the player is in a small closed room."""
        if self._enclosed is None:
            size = closed_room(self.known, self.creatures, *self.position, ROOM_CELLS)
            self._enclosed = size > 0
        return self._enclosed

    # Ways

    @property
    def paths(self) -> Paths:
        """Ways from here; searched once a frame, when first asked for."""
        if self._paths is None:
            self._paths = self.search()
        return self._paths

    def search(self, avoided: dict[Cell, int] | None = None) -> Paths:
        """Search all ways from here, with an extra price on some cells."""
        prices, durations = self._prices()
        extra = self._extra()
        for cell, price in (avoided or {}).items():
            extra[cell] = max(int(extra[cell]), price)
        cost, frames, back = spread(self.known, extra, prices, durations, *self.position)
        nearest = nearest_by_material(self.known, cost)
        return Paths(self.position, extra, prices, cost, frames, back, nearest)

    def _prices(self) -> tuple[Ints, Ints]:
        """Price and frames of entering a cell, by material and by the tools held."""
        durations = np.zeros(len(codes.MATERIALS), np.int32)
        durations[[codes.GRASS, codes.PATH, codes.SAND]] = 1
        durations[codes.TREE] = 2
        if self.holds(codes.WOOD_PICKAXE):
            durations[[codes.STONE, codes.COAL]] = 2
            if self.holds(codes.STONE_ITEM):
                durations[codes.WATER] = 3
        if self.holds(codes.STONE_PICKAXE):
            durations[codes.IRON] = 2
        if self.holds(codes.IRON_PICKAXE):
            durations[codes.DIAMOND] = 2
        prices = durations.copy()
        prices[codes.TREE] += 1
        if prices[codes.WATER]:
            prices[codes.WATER] += 1
        if self.night and self.holds(codes.WOOD_PICKAXE):
            # Zombies come up on grass in the dark; a tunnel is the better way.
            prices[codes.GRASS] = 4
            prices[codes.SAND] = 2
        return prices, durations

    def _extra(self) -> Bytes:
        extra = np.zeros((codes.SIZE, codes.SIZE), np.uint8)
        impatient = self.frames < self.impatient_until
        for seen in self.in_view:
            price = int(_AVOID[seen.kind])
            extra[seen.x, seen.y] = min(price, 1) if impatient and price < BLOCKED else price
        for cell in self.plants:
            extra[cell] = BLOCKED
        for cell in self.fresh_stones:
            extra[cell] = max(int(extra[cell]), _FRESH_PRICE)
        return extra
