"""Is the compiled twin the same game as the public package, and how much quicker is it?

By hand, not a test:

    OMP_NUM_THREADS=1 python tests/benchmarks/bench_twin.py --policy random --episodes 1000
    OMP_NUM_THREADS=1 python tests/benchmarks/bench_twin.py --policy gather --episodes 300
    OMP_NUM_THREADS=1 python tests/benchmarks/bench_twin.py --policy my_module:my_policy

1. Episodes of the same seeds in our reproducible official game and in the twin: each frame equal.
2. Episodes of other seeds in the package as it is released (nothing of it changed but that nothing
   is drawn) and in the twin: two-proportion z tests for the 22 achievements, Welch's test and
   Kolmogorov and Smirnov's for length and reward; all p values adjusted by Holm's method.
3. Frames per CPU second of all three, in one run.

A policy of one's own is a function `(size, seed) -> Callable[[Percepts, began], actions]`. The exit
status is 1 where something differs.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray
from twin_policies import POLICIES, Actions, MakePolicy, Policy, RandomPolicy
from two_samples import holm, kolmogorov_smirnov, two_proportions, welch

from engine.worlds.base import REST
from engine.worlds.crafter.data import AREA, EPISODE_LENGTH, crafter_data
from engine.worlds.crafter.game import Game, OrderedWorld
from engine.worlds.crafter.official import OfficialGames
from engine.worlds.crafter.package import constants, engine
from engine.worlds.crafter.perception import perceive
from engine.worlds.crafter.percepts import Percepts
from engine.worlds.crafter.twin.twin import Twin

SIGNIFICANT: Final = 0.01
BATCH: Final = 64


class Games(Protocol):
    """What all engines have."""

    size: int
    percepts: Percepts

    @property
    def frames(self) -> NDArray[np.int64]:
        """Frames since each episode began."""

    def begin(self, index: int, seed: int) -> None:
        """Start an episode."""

    def step(self, actions: Actions) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """One frame of every place."""


class PlainWorld(OrderedWorld):
    """The released package's world: chunks are sets ordered by address."""

    def reset(self, seed: int | None = None) -> None:
        """As released."""
        engine.World.reset(self, seed)


class Released:
    """One game of the package as released: its own `step` and world; nothing is drawn."""

    size = 1

    def __init__(self, length: int | None = None) -> None:
        self.percepts = Percepts.empty(1)
        self.game = Game(length or EPISODE_LENGTH)
        self.game._world = PlainWorld(AREA, constants.materials, (12, 12))

    @property
    def frames(self) -> NDArray[np.int64]:
        """Frames since the episode began."""
        return np.array([self.game.frames])

    def begin(self, index: int, seed: int) -> None:
        """Start the first episode of a seed; the map is the package's, as other tests compare."""
        self.game.begin(seed, 1)
        perceive(self.game, self.percepts, index)

    def step(self, actions: Actions) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """One frame."""
        _, reward, _, info = self.game.step(int(actions[0]))
        perceive(self.game, self.percepts, 0)
        return np.array([reward]), np.array([info["discount"] == 0])


@dataclass(frozen=True)
class Episodes:
    """What some episodes came to; one row each."""

    lengths: NDArray[np.int64]
    rewards: NDArray[np.float64]
    unlocked: NDArray[np.bool_]


def play(
    games: Games, policy: Policy, seeds: Sequence[int], length: int = EPISODE_LENGTH
) -> Episodes:
    """Play one episode of each seed to its end."""
    waiting = list(enumerate(seeds))[::-1]
    lengths = np.zeros(len(seeds), np.int64)
    rewards = np.zeros(len(seeds), np.float64)
    unlocked = np.zeros((len(seeds), len(crafter_data().achievements)), np.bool_)
    running: dict[int, int] = {}
    while waiting or running:
        began = np.zeros(games.size, np.bool_)
        for index in range(games.size):
            if index not in running and waiting:
                running[index], seed = waiting.pop()
                games.begin(index, seed)
                began[index] = True
        chosen = policy(games.percepts, began)
        actions = np.full(games.size, REST, np.int64)
        places = list(running)
        actions[places] = chosen[places]
        gained, dead = games.step(actions)
        frames = games.frames
        for index, episode in list(running.items()):
            rewards[episode] += gained[index]
            if dead[index] or frames[index] >= length:
                lengths[episode] = frames[index]
                unlocked[episode] = games.percepts.unlocked[index]
                del running[index]
    return Episodes(lengths, rewards, unlocked)


