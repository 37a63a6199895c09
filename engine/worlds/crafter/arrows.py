"""Compiled: which cells arrows in view are about to hit."""

from __future__ import annotations

from typing import Final

from engine.worlds.crafter.codes import LAVA, WATER
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.rows import Record, is_floor, material_at, step_x, step_y

ARROW_REACH: Final = 3
"""Cells an arrow flies before the player has to mind it."""


@compiled
def frames_to_hit(memory: Record, number: int, x: int, y: int) -> int:
    """Cells the arrow of a number in view flies to hit a cell; 0 when it does not hit it soon."""
    if memory.seen_heading[number] == 0:
        return 0
    heading = memory.seen_heading[number] - 1
    dx = step_x(heading)
    dy = step_y(heading)
    from_x = int(memory.seen_x[number])
    from_y = int(memory.seen_y[number])
    ahead_x = x - from_x
    ahead_y = y - from_y
    steps = ahead_x * dx + ahead_y * dy
    if steps <= 0 or steps > ARROW_REACH or ahead_x != steps * dx or ahead_y != steps * dy:
        return 0
    for step in range(1, steps):
        between = material_at(memory, from_x + step * dx, from_y + step * dy)
        if not is_floor(between) and between not in (WATER, LAVA):
            return 0
    return int(steps)


@compiled
def is_hit_soon(memory: Record, x: int, y: int, frames: int) -> bool:
    """Whether an arrow in view hits a cell within so many frames."""
    for number in range(memory.seen_count):
        steps = frames_to_hit(memory, number, x, y)
        if 0 < steps <= frames:
            return True
    return False
