"""Every term of the vocabulary as one row of numbers for each player."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import Vocabulary
from engine.worlds.crafter import codes
from engine.worlds.crafter.codes import ACHIEVEMENTS, CREATURES, GRASS, ITEMS, MATERIALS
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.data import DAY_FRAMES, crafter_data
from engine.worlds.crafter.rooms import is_enclosed
from engine.worlds.crafter.rows import Record, Rows, count_in_view, is_in_view, is_near
from engine.worlds.crafter.shelter import danger, threat
from engine.worlds.crafter.stones import is_fenced

SENSES: Final = ("daylight", "threat", "frames", "day_frame", "grass_in_view")
FLAGS: Final = ("sleeping", "enclosed", "danger", "fenced")


@functools.cache
def vocabulary() -> Vocabulary:
    """Words for predicates in this world."""
    materials = frozenset(codes.MATERIAL_CODE)
    return Vocabulary(
        numbers=frozenset({*codes.ITEMS, *SENSES}),
        flags=frozenset(FLAGS),
        tests={
            "unlocked": frozenset(crafter_data().achievements),
            "near": materials,
            "seen": materials | frozenset(codes.CREATURE_CODE),
            "in_view": materials | frozenset(codes.CREATURE_CODE),
        },
    )


@functools.cache
def term_names() -> tuple[str, ...]:
    """Every term as predicates write it, in the order of `fill_terms`."""
    materials = MATERIALS[1:]
    return (
        *ITEMS,
        *SENSES,
        *FLAGS,
        *(f"unlocked({name})" for name in crafter_data().achievements),
        *(f"near({name})" for name in materials),
        *(f"seen({name})" for name in (*materials, *CREATURES[1:])),
        *(f"in_view({name})" for name in (*materials, *CREATURES[1:])),
    )


@compiled
def fill_terms(players: Rows, out: NDArray[np.float64]) -> None:
    """Value of each term now; `out` has the shape (players, terms)."""
    for index in range(len(players)):
        _fill_row(players[index].memory, out[index])


@compiled
def _fill_row(memory: Record, out: NDArray[np.float64]) -> None:
    for item in range(len(ITEMS)):
        out[item] = memory.inventory[item]
    at = len(ITEMS)
    out[at] = memory.daylight
    out[at + 1] = threat(memory)
    out[at + 2] = memory.frames
    out[at + 3] = memory.frames % DAY_FRAMES
    out[at + 4] = count_in_view(memory, GRASS)
    out[at + 5] = memory.sleeping
    out[at + 6] = is_enclosed(memory)
    out[at + 7] = danger(memory)
    out[at + 8] = is_fenced(memory)
    at += 9
    for number in range(ACHIEVEMENTS):
        out[at + number] = memory.unlocked[number]
    at += ACHIEVEMENTS
    for material in range(1, len(MATERIALS)):
        known = memory.material_counts[material] > 0
        out[at] = known and is_near(memory, material)
        out[at + len(MATERIALS) - 1] = known
        at += 1
    at += len(MATERIALS) - 1
    for kind in range(1, len(CREATURES)):
        out[at] = memory.creature_counts[kind] > 0
        at += 1
    for material in range(1, len(MATERIALS)):
        known = memory.material_counts[material] > 0
        out[at] = known and count_in_view(memory, material) > 0
        at += 1
    for kind in range(1, len(CREATURES)):
        out[at] = is_in_view(memory, kind)
        at += 1
