"""The 70 actions as the original benchmark names them, and where each of ours is among them.

The original numbers them in the order in which its domain and its entities happen to be listed, so
they are found by name and arguments, never by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.worlds.rearrange.names import ACTION_INDEX, ACTIONS, RECEPTACLE_NAMES
from engine.worlds.rearrange.original_names import HANDLES, RECEPTACLES

ROBOT: Final = "robot_0"
"""Who acts: an argument of the original's `pick`."""
_CHECK: Final = (
    "Use the original as published (commit be7cbd3 of apple/ml-llarp) with its own configuration."
)


class HabitatError(EngineError):
    """Real Habitat is not there, or is not as the original benchmark has it."""


def our_name(name: str, arguments: Sequence[str]) -> str:
    """What one of the original's actions is called here.

    Raises:
        HabitatError: it is none of the 70.
    """
    about = [argument for argument in arguments if argument != ROBOT]
    skill, _, rest = name.partition("_")
    ours = ""
    if skill == "pick" and not about:
        ours = f"pick_{rest.replace(' ', '_')}"
    elif len(about) == 1 and about[0] in RECEPTACLES:
        ours = f"{name}({RECEPTACLE_NAMES[RECEPTACLES[about[0]]]})"
    elif len(about) == 1 and about[0] in HANDLES:
        ours = name if name.endswith("_fridge") else f"{name}({about[0]})"
        if name.endswith("_fridge") and about[0] != "fridge_push_point":
            ours = ""
    if ours not in ACTION_INDEX:
        told = f"{name}({', '.join(arguments)})"
        raise HabitatError(f"Habitat has the action {told!r}, which is none of the 70", _CHECK)
    return ours


def numbers_of(theirs: Sequence[tuple[str, Sequence[str]]]) -> NDArray[np.int64]:
    """The original's number of each of our actions, (70,).

    Args:
        theirs: name and arguments of each of the original's actions, in its order.

    Raises:
        HabitatError: they are not the 70, each of them once.
    """
    numbers = np.full(len(ACTIONS), -1, np.int64)
    for number, (name, arguments) in enumerate(theirs):
        ours = ACTION_INDEX[our_name(name, arguments)]
        if numbers[ours] >= 0:
            raise HabitatError(f"Habitat has the action {ACTIONS[ours].name!r} twice", _CHECK)
        numbers[ours] = number
    lacking = [ACTIONS[index].name for index in np.flatnonzero(numbers < 0)]
    if lacking:
        count = f"{len(lacking)} of the {len(ACTIONS)} actions"
        raise HabitatError(f"Habitat lacks {count}, such as {lacking[0]!r}", _CHECK)
    return numbers
