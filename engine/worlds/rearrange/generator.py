"""Tasks from a seed: the same seed, set and number give the same task, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from engine.worlds.rearrange.episode import Episode, Placed
from engine.worlds.rearrange.layout import OPEN_AIR, Layout, generate, spots, start_pose
from engine.worlds.rearrange.names import CATEGORIES, FRIDGE_HANDLE, HANDLES, INSTANCES
from engine.worlds.rearrange.oracle import solve
from engine.worlds.rearrange.plans import VARIANTS
from engine.worlds.rearrange.splits import (
    EVALUATION,
    ObjectRule,
    Split,
    train_validation,
    training,
)
from engine.worlds.rearrange.tasks import Task, decide

MOST: Final = 11
"""Objects on one receptacle at the start, as counted in the original's evaluation sets."""
ATTEMPTS: Final = 200
"""Draws after which a set counts as one that no task can be found for."""
_STREAMS: Final = ("training", "train_validation", *EVALUATION)
"""Each set draws from a stream of its own; its place here is its number."""


class TaskGenerator:
    """All tasks of a seed."""

    def __init__(self, seed: int = 0, objects: ObjectRule = "strict") -> None:
        """`objects` says what training may show of the held-out categories.

        Raises:
            ValueError: The seed is negative, or there is no such rule.
        """
        if seed < 0:
            raise ValueError(f"The seed of tasks has to be 0 or more, not {seed!r}.")
        self.seed = seed
        self.objects = objects
        self._splits = {
            "training": training(objects),
            "train_validation": train_validation(objects),
            **EVALUATION,
        }

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the sets that have a fixed number of tasks: `train_validation`, then the ten."""
        return tuple(name for name in self._splits if name != "training")

    def training(self, index: int) -> Episode:
        """The training task of this number; there are as many as one asks for.

        Raises:
            ValueError: The number is negative.
        """
        if index < 0:
            raise ValueError(f"Training tasks are numbered from 0, not {index!r}.")
        split = self._splits["training"]
        rng = self._rng(split, index)
        weights = np.array([share.weight for share in split.shares])
        return self._draw(split, int(rng.choice(len(weights), p=weights / weights.sum())), index)

    def split(self, name: str) -> tuple[Episode, ...]:
        """All tasks of an evaluation split or of `train_validation`.

        Raises:
            ValueError: There is no such split.
        """
        if name not in self.splits:
            raise ValueError(f"There is no split {name!r}: take one of {list(self.splits)}.")
        split = self._splits[name]
        order = [n for n, share in enumerate(split.shares) for _ in range(share.weight)]
        return tuple(self._draw(split, share, index) for index, share in enumerate(order))

    @cached_property
    def evaluation(self) -> dict[str, tuple[Episode, ...]]:
        """The tasks of the ten evaluation splits, by name; generated once."""
        return {name: self.split(name) for name in EVALUATION}

    def _rng(self, split: Split, index: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, _STREAMS.index(split.name), index))

    def _draw(self, split: Split, share: int, index: int) -> Episode:
        """Draw until there is a task that is not done yet and that its solution does."""
        demands = split.shares[share].demands
        rng = self._rng(split, index).spawn(1)[0]
        name = f"{split.name}-{self.seed}-{index:05d}"
        for _ in range(ATTEMPTS):
            demand = demands[int(rng.integers(len(demands)))]
            macro, variant = int(rng.choice(split.macros)), int(rng.integers(VARIANTS))
            layout = generate(macro, variant)
            task = decide(demand, layout, split.asked(demand.kind), rng)
            episode = Episode(
                id=name,
                split=split.name,
                kind=demand.kind,
                instruction=task.instruction,
                macro=macro,
                variant=variant,
                start=start_pose(layout, rng),
                joints=_joints(task.fridge_open),
                objects=lay_out(split, task, layout, rng),
                goal=task.goal,
                subgoals=(),
                solution=task.solution,
            )
            solved = validated(episode, layout)
            if solved is not None:
                return solved
        raise RuntimeError(
            f"No task was found for {name!r} in {ATTEMPTS} draws: a phrasing of"
            f" {demands[0].kind!r} asks what the flats {split.macros!r} do not allow."
        )


def validated(episode: Episode, layout: Layout) -> Episode | None:
    """The episode with subgoals, if its whole solution is needed and leads to the goal."""
    solved = solve(episode, layout, template=episode.solution)
    if solved is None or solved.solution != episode.solution:
        return None
    return solved


def lay_out(
    split: Split, task: Task, layout: Layout, rng: np.random.Generator
) -> tuple[Placed, ...]:
    """Lay out what the task needs and, besides, one object of each category and some more.

    What a task names is there as often as it needs and no more.
    """
    laid = list(task.laid)
    named = dict.fromkeys(wanted.category for wanted in laid)
    categories = [*named, *(n for n in split.scattered if n not in named)]
    free = [
        (category, instance)
        for category in categories
        for instance in rng.permutation(INSTANCES[CATEGORIES[category]]).tolist()
    ]
    chosen = [_take(free, wanted.category) for wanted in laid]
    chosen += [_take(free, category) for category in categories if category not in named]
    spare = [item for item in free if item[0] not in named]
    more = int(rng.integers(split.more[0], split.more[1] + 1)) - (len(laid) - len(named))
    chosen += [spare[int(n)] for n in rng.choice(len(spare), max(more, 0), replace=False)]
    places = [wanted.receptacle for wanted in laid]
    places += _spread(len(chosen) - len(laid), places, rng)
    return _lay(chosen, places, layout, rng)


def _take(free: list[tuple[int, int]], category: int) -> tuple[int, int]:
    return free.pop(next(n for n, item in enumerate(free) if item[0] == category))


def _spread(count: int, taken: Sequence[int], rng: np.random.Generator) -> list[int]:
    """Open-air receptacles for that many objects, at random, none with more than `MOST`."""
    room = [place for place in OPEN_AIR for _ in range(MOST - taken.count(place))]
    return [room[int(n)] for n in rng.choice(len(room), count, replace=False)]


def _lay(
    chosen: Sequence[tuple[int, int]],
    places: Sequence[int],
    layout: Layout,
    rng: np.random.Generator,
) -> tuple[Placed, ...]:
    """Put each object on its receptacle, in an order that tells nothing."""
    found: list[Placed] = []
    for place in sorted(set(places)):
        on = [item for item, where in zip(chosen, places, strict=True) if where == place]
        for (category, instance), (x, y, z) in zip(
            on, spots(layout, place, len(on), rng).tolist(), strict=True
        ):
            found.append(Placed(category, instance, (x, y, z)))
    return tuple(found[int(n)] for n in rng.permutation(len(found)))


def _joints(fridge_open: bool) -> tuple[float, float, float, float, float]:
    joints = [0.0] * len(HANDLES)
    if fridge_open:
        joints[FRIDGE_HANDLE] = HANDLES[FRIDGE_HANDLE].opened
    return (joints[0], joints[1], joints[2], joints[3], joints[4])
