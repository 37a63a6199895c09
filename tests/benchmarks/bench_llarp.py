"""LLaRP's rollout and update, the fast way against the plain one, on one model in one run.

By hand, not a test (one to two minutes):

    OMP_NUM_THREADS=1 python tests/benchmarks/bench_llarp.py
    OMP_NUM_THREADS=1 python tests/benchmarks/bench_llarp.py --dtype bfloat16 --envs 8

Prints one JSON object: steps per second of CPU time, ratios (fast by plain: median over `--repeats`
blocks that take turns, with the lowest and highest), and the largest difference between the log-
probabilities of the two. Worlds and encoder cost nothing here. Episodes are `short` (about 10
steps: a policy that solves its tasks) and `full` (all 32: one that solves nothing); instructions
are `new` (no rollout has seen them before) and `known` (all of them in memory). The update does
not depend on that: whatever is trained on was just played.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from engine.llarp.lm_config import LmConfig
from engine.llarp.lm_files import random_lm
from engine.llarp.naive import NaivePolicy
from engine.llarp.policy import LlarpPolicy, PolicyConfig
from engine.llarp.ppo import Learner, PpoConfig
from engine.llarp.rollout import Outcome, collect
from engine.llarp.sequences import Episode, Trainable

STEPS = 32
SHORTEST, LONGEST = 12, 20  # tokens of an instruction


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--kv-heads", type=int, default=8)
    parser.add_argument("--inner", type=int, default=688, help="units of the feed-forward part")
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


@dataclass
class Scripted:
    """Episodes of given lengths with random features; nothing that is done matters."""

    size: int
    features: int
    mean: int
    new: bool
    seed: int

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self._left = np.zeros(self.size, int)
        self._count = self.seed * 1_000_000

    def begin(self, env: int) -> str:
        """As long as `mean` says: all 32 steps, or uniform from 1 to twice the mean."""
        full = self.mean >= STEPS
        self._left[env] = STEPS if full else self.rng.integers(1, 2 * self.mean)
        self._count += 1
        return str(self._count if self.new else self._count % 20)

    def observe(self, envs: Sequence[int]) -> np.ndarray:
        """Random features."""
        return self.rng.standard_normal((len(envs), self.features), np.float32)

    def step(self, envs: Sequence[int], actions: np.ndarray) -> Outcome:
        """One step less."""
        self._left[list(envs)] -= 1
        done = self._left[list(envs)] == 0
        return Outcome(done.astype(np.float32), done, done)


def tokens_of(text: str) -> list[int]:
    """12 to 20 tokens that the number in `text` decides."""
    rng = np.random.default_rng(int(text))
    return [1, *rng.integers(3, 512, int(rng.integers(SHORTEST, LONGEST + 1)) - 1).tolist()]


def by_turns(
    plain: Callable[[int], int], fast: Callable[[int], int], repeats: int
) -> dict[str, object]:
    """Steps per CPU second of both and their ratio; each work gets a seed and returns its steps."""
    speeds: list[tuple[float, float]] = []
    for repeat in range(repeats + 1):
        pair = []
        for work in (plain, fast) if repeat % 2 else (fast, plain):
            begin = time.process_time()
            steps = work(repeat + 1)
            pair.append(steps / (time.process_time() - begin))
        speeds.append((pair[0], pair[1]) if repeat % 2 else (pair[1], pair[0]))
    del speeds[0]  # to warm up
    ratios = sorted(fast_speed / plain_speed for plain_speed, fast_speed in speeds)
    return {
        "plain": round(statistics.median(pair[0] for pair in speeds), 1),
        "fast": round(statistics.median(pair[1] for pair in speeds), 1),
        "ratio": round(statistics.median(ratios), 2),
        "lowest": round(ratios[0], 2),
        "highest": round(ratios[-1], 2),
    }


def rollout_of(
    policy: Trainable, options: argparse.Namespace, features: int, mean: int, new: bool
) -> Callable[[int], int]:
    """Plays one rollout of a seed; its steps."""

    def play(seed: int) -> int:
        tasks = Scripted(options.envs, features, mean, new, seed)
        generator = torch.Generator().manual_seed(seed)
        return sum(map(len, collect(policy, tasks, STEPS * options.envs, generator)))

    return play


def update_of(policy: Trainable, episodes: Sequence[Episode]) -> Callable[[int], int]:
    """Does one update on the episodes; their steps."""
    learner = Learner(policy, PpoConfig())

    def learn(seed: int) -> int:
        learner.update(episodes, np.random.default_rng(seed))
        return sum(map(len, episodes))

    return learn


def measure(options: argparse.Namespace) -> dict[str, object]:
    """All figures; both ways work with the same language model and equal trained parts."""
    shape = LmConfig(
        vocab_size=512,
        hidden_size=options.hidden,
        intermediate_size=options.inner,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        num_key_value_heads=options.kv_heads,
        head_dim=options.hidden // options.heads,
    )
    lm = random_lm(shape, 0, getattr(torch, options.dtype))
    sizes = PolicyConfig(features=128, bridge_units=options.hidden)
    fast, other = (
        LlarpPolicy(sizes, lm, tokens_of, envs=options.envs, seed=options.seed) for _ in range(2)
    )
    for policy in (fast, other):
        # As after some training: at the start all actions are about as probable, and alike.
        torch.nn.init.orthogonal_(policy.decoder.last.weight, generator=torch.Generator())
    plain = NaivePolicy(other)
    figures: dict[str, object] = {}
    for name, mean in (("short", 10), ("full", STEPS)):
        for kind, new in (("new", True), ("known", False)):
            figures[f"rollout, {name} episodes, {kind} instructions"] = by_turns(
                rollout_of(plain, options, sizes.features, mean, new),
                rollout_of(fast, options, sizes.features, mean, new),
                options.repeats,
            )
        tasks = Scripted(options.envs, sizes.features, mean, True, 99)
        episodes = collect(
            fast, tasks, STEPS * options.envs, torch.Generator().manual_seed(options.seed)
        )
        with torch.no_grad():
            one, two = fast.evaluate(episodes), plain.evaluate(episodes)
        acted = torch.cat([episode.log_probs for episode in episodes])
        figures[f"log-probabilities, {name} episodes"] = {
            "largest difference, fast and plain": float(
                (one.log_probs - two.log_probs).abs().max()
            ),
            "largest difference, rollout and update": float((one.log_probs - acted).abs().max()),
        }
        ways = [
            LlarpPolicy(sizes, lm, tokens_of, envs=options.envs, seed=options.seed)
            for _ in range(2)
        ]
        figures[f"update, {name} episodes"] = by_turns(
            update_of(NaivePolicy(ways[0]), episodes),
            update_of(ways[1], episodes),
            options.repeats,
        )
    return figures


def main() -> None:
    """Measure, print."""
    options = arguments()
    torch.set_num_threads(1)
    json.dump({"settings": vars(options)} | measure(options), sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
