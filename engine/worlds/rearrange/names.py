"""What there is in a flat: receptacles, handles, categories of objects, and the 70 actions."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Skill = Literal["nav", "pick", "place", "open", "close"]


@dataclass(frozen=True, slots=True)
class Receptacle:
    """Something objects can be placed on or in."""

    name: str
    spoken: str
    open_air: bool
    """Objects start only on these, and only these are goals."""


@dataclass(frozen=True, slots=True)
class Handle:
    """What opens and closes a part of the flat; its index is that of the joint."""

    name: str
    spoken: str
    opened: float
    """Joint position that opening brings about (rad or m)."""
    open_above: float
    """It counts as open above this position, and as closed within `CLOSED_WITHIN` of 0."""


CLOSED_WITHIN: Final = 0.15

RECEPTACLES: Final = (
    Receptacle("black_table", "black table", True),
    Receptacle("brown_table", "brown table", True),
    Receptacle("tv_stand", "TV stand", True),
    Receptacle("sink", "sink", True),
    Receptacle("right_counter", "right counter", True),
    Receptacle("left_counter", "left counter", True),
    Receptacle("sofa", "sofa", True),
    Receptacle("chair", "chair", False),
    Receptacle("fridge", "fridge", False),
    Receptacle("left_drawer", "left drawer", False),
    Receptacle("right_drawer", "right drawer", False),
)
HANDLES: Final = (
    Handle("cab_push_point_7", "left drawer", 0.45, 0.35),
    Handle("cab_push_point_6", "middle drawer", 0.45, 0.35),
    Handle("cab_push_point_5", "right drawer", 0.45, 0.35),
    Handle("cab_push_point_4", "bottom drawer", 0.45, 0.35),
    Handle("fridge_push_point", "fridge", 1.22, 1.22 - 0.15),
)
FRIDGE_HANDLE: Final = 4
RECEPTACLE_NAMES: Final = tuple(receptacle.name for receptacle in RECEPTACLES)
HANDLE_NAMES: Final = tuple(handle.name for handle in HANDLES)
ENTITIES: Final = (*RECEPTACLE_NAMES, *HANDLE_NAMES)
"""All that can be gone to: 11 receptacles, then 5 handles."""

TRAIN_CATEGORIES: Final = (
    "ball", "clamp", "hammer", "screwdriver", "padlock", "scissors", "block", "drill", "spatula",
    "knife", "spoon", "plate", "sponge", "cleanser", "plum", "pear", "peach", "apple", "lemon",
    "can", "box", "banana", "strawberry", "lego", "rubriks_cube", "book", "bowl", "cup",
)  # fmt: skip
HELD_OUT_CATEGORIES: Final = ("mug", "orange", "lid", "toy_airplane", "wrench")
CATEGORIES: Final = (*TRAIN_CATEGORIES, *HELD_OUT_CATEGORIES)
INSTANCES: Final = MappingProxyType(
    dict.fromkeys(CATEGORIES, 1)
    | {
        "cup": 14,
        "lego": 7,
        "book": 6,
        "bowl": 6,
        "ball": 5,
        "toy_airplane": 5,
        "can": 4,
        "box": 4,
        "clamp": 3,
        "block": 3,
        "screwdriver": 2,
    }
)
"""How many different objects there are of each category: 81 in all."""


@dataclass(frozen=True, slots=True)
class Action:
    """One of the 70 discrete actions."""

    skill: Skill
    target: int
    """`nav`: index of an entity; `pick`: of a category; `place`: of a receptacle; `open` and
    `close`: of a handle."""

    @property
    def name(self) -> str:
        """As in the original: `nav(sofa)`, `pick_apple`, `place(sink)`, `open_fridge`, ..."""
        if self.skill == "nav":
            return f"nav({ENTITIES[self.target]})"
        if self.skill == "pick":
            return f"pick_{CATEGORIES[self.target]}"
        if self.skill == "place":
            return f"place({RECEPTACLE_NAMES[self.target]})"
        if self.target == FRIDGE_HANDLE:
            return f"{self.skill}_fridge"
        return f"{self.skill}_cab({HANDLE_NAMES[self.target]})"


ACTIONS: Final = (
    *(Action("nav", index) for index in range(len(ENTITIES))),
    *(Action("pick", index) for index in range(len(CATEGORIES))),
    *(Action("place", index) for index in range(len(RECEPTACLES))),
    *(Action("open", index) for index in (FRIDGE_HANDLE, 0, 1, 2, 3)),
    *(Action("close", index) for index in (FRIDGE_HANDLE, 0, 1, 2, 3)),
)
"""No action ends an episode and none waits."""
ACTION_INDEX: Final = MappingProxyType({action.name: n for n, action in enumerate(ACTIONS)})
