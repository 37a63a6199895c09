"""The three arms in terms of agents, training and evaluation: all calls of `engine.rl` are here."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engine.agents.draft import draft
from engine.agents.executive import PlanExecutive
from engine.agents.plan import Plan
from engine.agents.plan_choices import choices_among
from engine.agents.protocols import TaskContext
from engine.agents.rules.agents import rules_agents
from engine.bench.config import DEFAULT_FRAMES, Arm, BenchConfig
from engine.bench.jobs import EvalJob, TrainJob
from engine.bench.records import EpisodeRecord
from engine.config import TrainingConfig
from engine.errors import UnknownName
from engine.events import CheckpointSaved, Event, TrainingMetrics, TrainingStarted
from engine.rl.control import Control
from engine.rl.learned_action import Action
from engine.rl.options import CodedAction, ProgramLoader
from engine.rl.policies import ExecutivePolicy, Policy
from engine.sandbox.pool import Sandbox
from engine.worlds.base import TaskSpec, World
from engine.worlds.registry import get_world
from engine.worlds.tasks import find_task

DEFAULT_TASKS = ("all_achievements", "collect_diamond")
"""The task when none is named: the first of these that the world has."""
UNLIMITED_FRAMES = 1_000_000_000
"""Frames of a training that only time ends."""
_SHORT = TrainingConfig(n_envs=2, n_steps=16, batch_size=32, n_epochs=1, net_arch=(16,))
_SHORT_FRAMES = 300
"""A training before the training: long enough to call every compiled function."""


@dataclass(frozen=True)
class Setup:
    """The agents' plan and code for a task; the same for all arms."""

    world: World
    task: TaskSpec
    plan: Plan
    actions: tuple[CodedAction, ...]

    @property
    def goals(self) -> dict[str, str]:
        """Predicates that pay a bonus in training: the rl sub-actions of the plan."""
        return {action.name: action.success for action in self.plan.sub_actions("rl")}

    @property
    def sha256(self) -> str:
        """Of the plan and of all code."""
        content = [self.plan.model_dump(mode="json"), [asdict(action) for action in self.actions]]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def actions_of(self, arm: Arm) -> tuple[CodedAction, ...]:
        """The coded actions an arm may choose."""
        return () if arm == "rl" else self.actions

    def choices_of(self, arm: Arm) -> tuple[str, ...]:
        """What an arm may choose against the plan; all when empty."""
        names = tuple(action.name for action in self.actions_of(arm))
        primitives = self.world.primitives if names else ()
        return choices_among(self.plan.sub_actions("rl"), (*primitives, *names))


@dataclass(frozen=True, slots=True)
class Update:
    """What is told of one update of a training."""

    frames: int
    sps: float
    episodic_return: float | None
    success_rate: float | None
    usage: Mapping[str, float]
    """Share of its frames by coded action; empty where it is not told."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Who hears of a training."""

    started: Callable[[int], None]
    """With the frames that a checkpoint had; before the first update."""
    update: Callable[[Update], None]
    checkpoint: Callable[[], None]
    control: Callable[[], Control]


@dataclass(frozen=True, slots=True)
class Trained:
    """How a training ended, and what it leaves."""

    frames: int
    ended: str
    """Why; `stopped` when it was told to and is not over."""
    training_success: dict[str, float]
    training_episodes: int
    policy_spec: dict[str, Any]
    weights: bytes


def task_name(world: str, words: str | None) -> str:
    """Name of the task that the words mean, or of the default one.

    Raises:
        UnknownName: no such world or task.
    """
    found = get_world(world)
    if words is not None:
        return find_task(found, words).name
    names = [task.name for task in found.tasks()]
    return next((name for name in DEFAULT_TASKS if name in names), names[0])


def setup_for(config: BenchConfig) -> Setup:
    """Plan and code by the agents, as they write them at first; approved as they are.

    They do not depend on the budget: the same code plays whatever a training may take.

    Raises:
        UnknownName: no such world or task.
    """
    return _setup(config.world, config.task)


@functools.lru_cache(maxsize=2)
def _setup(world_name: str, task: str) -> Setup:
    world = get_world(world_name)
    spec = next((one for one in world.tasks() if one.name == task), None)
    if spec is None:
        raise UnknownName(
            f"The world {world_name!r} has no task {task!r}",
            f"It has {', '.join(one.name for one in world.tasks())}.",
        )
    context = TaskContext(task=spec, world=world, training_frames=DEFAULT_FRAMES)
    plan, actions = draft(rules_agents(world), context)
    return Setup(world, spec, plan, actions)


