"""How fast training is, as ratios to Stable-Baselines3 on the official package in the same run.

By hand, not a test (a few minutes; nothing else should run):

    OMP_NUM_THREADS=1 python tests/benchmarks/bench_speed.py

The anchor is PPO of Stable-Baselines3 with `DummyVecEnv` over the package's own `crafter.Env`,
drawing switched off, with the local view and the inventory as observation. Ours are the same
hyper-parameters over `WorldBatch`: primitives alone, and with the rules agents' coded actions, in
Monty and in fast mode. Each is measured in a process of its own, from its first update to its last,
learning included. CPU time counts the sandbox's workers too; it says more than the clock where
something else runs after all.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import crafter
import gymnasium
import numpy as np
import psutil
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

import engine.rl.ppo
from engine.bench.arms import Setup, setup_for, task_name
from engine.bench.config import BenchConfig
from engine.config import TrainingConfig
from engine.events import Event, TrainingMetrics
from engine.rl.options import OptionExecution, ProgramLoader
from engine.rl.ppo import SmdpPPO
from engine.rl.train import Trainer, TrainingJob
from engine.run.fast_mode import executors_told
from engine.sandbox.fast.sandbox import FastSandbox
from engine.sandbox.pool import Sandbox
from engine.worlds.crafter.batch import CrafterBatch

KINDS = ("Player", "Cow", "Zombie", "Skeleton", "Arrow", "Plant")
TITLES = {
    "anchor": "Stable-Baselines3, package",
    "primitives": "ours, primitives alone",
    "monty": "ours, code in Monty",
    "fast": "ours, code in fast mode",
}
PARTS: dict[str, tuple[tuple[Any, str], ...]] = {
    "coded actions": tuple((OptionExecution, name) for name in ("begin", "proceed", "catch_up")),
    "worlds": tuple((CrafterBatch, name) for name in ("begin", "step", "observe")),
    "acting": ((engine.rl.ppo, "act"),),
    "learning": ((SmdpPPO, "train"),),
}


@dataclass
class Measured:
    """One training, between its first update and its last."""

    frames: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    shares: dict[str, float] = field(default_factory=dict)
    """Of the time, by part."""
    coded_frames: float = 0.0
    """Share of the frames that coded actions chose."""
    peak_mib: float = 0.0
    """Of the process that trains."""
    workers_mib: float = 0.0
    """Of the sandbox's workers at the end, all together."""
    note: str = ""


