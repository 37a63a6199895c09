"""What a frame of Crafter costs. By hand: `python tests/benchmarks/bench_world.py [frames]`.

Prints microseconds per frame of one player: of a batch of 16 twins part by part, of one official
environment, and of single queries. Players mostly do what a query says and begin anew when dead.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import REST
from engine.worlds.crafter.batch import CrafterBatch
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.env import CrafterEnv
from engine.worlds.crafter.navigation import begin_search, settle
from engine.worlds.crafter.observation import observe
from engine.worlds.crafter.rows import Rows
from engine.worlds.crafter.terms import fill_terms
from engine.worlds.registry import get_world

CRAFTER = get_world("crafter")
SIZE = 16
GOALS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("explore", ("any",)), ("approach", ("tree",)), ("explore", ("mountain",)),
    ("approach", ("stone",)), ("approach", ("cow",)), ("step_to_place", ("table",)),
)  # fmt: skip
QUERIES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("count", ("wood",)), ("frames", ()), ("position", ()), ("in_front", ()), ("look", (1, 2)),
    ("near", ("table",)), ("seen", ("iron",)), ("threat", ()), ("enclosed", ()), ("dodge", ()),
    ("explore", ("any",)), ("explore", ("mountain",)), ("approach", ("tree",)),
    ("approach", ("water",)), ("approach", ("cow",)), ("approach", ("grass",)),
    ("distance", ("stone",)), ("distance", ("cow",)), ("step_near", ("table", "furnace")),
    ("step_to_place", ("stone",)), ("step_to_shelter", ()),
)  # fmt: skip


class Times:
    """Seconds per player by what was done; a call in `warm` mode leaves no trace."""

    def __init__(self) -> None:
        self.warm = True
        self._seconds: dict[str, list[float]] = defaultdict(list)

    def measure(self, name: str, players: int, work: Callable[[], Any]) -> Any:
        """Do it and note how long it took."""
        start = time.perf_counter()
        result = work()
        if not self.warm:
            self._seconds[name].append((time.perf_counter() - start) / players)
        return result

    def report(self) -> None:
        """Microseconds per player and frame, or per call: median and mean.

        On a busy machine the median says more.
        """
        for name, seconds in self._seconds.items():
            middle, mean = statistics.median(seconds) * 1e6, statistics.mean(seconds) * 1e6
            print(f"{name:34} {middle:8.2f} us {mean:8.2f} us")  # noqa: T201


@compiled
def search_everything(players: Rows) -> int:
    """The whole search of every player, and how many cells are reached."""
    cells = 0
    for index in range(len(players)):
        memory = players[index].memory
        search = players[index].detour
        begin_search(memory, search)
        while settle(memory, search):
            pass
        cells += search.settled
    return cells


def play_batch(batch: CrafterBatch, frames: int, times: Times) -> float:
    """Drive a batch part by part; returns reached cells per player."""
    random = np.random.default_rng(0)
    seeds = iter(range(1_000_000))
    for index in range(batch.size):
        batch.begin(index, next(seeds))
    everywhere = np.arange(batch.size)
    memories, engine = batch._memories, batch.engine
    active = np.ones(batch.size, np.bool_)
    changed = np.zeros(batch.size, np.bool_)
    reached = 0
    for frame in range(frames):
        actions = choose(batch, frame, times)
        _, dead = times.measure(
            "game step", batch.size, lambda actions=actions: engine.step(actions)
        )
        times.measure(
            "memory update",
            batch.size,
            lambda actions=actions: memories.update(engine.percepts, actions, active, changed),
        )
        times.measure("terms", batch.size, lambda: fill_terms(memories.rows, batch.terms))
        times.measure(
            "search of everything, ahead", batch.size, lambda: search_everything(memories.rows)
        )
        reached += search_everything(memories.rows)
        times.measure(
            "observe, with its search",
            batch.size,
            lambda: observe(memories.rows, everywhere, engine.length),
        )
        ask(batch, int(random.integers(batch.size)), times)
        for index in np.flatnonzero(dead).tolist():
            times.measure("begin", 1, lambda index=index: batch.begin(index, next(seeds)))
    return reached / frames / batch.size


def choose(batch: CrafterBatch, frame: int, times: Times) -> NDArray[np.int64]:
    """What each player does, asked before anything else has searched."""
    actions = np.full(batch.size, REST)
    for index, player in enumerate(batch.players):
        name, args = GOALS[(index + frame // 60) % len(GOALS)]
        answer = times.measure(
            "query to act on, with its search",
            1,
            lambda player=player, name=name, args=args: player.answer(name, args, {}),
        )
        wild = (frame * 7 + index) % 5
        actions[index] = CRAFTER.primitives.index(answer) if isinstance(answer, str) else wild
    return actions


def ask(batch: CrafterBatch, index: int, times: Times) -> None:
    """Every query, once the frame's search is done as far as the observation needs it."""
    player = batch.players[index]
    for name, args in QUERIES:
        label = f"  {name}({', '.join(map(repr, args))})"
        times.measure(label, 1, lambda name=name, args=args: player.answer(name, args, {}))


def play_env(frames: int, times: Times) -> None:
    """The official environment, observed every frame."""
    env = CrafterEnv()
    env.reset(seed=0)
    for frame in range(frames):
        answer = env.player.answer(*GOALS[frame // 60 % len(GOALS)], {})
        action = CRAFTER.primitives.index(answer) if isinstance(answer, str) else frame % 5
        ended = times.measure(
            "one official environment", 1, lambda action=action: env.step(np.int64(action))[2]
        )
        if ended:
            env.reset()


def main() -> None:
    """Measure once, after a short episode that compiles everything."""
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    times = Times()
    batch = CRAFTER.make_batch(SIZE, training=True)
    assert isinstance(batch, CrafterBatch)
    play_batch(batch, 20, times)
    times.warm = False
    reached = play_batch(batch, frames, times)
    print(f"{SIZE} twins, {frames} frames each, {reached:.0f} cells reached by a search")  # noqa: T201
    play_env(frames // 3, times)
    times.report()


if __name__ == "__main__":
    main()
