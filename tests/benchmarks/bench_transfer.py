"""Does a policy that was trained on the twin play the public package the same way?

By hand, not a test:

    OMP_NUM_THREADS=1 python tests/benchmarks/bench_transfer.py BENCH_FOLDER --episodes 100

Plays the code + RL policies of a benchmark (`rlgpt-studio bench`) in the same worlds twice, on the
compiled twin and on the package, and compares episode by episode: frames, return, achievements.
The exit status is 1 where something differs. Worlds are of the training range: nothing held
out is looked at.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from engine.bench.arms import Policies, setup_for
from engine.bench.jobs import TrainJob
from engine.bench.store import BenchStore
from engine.rl.episodes import EpisodeSummary
from engine.rl.evaluate import evaluate
from engine.rl.policy_bundle import bound
from engine.rl.policy_file import NetworkPolicy, PolicySpec
from engine.sandbox.fast.sandbox import FastSandbox
from engine.sandbox.pool import Sandbox
from engine.worlds.base import World, WorldBatch

FIRST_SEED = 500_000


class OnTwin:
    """The world with the engine that training uses, also where it is not training."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    def make_batch(self, size: int, length: int | None = None, *, training: bool) -> WorldBatch:
        """A batch on the twin."""
        return self._world.make_batch(size, length, training=True)


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--episodes", type=int, default=100)
    options = parser.parse_args()
    store = BenchStore(options.folder)
    config = store.read().config
    different = 0
    for seed in range(config.seeds):
        job = TrainJob(arm="code+rl", seed=seed)
        record = store.training(job)
        if record is None:
            print(f"training seed {seed} is not finished")  # noqa: T201
            continue
        trained = Policies(record.policy_spec, store.policy(job))
        different += compare(setup_for(config).world, trained, options.episodes, seed)
    return int(different > 0)


def compare(world: World, trained: Policies, episodes: int, seed: int) -> int:
    """Episodes of one policy that are not the same on both."""
    played = {}
    for name, engine in (("package", world), ("twin", OnTwin(world))):
        began = time.process_time()
        played[name] = play(engine, trained, range(FIRST_SEED, FIRST_SEED + episodes))
        frames = sum(episode.frames for episode in played[name])
        seconds = time.process_time() - began
        print(f"training seed {seed}, {name}: {frames:,} frames, {frames / seconds:,.0f} per CPU s")  # noqa: T201
    pairs = zip(played["package"], played["twin"], strict=True)
    different = [one.seed for one, other in pairs if one != other]
    print(f"training seed {seed}: {episodes - len(different)} of {episodes} episodes are the same")  # noqa: T201
    for world_seed in different[:5]:
        print(f"  different: world seed {world_seed}")  # noqa: T201
    return len(different)


def play(world: Any, trained: Policies, seeds: range) -> list[EpisodeSummary]:
    """One episode in the world of each seed, in the order of seeds."""
    spec = PolicySpec.model_validate(trained.spec)
    weights = trained.weights or b""
    found: list[EpisodeSummary] = []
    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        evaluate(
            world,
            NetworkPolicy.load(spec, weights),
            bound(spec.actions, weights),
            FastSandbox(sandbox, world.primitive_function),
            seeds=seeds,
            task_success="true",
            goals={},
            on_episode=found.append,
        )
    return sorted(found, key=lambda episode: episode.seed)


if __name__ == "__main__":
    sys.exit(main())
