"""How far code alone comes: the rules agents' plan, all coded, over whole episodes.

Run by hand:
    OMP_NUM_THREADS=1 python tests/benchmarks/bench_executive.py --seeds 1000000:1000030
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from engine.agents.draft import draft
from engine.agents.executive import PlanExecutive
from engine.agents.protocols import TaskContext
from engine.agents.rules.agents import rules_agents
from engine.rl.episodes import EpisodeSummary
from engine.rl.evaluate import AnnouncedSeeds
from engine.rl.option_batch import OptionBatch
from engine.rl.option_set import OptionSet
from engine.rl.policies import ExecutivePolicy, ask
from engine.sandbox.pool import Sandbox
from engine.worlds.registry import get_world


@dataclass
class Tally:
    """What happened to one coded action over all episodes."""

    runs: int = 0
    frames: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)


VITALS = ("food", "drink", "energy", "daylight")


def play(
    batch: OptionBatch, policy: ExecutivePolicy, tallies: dict[str, Tally]
) -> Iterator[tuple[EpisodeSummary, str]]:
    """All episodes; of each the summary and what was running just before it ended."""
    worlds, names = batch.batch, batch.options.names
    columns = [worlds.term_names.index(vital) for vital in VITALS]
    chosen = np.zeros(batch.size, np.int64)
    batch.begin()
    while batch.playing:
        waiting = batch.waiting
        while waiting.size:
            actions = ask(policy, batch, waiting)
            chosen[waiting] = actions
            idle = batch.choose(waiting, actions)
            for place in idle.tolist():
                tally = tallies.setdefault(names[chosen[place]], Tally())
                tally.runs += 1
                tally.outcomes["no frame"] += 1
            waiting = idle
        before = worlds.terms[:, columns].copy()
        finished = batch.advance()
        for place, frames, outcome in zip(
            finished.places.tolist(), finished.frames.tolist(), finished.outcomes, strict=True
        ):
            tally = tallies.setdefault(names[chosen[place]], Tally())
            tally.runs += 1
            tally.frames += frames
            tally.outcomes[outcome] += 1
        ended = finished.places[finished.over].tolist()
        for place, summary in zip(ended, finished.summaries, strict=True):
            food, drink, energy, light = before[place]
            vitals = f"food {food:.0f}, drink {drink:.0f}, energy {energy:.0f}, light {light:.1f}"
            yield summary, f"{names[chosen[place]]} ({vitals})"


def main() -> None:
    """Print success rates by achievement, deaths, and where the frames went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="collect_diamond")
    parser.add_argument("--seeds", default="1000000:1000030", help="A:B, half open")
    parser.add_argument("--length", type=int, default=10_000)
    parser.add_argument("--places", type=int, default=8, help="episodes played at once")
    parser.add_argument("--twin", action="store_true", help="in the compiled game for training")
    parser.add_argument("--until-done", action="store_true", help="end episodes with the task")
    parser.add_argument("--trace", action="store_true", help="one line per episode")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    options = parser.parse_args()
    first, last = (int(part) for part in options.seeds.split(":"))
    world = get_world("crafter")
    task = next(task for task in world.tasks() if task.name == options.task)
    context = TaskContext(task, world, training_frames=100_000)
    plan, actions = draft(rules_agents(world), context)
    functions = frozenset({world.primitive_function, *world.queries})
    tallies: dict[str, Tally] = {}
    episodes: list[EpisodeSummary] = []
    began = time.monotonic()
    policy = ExecutivePolicy(PlanExecutive(plan, actions, world).fresh, actions, world)
    places = min(options.places, last - first)
    with (
        Sandbox(world.stub(), functions) as sandbox,
        OptionSet(world, actions, sandbox) as coded,
        contextlib.closing(
            world.make_batch(places, options.length, training=options.twin)
        ) as worlds,
    ):
        batch = OptionBatch(
            worlds,
            coded,
            AnnouncedSeeds(range(first, last), policy),
            gamma=1.0,
            goals={},
            task_success=task.success,
            rechoice=policy.rechoice,
            end_on_success=options.until_done,
        )
        for summary, ending in play(batch, policy, tallies):
            episodes.append(summary)
            if options.trace:
                done = f"{len(summary.achievements)} achievements"
                sys.stdout.write(f"{summary.seed} {summary.frames} frames {done} | {ending}\n")
                sys.stdout.flush()
    success = {
        name: sum(name in episode.achievements for episode in episodes) / len(episodes)
        for name in world.achievements
    }
    frames = sum(episode.frames for episode in episodes)
    figures = {
        "seeds": options.seeds,
        "episodes": len(episodes),
        "success": success,
        "score": world.score(success),
        "reward_mean": sum(episode.episodic_return for episode in episodes) / len(episodes),
        "length_mean": frames / len(episodes),
        "task_success": sum(episode.task_success for episode in episodes) / len(episodes),
        "frames_per_second": frames / (time.monotonic() - began),
    }
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    for name, tally in sorted(tallies.items(), key=lambda item: -item[1].frames):
        outcomes = ", ".join(f"{what or 'primitive'} {n}" for what, n in tally.outcomes.items())
        sys.stdout.write(f"{name}: {tally.runs} runs, {tally.frames} frames; {outcomes}\n")
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
