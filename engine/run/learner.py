"""What the learning phases ask for, who follows it, and doing it in this very process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.agents.executive import PlanExecutive
from engine.agents.plan import Plan, Record, ShapingTerm
from engine.config import TrainingConfig
from engine.events import Event
from engine.rl.control import Control, Stopped, Valve
from engine.rl.departures import DepartureRecorder
from engine.rl.evaluate import Evaluation, evaluate
from engine.rl.learned_action import Action, Entry, coded_only
from engine.rl.options import ProgramLoader
from engine.rl.policies import ExecutivePolicy, Policy
from engine.rl.policy_bundle import bound
from engine.rl.policy_file import PolicySpec
from engine.rl.sight import Spans
from engine.run.eye import Eye
from engine.telemetry import DeviceSampler
from engine.worlds.base import World
from engine.worlds.registry import get_world

if TYPE_CHECKING:
    from engine.rl.train import TrainingJob

DEVICE_SECONDS = 2.0

PolicyName = Literal["code_only", "trained", "untrained"]


class TrainingRequest(Record):
    """A `TrainingJob` as plain data, so that it can go to another process."""

    what: Literal["train"] = "train"
    world: str
    actions: tuple[Entry, ...]
    """The policies of learned ones come beside it."""
    goals: dict[str, str]
    task_success: str
    config: TrainingConfig
    frames: int
    seed: int
    episode_length: int | None
    checkpoint_file: Path
    seed_limit: int
    stop_at: int | None = None
    """Env frames after which it is looked at; it can go on from its checkpoint."""
    choices: tuple[str, ...] = ()
    """What may be chosen against the plan; all when empty."""
    shaping: tuple[ShapingTerm, ...] = ()
    """Extra reward in training only."""
    unseen: Spans = ()
    """What of the observation the policy does not see."""

    def job(self, policies: bytes = b"") -> TrainingJob:
        """The job; imports torch.

        Args:
            policies: of the learned actions (`engine.rl.policy_bundle.bundle`).
        """
        from engine.rl.train import TrainingJob

        return TrainingJob(
            world=get_world(self.world),
            actions=bound(self.actions, policies),
            goals=self.goals,
            task_success=self.task_success,
            config=self.config,
            frames=self.frames,
            seed=self.seed,
            episode_length=self.episode_length,
            checkpoint_file=self.checkpoint_file,
            seed_limit=self.seed_limit,
            stop_at=self.stop_at,
            choices=self.choices,
            shaping=self.shaping,
            unseen=self.unseen,
        )


class EvaluationRequest(Record):
    """Episodes of one policy; its weights, and those of its learned actions, come beside it."""

    what: Literal["evaluate"] = "evaluate"
    world: str
    policy: PolicyName
    actions: tuple[Entry, ...]
    plan: Plan
    """Its order of the coded actions is what code alone follows."""
    spec: PolicySpec | None = None
    """Of the network, trained or not."""
    first_seed: int
    episodes: int
    task_success: str
    goals: dict[str, str]
    episode_length: int | None

    @property
    def seeds(self) -> range:
        """World seeds of the episodes."""
        return range(self.first_seed, self.first_seed + self.episodes)


@dataclass(frozen=True, slots=True)
class Trained:
    """How a training ended, and the policy it leaves."""

    frames: int
    ended: str
    """An `engine.rl.train.Ended`."""
    success_rate: float | None
    spec: PolicySpec
    weights: bytes
    goals: Mapping[str, float] = field(default_factory=dict)
    """Share of the last 100 episodes (0..1) that reached each goal."""
    episodes: int = 0
    """Finished in training."""


class Supervisor(Protocol):
    """Who follows a training or an evaluation and steers it."""

    def report(self, event: Event) -> None:
        """Something happened that belongs into the history."""
        ...

    def control(self) -> Control:
        """What the person wants now; asked several times a second."""
        ...

    def watched(self) -> bool:
        """Whether somebody looks at the frames."""
        ...

    def draw(self, rgb: NDArray[np.uint8], caption: str) -> None:
        """A frame for the eye, shape (size, size, 3)."""
        ...

    def episode_over(self, done: int, of: int) -> None:
        """So many episodes of an evaluation are over."""
        ...


class Learner(Protocol):
    """Trains and evaluates, wherever that is."""

    def train(
        self, request: TrainingRequest, supervisor: Supervisor, policies: bytes = b""
    ) -> Trained:
        """Train to the budget, or until the supervisor says stop.

        Args:
            policies: of the learned actions (`engine.rl.policy_bundle.bundle`).

        Raises:
            EngineError: it cannot be done; what a checkpoint keeps is kept.
        """
        ...

    def evaluate(
        self, request: EvaluationRequest, weights: bytes, supervisor: Supervisor
    ) -> Evaluation:
        """Figures over the episodes that were over before the supervisor said abort.

        Raises:
            EngineError: it cannot be done.
        """
        ...


class LocalLearner:
    """Trains and evaluates in this thread.

    Args:
        programs: loads the code of coded actions.
    """

    def __init__(self, programs: ProgramLoader) -> None:
        self._programs = programs

    def train(
        self, request: TrainingRequest, supervisor: Supervisor, policies: bytes = b""
    ) -> Trained:
        """Train to the budget, or until the supervisor says stop."""
        # torch takes seconds to import: only who trains pays for it.
        from engine.rl.train import Trainer

        sampler = DeviceSampler(interval=DEVICE_SECONDS)

        def report(event: Event) -> None:
            supervisor.report(event)
            sample = sampler.due()
            if sample is not None:
                supervisor.report(sample)

        try:
            result = Trainer(
                request.job(policies),
                self._programs,
                report=report,
                control=supervisor.control,
                on_frame=Eye(supervisor.watched, supervisor.draw).show,
            ).run()
        finally:
            sampler.close()
        return Trained(
            frames=result.frames,
            ended=result.ended,
            success_rate=result.success_rate,
            spec=result.policy.spec,
            weights=result.policy.weights,
            goals=result.goals,
            episodes=result.training_episodes,
        )

    def evaluate(
        self, request: EvaluationRequest, weights: bytes, supervisor: Supervisor
    ) -> Evaluation:
        """Figures over the episodes that were over before the supervisor said abort."""
        world = get_world(request.world)
        actions = bound(request.actions, weights)
        return evaluate(
            world,
            _policy(request, weights, world, actions),
            actions,
            self._programs,
            seeds=request.seeds,
            task_success=request.task_success,
            goals=request.goals,
            episode_length=request.episode_length,
            on_frame=Eye(supervisor.watched, supervisor.draw).show,
            should_stop=_aborted(supervisor.control),
            progress=supervisor.episode_over,
            departures=DepartureRecorder(world, actions),
        )


def _policy(
    request: EvaluationRequest, weights: bytes, world: World, actions: Sequence[Action]
) -> Policy:
    if request.policy == "code_only" or request.spec is None:
        coded = tuple(coded_only(actions))
        return ExecutivePolicy(PlanExecutive(request.plan, coded, world).fresh, coded, world)
    from engine.rl.policy_file import NetworkPolicy

    if request.policy == "untrained":
        return NetworkPolicy.untrained(request.spec)
    return NetworkPolicy.load(request.spec, weights)


def _aborted(control: Callable[[], Control]) -> Callable[[], bool]:
    """Stands still while paused; *stop and keep* means the training, not the evaluation."""
    valve = Valve(control)

    def asked() -> bool:
        try:
            valve.tick()
        except Stopped as stopped:
            return stopped.how == "abort"
        return False

    return asked
