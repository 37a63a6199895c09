"""What the 70 actions do: their preconditions and effects on a batch of flats.

Source: LLaRP's PDDL domain for ReplicaCAD, kinematic. Nothing is left to chance but the spot where
an object is put down, and that follows from the episode's id and the step: the same actions in the
same episode end the same. One deviation: an object is put down at rest on the bottom of the
receptacle's box, where the original draws its height from the box as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange.facts import AT_COSINE, closed, near, opened, within
from engine.worlds.rearrange.geometry import AT_DISTANCE, Floats
from engine.worlds.rearrange.names import ACTIONS, FRIDGE_HANDLE, HANDLES, RECEPTACLES
from engine.worlds.rearrange.state import NOTHING, Rows, State, carry

PICK_DISTANCE: Final = 1.5
"""An object can be grasped when the base is at most this far away on the floor (m) ..."""
PICK_COSINE: Final = math.cos(1.0)
"""... and turned away at most 1.0 rad."""
SHRINK: Final = 0.8
"""Objects are put down in the middle of a receptacle: its box shrunk to this share."""
RESTING: Final = 0.05
"""How high the centre of an object lies above a surface (m)."""

_ORDER: Final = ("nav", "pick", "place", "open", "close")
SKILLS: Final = np.array([_ORDER.index(action.skill) for action in ACTIONS], np.int64)
TARGETS: Final = np.array([action.target for action in ACTIONS], np.int64)
_OPENED: Final = np.array([handle.opened for handle in HANDLES], np.float32)

Valid = NDArray[np.bool_]


def act(state: State, rows: Rows, actions: NDArray[np.int64]) -> Valid:
    """Take one action in each of these (distinct) rows; say which were possible.

    `actions` are indices into `names.ACTIONS`. An impossible action changes nothing but the count
    of steps.
    """
    valid = np.zeros(len(rows), np.bool_)
    skills, targets = SKILLS[actions], TARGETS[actions]
    for skill, take in enumerate(_EFFECTS):
        of = np.flatnonzero(skills == skill)
        if len(of):
            valid[of] = take(state, rows[of], targets[of])
    state.steps[rows] += 1
    return valid


def robot_at(state: State, rows: Rows, entities: NDArray[np.int64]) -> Valid:
    """Whether each robot is at an entity."""
    points = state.entities[rows, entities][:, None]
    return near(state.pose[rows], points, AT_DISTANCE, AT_COSINE)[:, 0]


def graspable(state: State, rows: Rows, categories: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which objects (len(rows), k) of the given categories each robot could grasp if empty."""
    able: NDArray[np.bool_] = state.categories[rows] == categories[:, None]
    able &= near(state.pose[rows], state.positions[rows], PICK_DISTANCE, PICK_COSINE)
    shut = closed(state.joints[rows])
    shut[:, FRIDGE_HANDLE] = False  # Only what a cabinet hides is out of reach.
    where = np.flatnonzero(shut.any(axis=1) & able.any(axis=1))
    if len(where):
        boxes = state.boxes[rows[where], len(RECEPTACLES) :]
        hidden = within(state.positions[rows[where]], boxes) & shut[where][:, None, :]
        able[where] &= ~hidden.any(axis=2)
    return able


def _nav(state: State, rows: Rows, entities: NDArray[np.int64]) -> Valid:
    state.pose[rows] = state.stands[rows, entities]
    carry(state, rows)
    return np.ones(len(rows), np.bool_)


def _pick(state: State, rows: Rows, categories: NDArray[np.int64]) -> Valid:
    able = graspable(state, rows, categories)
    valid: Valid = (state.held[rows] == NOTHING) & able.any(axis=1)
    picked = rows[valid]
    state.held[picked] = able[valid].argmax(axis=1)
    carry(state, picked)
    return valid


def _place(state: State, rows: Rows, receptacles: NDArray[np.int64]) -> Valid:
    valid: Valid = (state.held[rows] != NOTHING) & robot_at(state, rows, receptacles)
    placed, on = rows[valid], receptacles[valid]
    low, high = np.moveaxis(state.boxes[placed, on], 1, 0)
    share = (1 - SHRINK) / 2 + SHRINK * _shares(state.seeds[placed], state.steps[placed])
    spot = low + (high - low) * share
    spot[:, 2] = np.minimum(low[:, 2] + np.float32(RESTING), high[:, 2])
    state.positions[placed, state.held[placed]] = spot
    state.held[placed] = NOTHING
    return valid


def _open(state: State, rows: Rows, handles: NDArray[np.int64]) -> Valid:
    shut = closed(state.joints[rows])[np.arange(len(rows)), handles]
    valid: Valid = shut & robot_at(state, rows, len(RECEPTACLES) + handles)
    state.joints[rows[valid], handles[valid]] = _OPENED[handles[valid]]
    return valid


def _close(state: State, rows: Rows, handles: NDArray[np.int64]) -> Valid:
    open_ = opened(state.joints[rows])[np.arange(len(rows)), handles]
    valid: Valid = open_ & robot_at(state, rows, len(RECEPTACLES) + handles)
    state.joints[rows[valid], handles[valid]] = 0
    return valid


_EFFECTS: Final[tuple[Callable[[State, Rows, NDArray[np.int64]], Valid], ...]] = (
    _nav,
    _pick,
    _place,
    _open,
    _close,
)


def _shares(seeds: NDArray[np.uint64], steps: NDArray[np.int64]) -> Floats:
    """Uniform in [0, 1), shape (n, 3): SplitMix64's output at a place of its own for each."""
    place = (seeds << np.uint64(8)) + steps.astype(np.uint64)
    bits: NDArray[np.uint64] = place[:, None] * np.uint64(3) + np.array([1, 2, 3], np.uint64)
    bits *= np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    shares: Floats = (bits >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
    return shares
