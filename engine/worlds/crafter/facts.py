"""Crafter in words, for the prompts of the agents; numbers come from the package's data."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from engine.worlds.base import Recipe
from engine.worlds.crafter.data import AREA, DAY_FRAMES, EPISODE_LENGTH, VIEW, crafter_data

_DANGERS = """Dangers:
- Zombies come up on grass, many more in the dark. One that stands beside the player hits for 2 \
health, or for 7 while the player sleeps. A zombie has 5 health.
- Skeletons live in tunnels (path) inside mountains and shoot arrows that take 2 health. Skeletons \
and cows have 3 health.
- A blow takes 1 health, with a wood sword 2, a stone sword 3, an iron sword 5.
- Stepping into lava kills at once. Lava lies in mountains, often near diamonds.
- Food falls by 1 about every 26 frames, drink every 21, energy every 31; while one of them is 0 \
health falls, while none is health grows back by 1 about every 26 frames.
- Sleeping restores energy and lasts until energy is full or the player is hurt; sleep only in a \
closed room."""

_WORDS = """Words of predicates: numbers are what is held (health, food, drink and energy are 0..9 \
too), `frames` of the episode, `day_frame` of the day, `daylight` 0..1, `threat` (cells to the \
nearest enemy in view, 99 if none), `grass_in_view` (cells). `danger`: something is about to hit; \
`enclosed`: in a closed room no creature can enter; `fenced`: the nearest plant is fenced in. \
`near(x)`: x within the 3 x 3 cells around the player, as crafting needs; `in_view(x)`: seen now; \
`seen(x)`: remembered; `unlocked(x)`: achieved in this episode."""


@functools.cache
def facts() -> str:
    """World facts, recipes, dangers, and what the words of predicates mean."""
    data = crafter_data()
    head = [
        f"Crafter is a map of {AREA[0]} x {AREA[1]} cells with grassland, lakes, beaches and "
        f"mountains with caves. The player sees {VIEW[0]} x {VIEW[1]} cells around itself and "
        "remembers what it saw.",
        f"An episode lasts {EPISODE_LENGTH} frames, or until health is 0. A day lasts {DAY_FRAMES} "
        f"frames; it is dark from about frame {DAY_FRAMES // 2} to frame "
        f"{DAY_FRAMES * 11 // 12} of each.",
        f"Walkable are {', '.join(data.walkable)}. No item can be held more than "
        f"{max(data.items.values())} times.",
        "Some maps have no diamond at all.",
    ]
    rules = [f"- {_rule(recipe)}" for recipe in data.recipes]
    more = [
        "- food: `do` facing a cow until it is dead gives 6 food; `do` facing a ripe plant gives "
        "4. A placed sapling is ripe after about 300 frames if no creature stands beside it.",
    ]
    names = ", ".join(data.achievements)
    return "\n".join([*head, "Rules:", *rules, *more, _DANGERS, _WORDS, f"Achievements: {names}."])


def _rule(recipe: Recipe) -> str:
    where = " or ".join(recipe.where)
    match recipe.kind:
        case "collect":
            chance = crafter_data().probabilities.get(recipe.target, 1.0)
            tool = f" holding {_amounts(recipe.requires)}" if recipe.requires else ""
            luck = f" ({chance:.0%} of the tries)" if chance < 1 else ""
            return (
                f"{recipe.target}: `do` facing {where}{tool} gives {_amounts(recipe.gives)}{luck}"
            )
        case "place":
            return (
                f"{recipe.target}: `{recipe.action}` facing {where} spends {_amounts(recipe.needs)}"
            )
    return (
        f"{recipe.target}: `{recipe.action}` with {' and '.join(recipe.nearby)} in the 3 x 3 "
        f"around the player spends {_amounts(recipe.needs)}"
    )


def _amounts(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{amount} {name}" for name, amount in amounts.items())