def compare(official: Episodes, twin: Episodes) -> list[tuple[str, float, float, float]]:
    """Rows of (what, official, twin, p value); all p values adjusted by Holm's method."""
    rows = [
        (name, 100 * first.mean(), 100 * second.mean(), two_proportions(first, second))
        for name, first, second in zip(
            crafter_data().achievements, official.unlocked.T, twin.unlocked.T, strict=True
        )
    ]
    for name, test in (("Welch", welch), ("KS", kolmogorov_smirnov)):
        for what in ("lengths", "rewards"):
            first, second = getattr(official, what), getattr(twin, what)
            rows.append((f"{what}, {name}", first.mean(), second.mean(), test(first, second)))
    adjusted = holm([value for *_, value in rows])
    return [(*row[:3], value) for row, value in zip(rows, adjusted, strict=True)]


def identical(make: MakePolicy, seeds: Sequence[int], length: int) -> int:
    """How many episodes of the same seeds are equal frame for frame in both engines."""
    equal = 0
    for seed in seeds:
        games: list[Games] = [OfficialGames(1, length), Twin(1, length)]
        policies = [make(1, seed) for _ in games]
        for one in games:
            one.begin(0, seed)
        began, over, same = np.ones(1, np.bool_), False, True
        while same and not over:
            frames = [
                one.step(policy(one.percepts, began))
                for one, policy in zip(games, policies, strict=True)
            ]
            seen = [
                [getattr(one.percepts, name).tobytes() for name in Percepts.__slots__]
                for one in games
            ]
            same = frames[0] == frames[1] and seen[0] == seen[1]
            over = bool(frames[0][1][0]) or games[0].frames[0] >= length
            began[:] = False
        equal += same
    return equal


def speeds(frames: int) -> list[tuple[str, float, float]]:
    """Rows of (engine, frames per CPU second, milliseconds to begin an episode); random actions."""
    rows = []
    engines: tuple[tuple[str, Games, int], ...] = (
        ("released package", Released(), frames),
        ("official game", OfficialGames(1), frames),
        ("twin, 1 place", Twin(1), 50 * frames),
        (f"twin, {BATCH} places", Twin(BATCH), 200 * frames),
    )
    for name, games, wanted in engines:
        policy, spent, done, began = RandomPolicy(games.size, 0), 0.0, 0, 0.0
        for index in range(games.size):
            games.begin(index, 10_000 + index)
        for seed in range(10):
            began -= time.process_time()
            games.begin(0, seed)
            began += time.process_time()
        while done < wanted:
            actions = policy(games.percepts, np.zeros(games.size, np.bool_))
            spent -= time.process_time()
            _, dead = games.step(actions)
            spent += time.process_time()
            done += games.size
            for index in np.flatnonzero(dead).tolist():
                games.begin(index, done + index)
        rows.append((name, done / spent, 1000 * began / 10))
    return rows


def report(text: str) -> None:
    """One line on stdout."""
    sys.stdout.write(text + "\n")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--policy", default="random", help=f"{sorted(POLICIES)} or module:function")
    parser.add_argument("--episodes", type=int, default=1000, help="of the twin")
    parser.add_argument("--official", type=int, help="episodes of the package; default: as many")
    parser.add_argument("--identical", type=int, default=20, help="seeds played in both")
    parser.add_argument("--length", type=int, default=EPISODE_LENGTH, help="frames of an episode")
    parser.add_argument("--speed-frames", type=int, default=3000, help="of the package; 0: none")
    return parser.parse_args()


def main() -> int:
    """Compare, measure, print; 1 where something differs."""
    options = arguments()
    if ":" in options.policy:
        module, _, function = options.policy.partition(":")
        make: MakePolicy = getattr(importlib.import_module(module), function)
    else:
        make = POLICIES[options.policy]
    equal = identical(make, range(options.identical), options.length)
    report(f"identical episodes of the same seeds: {equal} of {options.identical}")
    count = options.official or options.episodes
    official = play(
        Released(options.length), make(1, 1), range(10**6, 10**6 + count), options.length
    )
    ours = play(
        Twin(BATCH, options.length),
        make(BATCH, 2),
        range(2 * 10**6, 2 * 10**6 + options.episodes),
        options.length,
    )
    report(f"{options.policy}: {count} episodes of the package, {options.episodes} of the twin")
    rows = compare(official, ours)
    for name, first, second, value in rows:
        flag = "  differs" if value < SIGNIFICANT else ""
        report(f"{name:22} {first:10.3f} {second:10.3f}   p {value:6.4f}{flag}")
    if options.speed_frames:
        rates = speeds(options.speed_frames)
        for name, rate, begin in rates:
            ratio = rate / rates[0][1]
            report(f"{name:18} {rate:10.0f} frames/CPU s  x{ratio:6.1f}  begin {begin:6.2f} ms")
    return int(equal < options.identical or any(value < SIGNIFICANT for *_, value in rows))


if __name__ == "__main__":
    sys.exit(main())