class PackageEnv(gymnasium.Env[Any, Any]):
    """`crafter.Env` without pictures: one-hot local view, inventory, facing, daylight, asleep."""

    def __init__(self, seed: int) -> None:
        self._env = crafter.Env(seed=seed)
        self._env._obs = lambda: None
        self._env._sem_view = lambda: None
        self._channels = np.eye(19, dtype=np.float32)
        self._map = np.zeros((74, 74), np.int64)
        self._things = np.zeros((74, 74), np.int64)
        self.observation_space = gymnasium.spaces.Box(0, 1, (63 * 19 + 20,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(17)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self._env.reset()
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        _, reward, done, _ = self._env.step(int(action))
        return self._observe(), reward, done, False, {}

    def _observe(self) -> Any:
        player, world = self._env._player, self._env._world
        # The map with a margin for views beyond its edge, cut to 9 x 7 around the player.
        left, top = player.pos + np.array([5 - 4, 5 - 3])
        self._map[5:-5, 5:-5] = world._mat_map
        cells = self._map[left : left + 9, top : top + 7].copy()
        self._things[5:-5, 5:-5] = world._obj_map
        things = self._things[left : left + 9, top : top + 7]
        for x, y in zip(*np.nonzero(things), strict=True):
            kind = type(world._objects[things[x, y]]).__name__
            cells[x, y] = 13 + KINDS.index(kind)
        body = [count / 9 for count in player.inventory.values()]
        body += [*player.facing, world.daylight, player.sleeping]
        return np.concatenate((self._channels[cells].ravel(), np.array(body, np.float32)))


PACKAGE = (PackageEnv, "step"), (PackageEnv, "reset")


class Stopwatch:
    """Notes where each update ends, and the time that some functions take."""

    def __init__(self, parts: dict[str, tuple[tuple[Any, str], ...]]) -> None:
        self._spent = dict.fromkeys(parts, 0.0)
        self._marks: list[tuple[int, float, float, dict[str, float]]] = []
        self._usage: list[float] = []
        for part, functions in parts.items():
            for owner, name in functions:
                self._time(part, owner, name)

    def _time(self, part: str, owner: Any, name: str) -> None:
        inner: Callable[..., Any] = getattr(owner, name)
        spent = self._spent

        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                spent[part] += time.perf_counter() - began

        setattr(owner, name, timed)

    def mark(self, frames: int, usage: float = 0.0) -> None:
        """An update has ended."""
        self._marks.append((frames, time.perf_counter(), _cpu_seconds(), dict(self._spent)))
        self._usage.append(usage)

    def measured(self, note: str) -> Measured:
        """From the first mark to the last."""
        (first, began, cpu, before), (last, ended, cpu_ended, after) = (
            self._marks[0],
            self._marks[-1],
        )
        seconds = ended - began
        own, workers = _memory_mib()
        return Measured(
            frames=last - first,
            seconds=seconds,
            cpu_seconds=cpu_ended - cpu,
            shares={part: (after[part] - before[part]) / seconds for part in after},
            coded_frames=float(np.mean(self._usage[1:])),
            peak_mib=own,
            workers_mib=workers,
            note=note,
        )


def _cpu_seconds() -> float:
    """Of this process and of the workers it has started."""
    used = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return time.process_time() + sum(times.user + times.system for times in used)


def _memory_mib() -> tuple[float, float]:
    """The most this process has had in memory, and what its workers have now."""
    # Not `ru_maxrss`, which begins with what the parent had.
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    workers = psutil.Process().children(recursive=True)
    return int(peak.split()[1]) / 1024, sum(w.memory_info().rss for w in workers) / 2**20


def anchor(config: TrainingConfig, frames: int) -> Measured:
    """Stable-Baselines3 on the package."""
    watch = Stopwatch({"worlds": PACKAGE, "learning": ((PPO, "train"),)})
    envs = DummyVecEnv([lambda seed=seed: PackageEnv(seed) for seed in range(config.n_envs)])
    model = PPO(
        "MlpPolicy",
        envs,
        learning_rate=config.learning_rate,
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        max_grad_norm=config.max_grad_norm,
        target_kl=config.target_kl,
        policy_kwargs={"net_arch": list(config.net_arch)},
        device="cpu",
        seed=0,
    )

    class Marks(BaseCallback):
        def _on_rollout_start(self) -> None:
            if self.num_timesteps:  # each but the first begins where an update has ended
                watch.mark(self.num_timesteps)

        def _on_step(self) -> bool:
            return True

    model.learn(frames, callback=Marks())
    watch.mark(model.num_timesteps)
    return watch.measured("")


def ours(setup: Setup, config: TrainingConfig, frames: int, arm: str) -> Measured:
    """Our trainer."""
    watch = Stopwatch(PARTS)

    def report(event: Event) -> None:
        if isinstance(event, TrainingMetrics):
            watch.mark(event.frames, sum(event.usage.values()))

    with tempfile.TemporaryDirectory() as folder, _programs(setup, arm) as (programs, note):
        job = TrainingJob(
            world=setup.world,
            actions=() if arm == "primitives" else setup.actions,
            goals=setup.goals,
            task_success=setup.task.success,
            config=config,
            frames=frames,
            seed=0,
            episode_length=None,
            checkpoint_file=Path(folder) / "checkpoint.safetensors",
        )
        Trainer(job, programs, report=report, control=lambda: "go").run()
        return watch.measured(note)


@contextlib.contextmanager
def _programs(setup: Setup, arm: str) -> Iterator[tuple[ProgramLoader, str]]:
    world = setup.world
    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        if arm != "fast":
            yield sandbox, ""
            return
        with FastSandbox(sandbox, world.primitive_function) as fast:
            left = [a.name for a in setup.actions if fast.executor(a.code) == "monty"]
            texts = executors_told(fast, setup.actions)
            yield fast, "; ".join(texts[-len(left) :]) if left else ""


def main() -> None:
    """Measure the anchor and ours, one after another, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=60_000, help="of each of ours")
    parser.add_argument("--anchor-frames", type=int, default=10_000)
    parser.add_argument("--task", help="in words; every achievement if not said")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", dest="changes")
    parser.add_argument("--arm", choices=tuple(TITLES), help="measure one, and print it as JSON")
    options = parser.parse_args()
    if options.arm is not None:
        sys.stdout.write(json.dumps(asdict(_measure(options))) + "\n")
        return
    base: Measured | None = None
    for arm, title in TITLES.items():
        command = [sys.executable, __file__, *sys.argv[1:], "--arm", arm]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = Measured(**json.loads(done.stdout.splitlines()[-1]))
        base = base or found
        sys.stdout.write(_line(title, found, base))
        sys.stdout.flush()


def _measure(options: argparse.Namespace) -> Measured:
    torch.set_num_threads(1)
    config = TrainingConfig.model_validate(
        {name: json.loads(text) for name, _, text in (c.partition("=") for c in options.changes)}
    )
    if options.arm == "anchor":
        return anchor(config, options.anchor_frames)
    task = task_name("crafter", options.task)
    setup = setup_for(BenchConfig(task=task, frames=options.frames))
    return ours(setup, config, options.frames, options.arm)


def _line(title: str, found: Measured, base: Measured) -> str:
    speed, cpu = found.frames / found.seconds, found.frames / found.cpu_seconds
    ratio = speed * base.seconds / base.frames
    cpu_ratio = cpu * base.cpu_seconds / base.frames
    shares = [f"{part} {share:.0%}" for part, share in found.shares.items() if share >= 0.005]
    memory = f"{found.peak_mib:.0f} MiB"
    if found.workers_mib:
        memory += f" + {found.workers_mib:.0f} MiB of workers"
    lines = [
        f"{title:28} {speed:8.0f} frames/s {ratio:6.1f}x   "
        f"{cpu:8.0f} frames per CPU second {cpu_ratio:6.1f}x   {memory}",
        f"  time: {', '.join(shares)}; frames: coded actions {found.coded_frames:.0%}",
    ]
    if found.note:
        lines.append(f"  {found.note}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
