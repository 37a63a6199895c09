"""Tasks that can be set in Crafter: each achievement, all of them, and staying alive."""

from __future__ import annotations

import functools
from typing import Final

from engine.worlds.base import TaskSpec
from engine.worlds.crafter.data import DAY_FRAMES, crafter_data

ALL_ACHIEVEMENTS: Final = "all_achievements"
_FIRST: Final = (
    "collect_diamond", "make_iron_pickaxe", "make_stone_pickaxe", "make_wood_pickaxe",
)  # fmt: skip
ACHIEVEMENT_WORDS: Final = {
    "collect_coal": "collect coal",
    "collect_diamond": "collect a diamond",
    "collect_drink": "drink water",
    "collect_iron": "collect iron",
    "collect_sapling": "collect a sapling",
    "collect_stone": "collect stone",
    "collect_wood": "collect wood",
    "defeat_skeleton": "defeat a skeleton",
    "defeat_zombie": "defeat a zombie",
    "eat_cow": "eat a cow",
    "eat_plant": "eat a plant",
    "make_iron_pickaxe": "make an iron pickaxe",
    "make_iron_sword": "make an iron sword",
    "make_stone_pickaxe": "make a stone pickaxe",
    "make_stone_sword": "make a stone sword",
    "make_wood_pickaxe": "make a wood pickaxe",
    "make_wood_sword": "make a wood sword",
    "place_furnace": "place a furnace",
    "place_plant": "place a plant",
    "place_stone": "place a stone",
    "place_table": "place a table",
    "wake_up": "sleep and wake up",
}


@functools.cache
def tasks() -> tuple[TaskSpec, ...]:
    """All tasks, the diamond first."""
    names = sorted(
        crafter_data().achievements,
        key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST),
    )
    everything = " and ".join(f"unlocked({name})" for name in crafter_data().achievements)
    return (
        *(TaskSpec(name, ACHIEVEMENT_WORDS[name], f"unlocked({name})") for name in names),
        TaskSpec(ALL_ACHIEVEMENTS, "unlock every achievement", everything),
        TaskSpec("survive_day", "survive a day", f"frames >= {DAY_FRAMES} and health > 0"),
        TaskSpec(
            "survive_three_days", "survive three days", f"frames >= {3 * DAY_FRAMES} and health > 0"
        ),
    )
