"""Trains on crafter with the rules agents' coded actions and compares four policies.

By hand, not a test (a few minutes):

    OMP_NUM_THREADS=1 python tests/benchmarks/bench_training.py --frames 100000 --seed 0
    OMP_NUM_THREADS=1 python tests/benchmarks/bench_training.py --frames 20000 --profile

Prints one JSON object: frames per second with learning, and for random primitives, code alone,
the untrained network and the trained one the figures over held-out seeds. With `--profile` the
costliest functions go to stderr.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import tempfile
import time
from pathlib import Path

from engine.agents.draft import draft
from engine.agents.executive import PlanExecutive
from engine.agents.protocols import TaskContext
from engine.agents.rules.agents import rules_agents
from engine.config import TrainingConfig
from engine.events import Event, TrainingMetrics
from engine.rl.evaluate import Evaluation, evaluate
from engine.rl.options import CodedAction
from engine.rl.policies import ExecutivePolicy, Policy, RandomPolicy
from engine.rl.policy_file import NetworkPolicy
from engine.rl.train import Trainer, TrainingJob, TrainingResult
from engine.sandbox.pool import Sandbox
from engine.worlds.base import World
from engine.worlds.registry import get_world

HELD_OUT = 1_000_000


def progress(event: Event) -> None:
    """One line on stderr per update."""
    if isinstance(event, TrainingMetrics):
        sys.stderr.write(
            f"{event.frames:>8} frames  return {event.episodic_return or 0:6.2f}"
            f"  length {event.episodic_length or 0:6.0f}  success {event.success_rate or 0:.2f}"
            f"  entropy {event.entropy:.2f}  kl {event.approx_kl:.3f}"
            f"  ev {event.explained_variance:5.2f}  coded {event.coded_share:.2f}"
            f"  {event.sps:6.0f} frames/s\n"
        )


def arguments() -> argparse.Namespace:
    """The command line; every field of `TrainingConfig` is an option too."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=20, help="of each evaluation")
    parser.add_argument("--task", default="collect_diamond", help="name of a task of the world")
    parser.add_argument("--only-trained", action="store_true", help="skip the other policies")
    parser.add_argument("--primitives-only", action="store_true", help="train without code")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", dest="changes")
    return parser.parse_args()


def main() -> None:
    """Train, evaluate, print."""
    options = arguments()
    world = get_world("crafter")
    task = next(task for task in world.tasks() if task.name == options.task)
    context = TaskContext(task=task, world=world, training_frames=options.frames)
    plan, actions = draft(rules_agents(world), context)
    if options.primitives_only:
        actions = ()
    config = TrainingConfig.model_validate(
        {name: json.loads(text) for name, _, text in (c.partition("=") for c in options.changes)}
    )
    functions = world.queries | {world.primitive_function}
    with Sandbox(world.stub(), functions) as sandbox, tempfile.TemporaryDirectory() as folder:
        job = TrainingJob(
            world=world,
            actions=actions,
            goals={action.name: action.success for action in plan.sub_actions("rl")},
            task_success=task.success,
            config=config,
            frames=options.frames,
            seed=options.seed,
            episode_length=None,
            checkpoint_file=Path(folder) / "checkpoint.safetensors",
        )
        result, seconds = train(job, sandbox, options.profile)
        spec, weights = result.policy.spec, result.policy.weights
        policies: list[Policy] = [NetworkPolicy.load(spec, weights)]
        if not options.only_trained:
            policies += [
                NetworkPolicy.untrained(spec),
                ExecutivePolicy(PlanExecutive(plan, actions, world).fresh, actions, world),
                RandomPolicy(world),
            ]
        goals = {subtask.name: subtask.success for subtask in plan.subtasks}
        found = [
            judge(world, policy, actions, sandbox, options.episodes, task.success, goals)
            for policy in policies
        ]
    report = {
        "config": config.model_dump(mode="json"),
        "seed": options.seed,
        "coded_actions": [action.name for action in actions],
        "training": {
            "frames": result.frames,
            "seconds": round(seconds, 1),
            "frames_per_second": round(result.frames / seconds),
            "success_rate": result.success_rate,
        },
        "evaluation": [evaluation.model_dump(mode="json") for evaluation in found],
    }
    sys.stdout.write(json.dumps(report, indent=1) + "\n")


def train(job: TrainingJob, sandbox: Sandbox, profiled: bool) -> tuple[TrainingResult, float]:
    """Train; the result and its seconds."""
    trainer = Trainer(job, sandbox, report=progress, control=lambda: "go")
    profile = cProfile.Profile()
    began = time.perf_counter()
    if profiled:
        result = profile.runcall(trainer.run)
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(35)
    else:
        result = trainer.run()
    return result, time.perf_counter() - began


def judge(
    world: World,
    policy: Policy,
    actions: tuple[CodedAction, ...],
    sandbox: Sandbox,
    episodes: int,
    task_success: str,
    goals: dict[str, str],
) -> Evaluation:
    """Evaluate on held-out seeds; a line on stderr."""
    found = evaluate(
        world,
        policy,
        actions,
        sandbox,
        seeds=range(HELD_OUT, HELD_OUT + episodes),
        task_success=task_success,
        goals=goals,
    )
    sys.stderr.write(
        f"{policy.name:>10}  score {found.score:5.1f}  reward {found.reward_mean:5.2f}"
        f"  task {found.task_success:.2f}  length {found.length_mean:6.0f}"
        f"  {found.seconds:6.1f} s\n"
    )
    return found


if __name__ == "__main__":
    main()
