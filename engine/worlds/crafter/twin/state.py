"""The whole state of one place of a batch as a record: what compiled code reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.codes import DIRECTIONS, ITEMS, MATERIALS, SIZE
from engine.worlds.crafter.data import crafter_data

STREAM_WORDS: Final = 624
CHUNK: Final = 12
"""Cells along the side of a chunk, the package's unit of balance between creatures and map."""
CHUNK_ROWS: Final = -(-SIZE // CHUNK)
CHUNKS: Final = CHUNK_ROWS * CHUNK_ROWS

SLACK: Final = 64
"""Rows of removed things that are tolerated before the rest moves together."""
_NEWCOMERS: Final = 192
"""More than one frame can add: an arrow per cell from where a skeleton shoots (60), three
creatures per chunk (108), one plant."""
ROWS: Final = SIZE * SIZE + SLACK + _NEWCOMERS
"""Each cell holds at most one thing, so the rows can never run out."""

KIND: Final = 0
"""0 once removed; else as in `codes.CREATURES`, ripe plants being plants; or `PLAYER`."""
X: Final = 1
Y: Final = 2
LIFE: Final = 3
"""Health, of all but the player."""
CLOCK: Final = 4
"""Zombie: cooldown; skeleton: reload; plant: frames grown."""
HEADING_X: Final = 5
HEADING_Y: Final = 6
ARRIVAL: Final = 7
"""Rises with each arrival in a chunk: chunks list their things in this order."""
COLUMNS: Final = 8

PLAYER: Final = 7
"""Kind of the player, who has row 0; the creatures' codes end below."""

HUNGER: Final = 0
THIRST: Final = 1
FATIGUE: Final = 2
RECOVER: Final = 3


class Place(Protocol):
    """Fields of the record, for the type checker."""

    materials: NDArray[np.uint8]
    """Material codes by [x, y]."""
    rows: NDArray[np.int16]
    """1 + row of the thing at [x, y]; 0 for none."""
    things: NDArray[np.int32]
    """The player and all creatures in the order in which they came, shape (ROWS, COLUMNS)."""
    inventory: NDArray[np.int32]
    counts: NDArray[np.int32]
    """How often each achievement was reached."""
    needs: NDArray[np.float64]
    """Hunger, thirst, fatigue, recovery as the package counts them."""
    chunks: NDArray[np.uint8]
    """Chunks in the order in which they were first entered."""
    stream: NDArray[np.uint32]
    seed: int
    """Seed of the episode; -1 before the first."""
    episode: int
    frame: int
    daylight: float
    facing: int
    """Index into `codes.DIRECTIONS`."""
    sleeping: int
    felt_health: int
    """Health after the player's last turn; waking up depends on it."""
    rewarded_health: int
    rewarded_unlocks: int
    """Health, and how many achievements were unlocked, at the end of the last frame."""
    used: int
    """Rows in use, incl. those of removed things."""
    alive: int
    """Things that are not removed, incl. the player."""
    arrivals: int
    chunk_count: int
    stream_position: int


Places = NDArray[np.void]
Thing = NDArray[np.int32]
"""One row of `Place.things`."""
State = dict[str, NDArray[Any]]

_ARRAYS: Final = (
    ("materials", np.uint8, (SIZE, SIZE)),
    ("rows", np.int16, (SIZE, SIZE)),
    ("things", np.int32, (ROWS, COLUMNS)),
    ("inventory", np.int32, (len(ITEMS),)),
    ("needs", np.float64, (4,)),
    ("chunks", np.uint8, (CHUNKS,)),
    ("stream", np.uint32, (STREAM_WORDS,)),
)
_INTEGERS: Final = (
    "seed", "episode", "frame", "facing", "sleeping", "felt_health", "rewarded_health",
    "rewarded_unlocks", "used", "alive", "arrivals", "chunk_count", "stream_position",
)  # fmt: skip


def place_type() -> np.dtype[np.void]:
    """Layout of a record."""
    counts = ("counts", np.int32, (len(crafter_data().achievements),))
    numbers = [("daylight", np.float64), *((name, np.int64) for name in _INTEGERS)]
    return np.dtype([*_ARRAYS, counts, *numbers], align=True)


def empty_places(size: int) -> Places:
    """Places where no episode has begun."""
    places = np.zeros(size, place_type())
    places["seed"] = -1
    return places


def save_place(place: Any) -> State:
    """A copy of everything that decides what happens next."""
    state = {name: np.array(place[name]) for name in _saved_names(place)}
    state["things"] = state["things"][: int(place["used"])].copy()
    return state


def load_place(place: Any, state: Mapping[str, NDArray[Any]]) -> None:
    """Put a saved state into a place.

    Raises:
        ValueError: it is no state that `save_place` gave; the place has not changed.
    """
    names = _saved_names(place)
    if set(state) != set(names):
        raise ValueError(f"a state has the arrays {sorted(names)!r}, not {sorted(state)!r}")
    used = int(state["used"])
    if not 0 <= used <= ROWS:
        raise ValueError(f"'used' of a state must be 0..{ROWS}, not {used!r}")
    for name in names:
        value, target = state[name], place[name]
        shape = (used, COLUMNS) if name == "things" else target.shape
        if value.shape != shape or value.dtype != target.dtype:
            raise ValueError(
                f"{name!r} of a state must be {target.dtype} of shape {shape!r}, "
                f"not {value.dtype} of shape {value.shape!r}"
            )
    _check_bounds(state)
    for name in names:
        if name != "things":
            place[name] = state[name]
    things = state["things"]
    place["things"][:used] = things
    there = np.flatnonzero(things[:, KIND])
    place["rows"] = 0
    place["rows"][things[there, X], things[there, Y]] = there + 1


def _saved_names(place: Any) -> list[str]:
    """`rows` follows from the things."""
    return [name for name in place.dtype.names if name != "rows"]


def _check_bounds(state: Mapping[str, NDArray[Any]]) -> None:
    """Compiled code checks no index, so each must be right before it gets there."""
    things = state["things"]
    limits = (
        ("materials", state["materials"], len(MATERIALS)),
        ("kind", things[:, KIND], PLAYER + 1),
        ("x", things[:, X], SIZE),
        ("y", things[:, Y], SIZE),
        ("chunks", state["chunks"], CHUNKS),
        ("facing", state["facing"], len(DIRECTIONS)),
        ("frame", state["frame"], np.iinfo(np.int64).max),
        ("chunk_count", state["chunk_count"], CHUNKS + 1),
        ("stream_position", state["stream_position"], STREAM_WORDS + 1),
    )
    for name, values, end in limits:
        if np.size(values) and not 0 <= int(np.min(values)) <= int(np.max(values)) < end:
            raise ValueError(f"{name!r} of a state must be 0..{end - 1}")
    cells = things[things[:, KIND] > 0][:, [X, Y]]
    if len(np.unique(cells, axis=0)) != len(cells):
        raise ValueError("two things of a state stand on one cell")
    if len(cells) != int(state["alive"]) or len(things) - len(cells) > SLACK + _NEWCOMERS:
        raise ValueError(f"'alive' of a state must be {len(cells)!r}, not {int(state['alive'])!r}")
    if len(things) and int(things[0, KIND]) != PLAYER:
        raise ValueError("the first thing of a state must be the player")
