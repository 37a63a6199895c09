"""The predicates of a flat as bits: which of them are true.

Thresholds: LLaRP's PDDL domain for ReplicaCAD, `robot_at` 2.0 m and 1.57 rad. Each predicate of
each entity, handle and object has a bit of its own, so that a conjunction of predicates is one
comparison of integers.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange.geometry import AT_ANGLE, AT_DISTANCE, Floats
from engine.worlds.rearrange.names import CLOSED_WITHIN, ENTITIES, HANDLES, RECEPTACLES
from engine.worlds.rearrange.state import NOTHING, Rows, State

AT_COSINE: Final = math.cos(AT_ANGLE)

AT: Final = 0
OPENED: Final = AT + len(ENTITIES)
CLOSED: Final = OPENED + len(HANDLES)
NOT_HOLDING: Final = CLOSED + len(HANDLES)
FIRST_OBJECT: Final = NOT_HOLDING + 1
"""Bits of the objects follow each other from here, `WIDTH` for each."""
ON: Final = 0
IN: Final = ON + len(RECEPTACLES)
AT_OBJECT: Final = IN + len(HANDLES)
HOLDING: Final = AT_OBJECT + 1
WIDTH: Final = HOLDING + 1

OPEN_ABOVE: Final = np.array([handle.open_above for handle in HANDLES], np.float32)


def object_bit(index: int, relation: int) -> int:
    """Bit of a relation (`ON + receptacle`, `IN + handle`, `AT_OBJECT`, `HOLDING`)."""
    return FIRST_OBJECT + WIDTH * index + relation


def near(pose: Floats, points: Floats, distance: float, cosine: float) -> NDArray[np.bool_]:
    """Which points are close to the robot and ahead of it, on the floor.

    `pose` is (n, 3), `points` (n, k, 3), the result (n, k). A point under the base is ahead.
    """
    across = points[..., 0] - pose[:, None, 0]
    along = points[..., 1] - pose[:, None, 1]
    gap = np.sqrt(across * across + along * along)
    ahead = across * np.cos(pose[:, None, 2]) + along * np.sin(pose[:, None, 2])
    result: NDArray[np.bool_] = (gap <= distance) & (ahead >= cosine * gap)
    return result


def within(points: Floats, boxes: Floats) -> NDArray[np.bool_]:
    """Which points (n, k, 3) lie in which boxes (n, b, 2, 3): (n, k, b); borders count."""
    inside = np.ones((*points.shape[:2], boxes.shape[1]), np.bool_)
    for axis in range(3):
        values = points[:, :, None, axis]
        inside &= values >= boxes[:, None, :, 0, axis]
        inside &= values <= boxes[:, None, :, 1, axis]
    return inside


def opened(joints: Floats) -> NDArray[np.bool_]:
    """Which joints (n, 5) count as open."""
    result: NDArray[np.bool_] = joints > OPEN_ABOVE
    return result


def closed(joints: Floats) -> NDArray[np.bool_]:
    """Which joints (n, 5) count as closed."""
    result: NDArray[np.bool_] = np.abs(joints) <= CLOSED_WITHIN
    return result


def facts(state: State, rows: Rows) -> NDArray[np.bool_]:
    """All predicates of these flats, (len(rows), `FIRST_OBJECT` + `WIDTH` * capacity)."""
    size, capacity = len(rows), state.capacity
    pose, joints, held = state.pose[rows], state.joints[rows], state.held[rows]
    positions = state.positions[rows]
    table = np.zeros((size, FIRST_OBJECT + WIDTH * capacity), np.bool_)
    table[:, AT:OPENED] = near(pose, state.entities[rows], AT_DISTANCE, AT_COSINE)
    table[:, OPENED:CLOSED] = opened(joints)
    table[:, CLOSED:NOT_HOLDING] = closed(joints)
    table[:, NOT_HOLDING] = held == NOTHING
    objects = table[:, FIRST_OBJECT:].reshape(size, capacity, WIDTH)
    objects[:, :, ON:AT_OBJECT] = within(positions, state.boxes[rows])
    objects[:, :, AT_OBJECT] = near(pose, positions, AT_DISTANCE, AT_COSINE)
    holding = np.flatnonzero(held != NOTHING)
    objects[holding, held[holding], HOLDING] = True
    return table


def packed(table: NDArray[np.bool_]) -> list[int]:
    """Each row as one integer whose bit `i` is column `i`."""
    data = np.packbits(table, axis=1, bitorder="little")
    length, content = data.shape[1], data.tobytes()
    return [
        int.from_bytes(content[at : at + length], "little") for at in range(0, len(content), length)
    ]
