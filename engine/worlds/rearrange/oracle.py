"""Solutions: played, searched for, and turned into subgoals.

The search is breadth first over what matters to the goal, as LLaRP's dataset validator does it:
two states are the same when the tracked predicates are. Only objects of the goal's categories are
looked at: `pick` is by category, so the others change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange.episode import Episode
from engine.worlds.rearrange.facts import facts, packed
from engine.worlds.rearrange.goals import Atom, Exists, ForAll, Goal, Nand, categories_of, walk
from engine.worlds.rearrange.grounding import Check, ground
from engine.worlds.rearrange.layout import Layout
from engine.worlds.rearrange.names import ACTIONS, RECEPTACLES
from engine.worlds.rearrange.rules import act
from engine.worlds.rearrange.state import State, joined, state_of
from engine.worlds.rearrange.subgoals import speaks_of_handles, subgoal, tracked

DEPTH: Final = 15
"""Longest solution that is searched for."""
WIDEST: Final = 100_000
"""States of one depth beyond which a search gives up."""
_CHUNK: Final = 4096
_FAR: Final = np.float32(-1000.0)


@dataclass(frozen=True, slots=True)
class Played:
    """What came of playing actions from an episode's start until success."""

    actions: tuple[int, ...]
    """Those taken: none after success."""
    valid: tuple[bool, ...]
    """Which of them were possible."""
    success: bool
    """Whether the goal was true after the last of them."""
    at_start: bool
    """Whether the goal was true before the first."""
    known: tuple[int, ...]
    """What was the case (`facts.packed`) after each of them."""


def play(episode: Episode, layout: Layout, actions: Sequence[int]) -> Played:
    """Take actions in an episode, up to the first that brings about its goal."""
    state = state_of(episode, layout)
    goal = ground(episode.goal, [placed.category for placed in episode.objects])
    row = np.zeros(1, np.int64)
    at_start = success = goal(packed(facts(state, row))[0])
    valid, known = [], []
    for action in actions:
        valid.append(bool(act(state, row, np.array([action]))[0]))
        known += packed(facts(state, row))
        success = goal(known[-1])
        if success:
            break
    taken = tuple(int(action) for action in actions[: len(valid)])
    return Played(taken, tuple(valid), success, at_start, tuple(known))


def solve(
    episode: Episode, layout: Layout, template: Sequence[int] | None = None, depth: int = DEPTH
) -> Episode | None:
    """The episode with a solution that has been played, and its subgoals.

    A `template` is taken as it is, up to the first success; without one a shortest solution is
    searched for. `None`: the goal holds at the start already, an action of the template is
    impossible or it does not lead to the goal, or there is no solution within `depth`.
    """
    if template is None:
        template = search(episode, layout, depth)
    if template is None:
        return None
    played = play(episode, layout, template)
    if played.at_start or not played.success or not all(played.valid):
        return None
    return replace(
        episode, solution=played.actions, subgoals=subgoals(episode, layout, played.known)
    )


def subgoals(episode: Episode, layout: Layout, known: Sequence[int]) -> tuple[Goal, ...]:
    """What became true by each action of a solution, as goals (see the module `subgoals`).

    `known` is what is the case after each action, as `Played.known`.
    """
    state = state_of(episode, layout)
    state.pose[0, :2] = _FAR
    start = packed(facts(state, np.zeros(1, np.int64)))[0]
    mask = tracked(episode.goal, episode.objects) & ~start
    found = (subgoal(after & mask, episode.objects) for after in known)
    return tuple(goal for goal in found if goal is not None)


def relevant_actions(goal: Goal) -> NDArray[np.int64]:
    """Actions that a solution may need.

    Picks of the goal's categories; places on the goal's receptacles, or on all that objects may
    start on where the goal is to take something away; handles only if the goal speaks of them.
    """
    handles = speaks_of_handles(goal)
    categories = categories_of(goal)
    named = {
        part.place for part in walk(goal) if isinstance(part, Atom) and part.relation == "on_top"
    }
    away = any(isinstance(part, Nand) for part in walk(goal))
    if away:
        named |= {n for n, receptacle in enumerate(RECEPTACLES) if receptacle.open_air}
    holds = any(isinstance(part, Exists | ForAll) for part in walk(goal))
    found = []
    for index, action in enumerate(ACTIONS):
        match action.skill:
            case "nav":
                useful = handles or action.target < len(RECEPTACLES)
            case "pick":
                useful = holds and action.target in categories
            case "place":
                useful = action.target in named
            case _:
                useful = handles
        if useful:
            found.append(index)
    return np.array(found, np.int64)


def search(episode: Episode, layout: Layout, depth: int = DEPTH) -> tuple[int, ...] | None:
    """A shortest solution, the first in the order of the actions; `None` if there is none.

    The answer is `()` when the goal holds at the start.
    """
    categories = categories_of(episode.goal)
    few = replace(
        episode,
        objects=tuple(placed for placed in episode.objects if placed.category in categories),
    )
    goal = ground(few.goal, [placed.category for placed in few.objects])
    mask = tracked(few.goal, few.objects)
    actions = relevant_actions(few.goal)
    state = state_of(few, layout)
    known = packed(facts(state, np.zeros(1, np.int64)))[0]
    if goal(known):
        return ()
    seen = {known & mask}
    paths: list[tuple[int, ...]] = [()]
    for _ in range(depth):
        state, paths, solution = _deeper(state, paths, actions, goal, mask, seen)
        if solution is not None:
            return solution
        if not paths or len(paths) > WIDEST:
            return None
    return None


def _deeper(
    state: State,
    paths: list[tuple[int, ...]],
    actions: NDArray[np.int64],
    goal: Check,
    mask: int,
    seen: set[int],
) -> tuple[State, list[tuple[int, ...]], tuple[int, ...] | None]:
    """All new states one action further, and the first path that reaches the goal."""
    parts, further = [], []
    for first in range(0, len(paths), _CHUNK):
        of = np.arange(first, min(first + _CHUNK, len(paths))).repeat(len(actions))
        taken = np.tile(actions, len(of) // len(actions))
        after = state.take(of)
        rows = np.arange(len(of))
        valid = np.flatnonzero(act(after, rows, taken))
        fresh = []
        for row, known in zip(valid, packed(facts(after, valid)), strict=True):
            path = (*paths[of[row]], int(taken[row]))
            if goal(known):
                return state, [], path
            if known & mask not in seen:
                seen.add(known & mask)
                fresh.append(row)
                further.append(path)
        parts.append(after.take(np.array(fresh, np.int64)))
    return joined(parts), further, None
