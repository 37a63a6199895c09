"""The memories of n players as arrays, and one of them as an object.

A player's memory is fed by what it sees alone (`remember`): nothing here ever reads a game.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter import codes
from engine.worlds.crafter.navigation import FAR
from engine.worlds.crafter.percepts import Percepts
from engine.worlds.crafter.remember import look, update
from engine.worlds.crafter.rows import FRESH_STONES, MEMORY, NO_ROOM, PLAYER, RECENT, Rows

Cell = tuple[int, int]


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


class Memories:
    """The minds of `size` players, each a record that compiled code works on in place."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: Rows = np.zeros(size, PLAYER)
        """What compiled code takes as its first argument."""
        for search in (self.rows["search"], self.rows["detour"]):
            search["cost"] = FAR
            search["frames"] = FAR
            search["back"] = -1
        for index in range(size):
            self.begin(index)

    def begin(self, index: int) -> None:
        """Forget everything: a player at the start that has seen nothing yet."""
        self.load(index, np.zeros((), MEMORY))
        memory = self.rows["memory"][index]
        memory["x"], memory["y"] = codes.START
        memory["heading_x"] = memory["heading_y"] = -1
        memory["room_stage"] = NO_ROOM

    def look(self, index: int, percepts: Percepts) -> None:
        """Take in a view without time passing."""
        look(self.rows, index, *_arrays(percepts))

    def update(
        self,
        percepts: Percepts,
        actions: NDArray[np.int64],
        active: NDArray[np.bool_],
        changed: NDArray[np.bool_],
    ) -> None:
        """Take in what active players see one frame after their actions.

        `changed` is filled with what `act` of the stub returns.
        """
        update(self.rows, active, actions, changed, *_arrays(percepts))

    def save(self, index: int) -> NDArray[np.void]:
        """A copy of one memory, of type `MEMORY`."""
        return np.array(self.rows["memory"][index])

    def load(self, index: int, memory: NDArray[np.void]) -> None:
        """Put a memory that `check_memory` accepts in place of one, and then `look`."""
        row = self.rows["memory"]
        row[index] = memory
        # What is in view has to be seen again, and counts follow from the rest.
        row["seen_count"][index] = 0
        row["creatures"][index] = 0
        row["material_counts"][index] = np.bincount(
            memory["known"].ravel(), minlength=len(codes.MATERIALS)
        )


def check_memory(memory: NDArray[np.void]) -> None:
    """Refuse what no player can remember: compiled code trusts every index.

    Raises:
        ValueError: a field is out of bounds; says which.
    """
    cells = codes.SIZE * codes.SIZE
    animals, fresh = int(memory["animal_count"]), int(memory["fresh_count"])
    room = memory["room_stage"] != NO_ROOM
    limits = (
        ("known", memory["known"], 0, len(codes.MATERIALS)),
        ("x", memory["x"], 0, codes.SIZE),
        ("y", memory["y"], 0, codes.SIZE),
        ("frames", memory["frames"], 0, np.inf),
        ("heading_x", memory["heading_x"], -1, codes.SIZE),
        ("heading_y", memory["heading_y"], -1, codes.SIZE),
        ("animal_count", animals, 0, cells + 1),
        ("animal_cell", memory["animal_cell"][:animals], 0, cells),
        ("animal_kind", memory["animal_kind"][:animals], 1, len(codes.CREATURES)),
        ("recent_count", memory["recent_count"], 0, RECENT + 1),
        ("recent", memory["recent"], 0, cells),
        ("fresh_count", fresh, 0, FRESH_STONES + 1),
        ("fresh_cell", memory["fresh_cell"][:fresh], 0, cells),
        ("room_stage", memory["room_stage"], NO_ROOM, 3),
        # The cells around a room lie on the map.
        ("room_x", memory["room_x"] if room else 3, 3, codes.SIZE - 3),
        ("room_y", memory["room_y"] if room else 3, 3, codes.SIZE - 3),
        ("room_direction", memory["room_direction"], 0, len(codes.DIRECTIONS)),
    )
    for name, values, low, end in limits:
        if np.size(values) and not low <= np.min(values) <= np.max(values) < end:
            raise ValueError(f"{name!r} of a memory must be {low}..{end - 1}")
    if len(np.unique(memory["animal_cell"][:animals])) != animals:
        raise ValueError("two animals of a memory stand on one cell")


def _arrays(percepts: Percepts) -> tuple[NDArray[Any], ...]:
    return (
        percepts.materials,
        percepts.creatures,
        percepts.arrows,
        percepts.inventory,
        percepts.facing,
        percepts.sleeping,
        percepts.daylight,
        percepts.unlocked,
    )