@contextlib.contextmanager
def _loader(config: BenchConfig, setup: Setup) -> Iterator[ProgramLoader]:
    """What runs the agents' code: Monty, or in fast mode this very process where it can."""
    world = setup.world
    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        if not config.fast_mode:
            yield sandbox
            return
        from engine.run.fast_mode import require_checked
        from engine.sandbox.fast.sandbox import FastSandbox

        with FastSandbox(sandbox, world.primitive_function) as fast:
            require_checked(fast, setup.actions)
            yield fast


# --- training -------------------------------------------------------------------------------


def train(job: TrainJob, config: BenchConfig, checkpoint: Path, watch: Watch) -> Trained:
    """Train one arm from one seed, from its checkpoint if there is one.

    RL alone sees what code and RL together see and is paid the same reward; it has no coded
    actions, and learns with settings that suit primitives.

    Raises:
        EngineError: it cannot be done.
    """
    # torch takes seconds to import: only a process that trains pays for it.
    from engine.rl.train import Trainer, TrainingJob

    setup = setup_for(config)
    training = TrainingJob(
        world=setup.world,
        actions=setup.actions_of(job.arm),
        goals=setup.goals,
        task_success=setup.task.success,
        config=config.training_of(job.arm),
        frames=config.frames or UNLIMITED_FRAMES,
        seed=job.seed,
        episode_length=config.episode_length,
        checkpoint_file=checkpoint,
        minutes=config.minutes,
        seed_limit=config.eval_seed_start,
        choices=setup.choices_of(job.arm),
    )

    def report(event: Event) -> None:
        if isinstance(event, TrainingStarted):
            watch.started(event.frames_done)
        elif isinstance(event, TrainingMetrics):
            watch.update(_update(event))
        elif isinstance(event, CheckpointSaved):
            watch.checkpoint()

    with _loader(config, setup) as sandbox, TemporaryDirectory() as folder:
        # Compiling takes minutes the first time; done before the clock starts, it favours nobody.
        short = dataclasses.replace(
            training,
            config=_SHORT,
            frames=_SHORT_FRAMES,
            minutes=None,
            checkpoint_file=Path(folder) / checkpoint.name,
        )
        Trainer(short, sandbox, report=lambda _: None, control=watch.control).run()
        result = Trainer(training, sandbox, report=report, control=watch.control).run()
    return Trained(
        frames=result.frames,
        ended="stopped" if result.ended in ("stop_and_keep", "abort") else result.ended,
        training_success=dict(result.training_success),
        training_episodes=result.training_episodes,
        policy_spec=result.policy.spec.model_dump(mode="json"),
        weights=result.policy.weights,
    )


def _update(event: TrainingMetrics) -> Update:
    return Update(
        frames=event.frames,
        sps=event.sps,
        episodic_return=event.episodic_return,
        success_rate=event.success_rate,
        usage=event.usage,
    )


# --- evaluation -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Policies:
    """A trained policy as it is stored; nothing for code alone."""

    spec: Mapping[str, Any] | None = None
    weights: bytes | None = None


def play(
    job: EvalJob,
    config: BenchConfig,
    trained: Policies,
    *,
    should_stop: Callable[[], bool],
    progress: Callable[[int, float], None],
) -> list[EpisodeRecord]:
    """One episode in each world of the job, on the official package.

    Args:
        progress: called with (episodes over, seconds so far) after each episode.

    Returns:
        A record of each episode that was finished before `should_stop`.
    """
    from engine.rl.episodes import EpisodeSummary
    from engine.rl.evaluate import evaluate

    setup = setup_for(config)
    policy, actions = _policy(setup, trained)
    episodes: list[EpisodeRecord] = []
    began = time.monotonic()

    def take(summary: EpisodeSummary) -> None:
        episodes.append(
            EpisodeRecord(
                seed=summary.seed,
                achievements=summary.achievements,
                reward=summary.episodic_return,
                frames=summary.frames,
                task_success=summary.task_success,
            )
        )
        progress(len(episodes), time.monotonic() - began)

    with _loader(config, setup) as sandbox:
        evaluate(
            setup.world,
            policy,
            actions,
            sandbox,
            seeds=range(job.start, job.stop),
            task_success=setup.task.success,
            goals={},
            episode_length=config.episode_length,
            should_stop=should_stop,
            on_episode=take,
        )
    return sorted(episodes, key=lambda episode: episode.seed)


def _policy(setup: Setup, trained: Policies) -> tuple[Policy, tuple[Action, ...]]:
    if trained.spec is None or trained.weights is None:
        return _code_alone(setup), setup.actions
    from engine.rl.policy_bundle import bound
    from engine.rl.policy_file import NetworkPolicy, PolicySpec

    spec = PolicySpec.model_validate(trained.spec)
    return NetworkPolicy.load(spec, trained.weights), bound(spec.actions, trained.weights)


def _code_alone(setup: Setup) -> Policy:
    return ExecutivePolicy(
        PlanExecutive(setup.plan, setup.actions, setup.world).fresh, setup.actions, setup.world
    )
