"""One episode as data: a flat, what lies where, an instruction and what it asks for."""

from __future__ import annotations

from dataclasses import dataclass

from engine.worlds.rearrange.goals import Goal


@dataclass(frozen=True, slots=True)
class Placed:
    """An object at the start."""

    category: int
    """Index into `names.CATEGORIES`."""
    instance: int
    """Which of the category's instances; decides its colours."""
    position: tuple[float, float, float]
    """Of its centre, in metres."""


@dataclass(frozen=True, slots=True)
class Episode:
    """Everything that decides how an episode begins and what is success in it."""

    id: str
    split: str
    kind: str
    """Of the instruction: `move`, `swap`, `go_to`, ..."""
    instruction: str
    macro: int
    variant: int
    start: tuple[float, float, float]
    """Pose of the robot: x, y, heading."""
    joints: tuple[float, float, float, float, float]
    """Position of each handle's joint; 0 is closed."""
    objects: tuple[Placed, ...]
    goal: Goal
    """True after a step: success."""
    subgoals: tuple[Goal, ...]
    """One for each action of the solution; progress is the share ever reached."""
    solution: tuple[int, ...]
    """Actions that reach the goal, as validated by playing them."""