class MapMemory:
    """One player's memory by names: a view on its record, always up to date."""

    def __init__(self, memories: Memories, index: int) -> None:
        self.rows = memories.rows
        self.index = index
        all_rows: Any = memories.rows["memory"]
        self._x, self._y = all_rows["x"], all_rows["y"]
        self._facing, self._frames = all_rows["facing"], all_rows["frames"]
        self._sleeping, self._daylight = all_rows["sleeping"], all_rows["daylight"]
        self._row: Any = all_rows[index]
        self.known: NDArray[np.uint8] = self._row["known"]
        """Material codes by [x, y]."""
        self.creatures: NDArray[np.uint8] = self._row["creatures"]
        """Codes of creatures in view by [x, y]."""
        self.inventory: NDArray[np.uint8] = self._row["inventory"]
        """Counts in the order of `codes.ITEMS`."""
        self.unlocked: NDArray[np.bool_] = self._row["unlocked"].view(np.bool_)
        """Achievements in the package's order."""
        self.material_counts: NDArray[np.int32] = self._row["material_counts"]
        """Known cells of each material."""
        self.creature_counts: NDArray[np.int32] = self._row["creature_counts"]
        """Creatures of each kind in view, or remembered (cows and plants)."""

    @property
    def position(self) -> Cell:
        """Where the player stands."""
        return self._x.item(self.index), self._y.item(self.index)

    @property
    def facing(self) -> Cell:
        """Direction the player faces."""
        return codes.DIRECTIONS[self._facing.item(self.index)]

    @property
    def frames(self) -> int:
        """Env frames since the episode began."""
        return int(self._frames.item(self.index))

    @property
    def sleeping(self) -> bool:
        """Whether the player is asleep."""
        return bool(self._sleeping.item(self.index))

    @property
    def daylight(self) -> float:
        """0.0 (darkest night) to 1.0 (noon)."""
        return float(self._daylight.item(self.index))

    @property
    def heading(self) -> Cell:
        """Where exploring leads to; (-1, -1) for nowhere."""
        return int(self._row["heading_x"]), int(self._row["heading_y"])

    @heading.setter
    def heading(self, cell: Cell) -> None:
        self._row["heading_x"], self._row["heading_y"] = cell

    @property
    def room(self) -> Room | None:
        """The closed room in the making."""
        row = self._row
        if row["room_stage"] == NO_ROOM:
            return None
        entrance = (int(row["room_x"]), int(row["room_y"]))
        return Room(
            entrance, int(row["room_direction"]), int(row["room_since"]), int(row["room_stage"])
        )

    @property
    def impatient_until(self) -> int:
        """Frame until which creatures in the way are minded less."""
        return int(self._row["impatient_until"])

    @property
    def in_view(self) -> tuple[Creature, ...]:
        """Creatures in view, column by column."""
        row = self._row
        directions = ((0, 0), *codes.DIRECTIONS)
        return tuple(
            Creature(int(kind), int(x), int(y), directions[heading])
            for kind, x, y, heading in zip(
                row["seen_kind"][: row["seen_count"]],
                row["seen_x"],
                row["seen_y"],
                row["seen_heading"],
                strict=False,
            )
        )

    @property
    def animals(self) -> dict[Cell, int]:
        """Cows and plants by the cell where they were last seen."""
        row = self._row
        count = row["animal_count"]
        return {
            _cell(cell): int(kind)
            for cell, kind in zip(
                row["animal_cell"][:count], row["animal_kind"][:count], strict=True
            )
        }

    @property
    def recent(self) -> list[Cell]:
        """The last places, oldest first."""
        return [_cell(cell) for cell in self._row["recent"][: self._row["recent_count"]]]

    @property
    def fresh_stones(self) -> dict[Cell, int]:
        """Stones put to stop an arrow, by the frame until which they are not dug away."""
        row = self._row
        count = row["fresh_count"]
        return {
            _cell(cell): int(until)
            for cell, until in zip(
                row["fresh_cell"][:count], row["fresh_until"][:count], strict=True
            )
        }

    def on_map(self, cell: Cell) -> bool:
        """Whether a cell is on the map at all."""
        return 0 <= cell[0] < codes.SIZE and 0 <= cell[1] < codes.SIZE

    def creature(self, cell: Cell) -> int:
        """Code of the creature in view; 0 for none."""
        return int(self.creatures[cell]) if self.on_map(cell) else 0

    def ahead(self, direction: Cell) -> Cell:
        """The cell at an offset from the player."""
        x, y = self.position
        return x + direction[0], y + direction[1]


def _cell(number: Any) -> Cell:
    return int(number) // codes.SIZE, int(number) % codes.SIZE
