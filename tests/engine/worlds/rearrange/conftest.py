"""A flat made by hand, in which everything stands alone: 4 m from one thing to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from engine.worlds.rearrange.episode import Episode, Placed
from engine.worlds.rearrange.facts import facts, packed
from engine.worlds.rearrange.goals import And, Goal
from engine.worlds.rearrange.grounding import ground
from engine.worlds.rearrange.layout import Layout
from engine.worlds.rearrange.names import (
    ACTION_INDEX,
    CATEGORIES,
    ENTITIES,
    HANDLES,
    RECEPTACLE_NAMES,
)
from engine.worlds.rearrange.rules import act
from engine.worlds.rearrange.state import State, state_of

APART = 4.0
NOTHING_ASKED = And(())
CLOSED = (0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class HandMade:
    """The flat, and short ways to put an episode into it."""

    layout: Layout

    @staticmethod
    def where(name: str) -> tuple[float, float, float]:
        """The middle of an entity."""
        return APART * (ENTITIES.index(name) + 1), 5.0, 0.95

    @staticmethod
    def category(name: str) -> int:
        return CATEGORIES.index(name)

    @staticmethod
    def receptacle(name: str) -> int:
        return RECEPTACLE_NAMES.index(name)

    def placed(self, category: str, at: str | tuple[float, float, float]) -> Placed:
        """An object in the middle of what is named, or anywhere."""
        return Placed(self.category(category), 0, self.where(at) if isinstance(at, str) else at)

    def episode(
        self,
        objects: Sequence[tuple[str, str | tuple[float, float, float]]] = (),
        goal: Goal = NOTHING_ASKED,
        subgoals: Sequence[Goal] = (),
        start: tuple[float, float, float] = (0.0, 0.0, 0.0),
        joints: tuple[float, float, float, float, float] = CLOSED,
        id: str = "test",
    ) -> Episode:
        things = tuple(self.placed(*thing) for thing in objects)
        return Episode(
            id, "test", "test", "Tidy.", 0, 0, start, joints, things, goal, tuple(subgoals), ()
        )

    def state(self, *episodes: Episode) -> State:
        """The first episode's state."""
        return state_of(episodes[0], self.layout)

    @staticmethod
    def do(state: State, *actions: str) -> list[bool]:
        """Take actions by name in the first row; say which were possible."""
        row = np.zeros(1, np.int64)
        return [bool(act(state, row, np.array([ACTION_INDEX[name]]))[0]) for name in actions]

    @staticmethod
    def holds(state: State, goal: Goal) -> bool:
        """Whether a goal is true of the first row."""
        row = np.zeros(1, np.int64)
        count = int(state.counts[0])
        check = ground(goal, state.categories[0, :count].tolist())
        return check(packed(facts(state, row))[0])


@pytest.fixture(scope="session")
def hand() -> HandMade:
    """Entity `n` at (4 (n + 1), 5); its user stands 1 m south of it and looks at it."""
    where = np.array([HandMade.where(name) for name in ENTITIES], np.float32)
    stands = where - np.array([0, 1, 0], np.float32)
    stands[:, 2] = math.pi / 2
    low, high = np.array([-0.52, -0.52, -0.05]), np.array([0.52, 0.52, 0.25])
    boxes = np.stack((where + low, where + high), axis=1).astype(np.float32)
    count = len(RECEPTACLE_NAMES)
    layout = Layout(
        macro=0,
        variant=0,
        size=(APART * (len(ENTITIES) + 1), 10.0),
        positions=where,
        stands=stands,
        surfaces=boxes[:count],
        insides=boxes[count:],
        solids=boxes,
        solid_kinds=np.array([*range(count), *[-2] * len(HANDLES)], np.int8),
    )
    return HandMade(layout)
