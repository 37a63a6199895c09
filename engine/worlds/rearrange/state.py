"""What is the case in a batch of flats, as arrays: one row for each."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange.episode import Episode
from engine.worlds.rearrange.geometry import Floats
from engine.worlds.rearrange.layout import Layout
from engine.worlds.rearrange.names import ENTITIES, HANDLES, RECEPTACLES

AWAY: Final = 1e6
"""Where unused places for objects lie (m): near nothing and in no box."""
NOTHING: Final = -1
"""Held by an empty gripper."""
REACH: Final = 0.5
"""A held object is this far ahead of the robot's base (m) ..."""
GRIPPER_HEIGHT: Final = 1.0
"""... and this high (m)."""

Rows = NDArray[np.int64]


@dataclass(slots=True)
class State:
    """`n` flats with room for `k` objects each; rows of objects beyond `counts` lie `AWAY`."""

    entities: Floats
    """Positions of what can be gone to, (n, 16, 3)."""
    stands: Floats
    """Where going leads, (n, 16, 3): x, y, heading."""
    boxes: Floats
    """Least and greatest corners, (n, 16, 2, 3): surfaces of the 11 receptacles, then insides of
    what the 5 handles open."""
    pose: Floats
    """Of the robot, (n, 3): x, y, heading."""
    held: NDArray[np.int64]
    """Index of the held object or `NOTHING`, (n,)."""
    joints: Floats
    """(n, 5); 0 is closed."""
    counts: NDArray[np.int64]
    """How many objects there are, (n,)."""
    categories: NDArray[np.int64]
    """(n, k); -1 beyond `counts`."""
    instances: NDArray[np.int64]
    """(n, k)."""
    positions: Floats
    """Of the objects' centres, (n, k, 3)."""
    seeds: NDArray[np.uint64]
    """Of the spots where objects are put down, (n,); from the episode's id."""
    steps: NDArray[np.int64]
    """Actions taken since the episode began, (n,)."""

    @property
    def capacity(self) -> int:
        """Room for objects in a row."""
        return int(self.categories.shape[1])

    def take(self, rows: Rows) -> State:
        """A copy of these rows, in this order."""
        return State(*(getattr(self, field.name)[rows] for field in fields(self)))

    def grown(self, capacity: int) -> State:
        """A copy with room for more objects."""
        grown = allocate(len(self.held), capacity)
        for field in fields(self):
            old, new = getattr(self, field.name), getattr(grown, field.name)
            if field.name in ("categories", "instances", "positions"):
                new[:, : old.shape[1]] = old
            else:
                new[:] = old
        return grown

    def begin(self, row: int, episode: Episode, layout: Layout) -> None:
        """Put one flat into the start of an episode; there must be room for its objects."""
        count = len(episode.objects)
        self.entities[row] = layout.positions
        self.stands[row] = layout.stands
        self.boxes[row, : len(RECEPTACLES)] = layout.surfaces
        self.boxes[row, len(RECEPTACLES) :] = layout.insides
        self.pose[row] = episode.start
        self.held[row] = NOTHING
        self.joints[row] = episode.joints
        self.counts[row] = count
        self.categories[row] = -1
        self.instances[row] = 0
        self.positions[row] = AWAY
        if count:
            self.categories[row, :count] = [placed.category for placed in episode.objects]
            self.instances[row, :count] = [placed.instance for placed in episode.objects]
            self.positions[row, :count] = [placed.position for placed in episode.objects]
        self.seeds[row] = zlib.crc32(episode.id.encode())
        self.steps[row] = 0


def allocate(size: int, capacity: int) -> State:
    """Empty flats with room for at least one object each; `State.begin` fills them."""
    things, capacity = len(ENTITIES), max(capacity, 1)
    return State(
        entities=np.full((size, things, 3), AWAY, np.float32),
        stands=np.zeros((size, things, 3), np.float32),
        boxes=np.full((size, things, 2, 3), -AWAY, np.float32),
        pose=np.zeros((size, 3), np.float32),
        held=np.full(size, NOTHING, np.int64),
        joints=np.zeros((size, len(HANDLES)), np.float32),
        counts=np.zeros(size, np.int64),
        categories=np.full((size, capacity), -1, np.int64),
        instances=np.zeros((size, capacity), np.int64),
        positions=np.full((size, capacity, 3), AWAY, np.float32),
        seeds=np.zeros(size, np.uint64),
        steps=np.zeros(size, np.int64),
    )


def state_of(episode: Episode, layout: Layout) -> State:
    """One flat at the start of an episode."""
    state = allocate(1, len(episode.objects))
    state.begin(0, episode, layout)
    return state


def joined(parts: Sequence[State]) -> State:
    """The rows of several states of equal capacity, one after another; at least one."""
    return State(
        *(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(State))
    )


def carry(state: State, rows: Rows) -> None:
    """Move what these robots hold to their grippers."""
    holding = rows[state.held[rows] != NOTHING]
    pose = state.pose[holding]
    ahead = np.stack((np.cos(pose[:, 2]), np.sin(pose[:, 2])), axis=1) * REACH
    state.positions[holding, state.held[holding], :2] = pose[:, :2] + ahead
    state.positions[holding, state.held[holding], 2] = GRIPPER_HEIGHT
