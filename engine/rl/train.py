"""Training: PPO over primitives and coded actions, watched, paused, stopped and resumed."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import safetensors.torch
import torch
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import DummyVecEnv

from engine.config import TrainingConfig
from engine.errors import ConfigError
from engine.events import CheckpointSaved, Event, LogLine, TrainingStarted
from engine.rl.checkpoint import load_checkpoint, save_checkpoint
from engine.rl.control import Control, Stopped, Valve
from engine.rl.monitor import TrainingMonitor
from engine.rl.network import PlanPolicy, policy_settings
from engine.rl.option_env import Bonus, OnFrame, OptionEnv
from engine.rl.option_set import OptionSet
from engine.rl.options import CodedAction, ProgramLoader
from engine.rl.policy_file import PolicyFile, PolicySpec
from engine.rl.ppo import SmdpPPO
from engine.rl.training_state import (
    Boundary,
    Counters,
    from_checkpoint,
    policy_tensors,
    take_boundary,
    to_checkpoint,
)
from engine.worlds.base import World

Ended = Literal["budget", "stop_and_keep", "abort"]
Report = Callable[[Event], None]
_NEVER = 2**62
"""Updates between two of SB3's own log lines; the monitor tells all there is."""


@dataclass(frozen=True)
class TrainingJob:
    """What to train, on what, and for how long."""

    world: World
    actions: tuple[CodedAction, ...]
    goals: Mapping[str, str]
    """rl sub-action -> success predicate; each pays a bonus once per episode."""
    task_success: str
    config: TrainingConfig
    frames: int
    """Budget in primitive env frames."""
    seed: int
    episode_length: int | None
    checkpoint_file: Path
    seed_limit: int = 1_000_000
    """World seeds of training stay below; held-out seeds start there."""

    @property
    def fingerprint(self) -> str:
        """Hash of what a checkpoint depends on; the budget and where it runs may change."""
        config = self.config.model_dump(mode="json")
        for free in ("checkpoint_frames", "device", "torch_threads"):
            del config[free]
        content = {
            "world": self.world.name,
            "actions": [asdict(action) for action in self.actions],
            "goals": dict(self.goals),
            "task_success": self.task_success,
            "config": config,
            "seed": self.seed,
            "episode_length": self.episode_length,
            "seed_limit": self.seed_limit,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """How a training ended, and the policy it leaves."""

    frames: int
    ended: Ended
    success_rate: float | None
    """Over the last 100 finished episodes; None when none finished."""
    policy: PolicyFile


class Trainer:
    """Runs a `TrainingJob` in this thread.

    The state between two updates is what checkpoints hold: a training that is stopped or killed
    goes on from the last such boundary exactly as if nothing had happened. A stop inside a
    rollout throws that rollout away.
    """

    def __init__(
        self,
        job: TrainingJob,
        sandbox: ProgramLoader,
        *,
        report: Report,
        control: Callable[[], Control],
        on_frame: OnFrame | None = None,
    ) -> None:
        """Prepare; nothing is loaded before `run`.

        Args:
            report: takes `TrainingStarted`, `TrainingMetrics` per update, `CheckpointSaved`, and
                `LogLine` for what a person should know.
            control: asked several times a second, also inside rollouts.
            on_frame: called after each env step of the first environment.

        Raises:
            ConfigError: the rollout cannot be cut into batches.
        """
        rollout = job.config.n_envs * job.config.n_steps
        if rollout < job.config.batch_size or rollout % job.config.batch_size == 1:
            raise ConfigError(
                f"a rollout of {rollout} decisions (`n_envs` * `n_steps`) cannot be cut into "
                f"batches of {job.config.batch_size} (`batch_size`)",
                "Choose `batch_size` as a divisor of `n_envs` * `n_steps`.",
            )
        self._job = job
        self._sandbox = sandbox
        self._report = report
        self._valve = Valve(control)
        self._on_frame = on_frame
        self._saved_at = 0

    def run(self) -> TrainingResult:
        """Train to the budget, from the checkpoint file if there is one.

        Raises:
            DamagedCheckpoint: there are checkpoint files, but none can be used.
            EngineError: the checkpoint is of another job, or a file cannot be written.
        """
        job = self._job
        torch.set_num_threads(job.config.torch_threads)
        checkpoint = load_checkpoint(
            job.checkpoint_file,
            warn=lambda text: self._report(LogLine(level="warning", text=text)),
        )
        with (
            OptionSet(job.world, job.actions, self._sandbox) as options,
            self._environments(options) as envs,
        ):
            model = self._model(envs)
            boundary: Boundary | None = None

            def between_updates(counters: Counters) -> None:
                nonlocal boundary
                boundary = take_boundary(model, envs, counters)
                if counters.frames - self._saved_at >= job.config.checkpoint_frames:
                    self._save(model, boundary)

            monitor = TrainingMonitor(
                job.frames,
                options.primitives,
                self._valve,
                tell=self._report,
                between_updates=between_updates,
            )
            if checkpoint is not None:
                counters = from_checkpoint(checkpoint, job.fingerprint, model, envs)
                monitor.go_on(counters)
                self._saved_at = counters.frames
            self._report(self._started(options, model))
            ended = self._learn(model, monitor)
            if (
                ended != "abort"
                and boundary is not None
                and (boundary.counters.frames != self._saved_at)
            ):
                self._save(model, boundary)
            return TrainingResult(
                frames=monitor.counters.frames,
                ended=ended,
                success_rate=monitor.success_rate,
                policy=self._policy(model, envs[0], monitor.counters.frames),
            )

    def _learn(self, model: SmdpPPO, monitor: TrainingMonitor) -> Ended:
        left = self._job.frames - model.num_timesteps
        if left <= 0:
            return "budget"
        try:
            model.learn(left, monitor, log_interval=_NEVER, reset_num_timesteps=False)
            monitor.finish()
            self._valve.ask()
        except Stopped as stopped:
            return stopped.how
        return "budget"

    def _save(self, model: SmdpPPO, boundary: Boundary) -> None:
        file = self._job.checkpoint_file
        sha256 = save_checkpoint(file, to_checkpoint(self._job.fingerprint, model, boundary))
        self._saved_at = boundary.counters.frames
        self._report(
            CheckpointSaved(frames=boundary.counters.frames, file=str(file), sha256=sha256)
        )

    @contextlib.contextmanager
    def _environments(self, options: OptionSet) -> Iterator[list[OptionEnv]]:
        job = self._job
        bonus = Bonus(goal=job.config.goal_bonus, task=job.config.task_bonus)
        envs: list[OptionEnv] = []
        try:
            for index in range(job.config.n_envs):
                env = OptionEnv(
                    job.world.make_env(job.episode_length),
                    options,
                    gamma=job.config.gamma,
                    goals=job.goals,
                    task_success=job.task_success,
                    bonus=bonus,
                    episode_seeds=(job.seed, index),
                    seed_limit=job.seed_limit,
                    on_frame=self._on_frame if index == 0 else None,
                    tick=self._valve.tick,
                )
                envs.append(env)
            yield envs
        finally:
            for env in envs:
                env.close()

    def _model(self, envs: list[OptionEnv]) -> SmdpPPO:
        config = self._job.config
        # Not `SmdpPPO(seed=...)`: that would also seed the environments, with world seeds that
        # may be held out. They draw their own below `seed_limit`.
        set_random_seed(self._job.seed)
        model = SmdpPPO(
            PlanPolicy,
            DummyVecEnv([_giver(env) for env in envs]),
            learning_rate=config.learning_rate,
            n_steps=config.n_steps,
            batch_size=config.batch_size,
            n_epochs=config.n_epochs,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip_range,
            ent_coef=config.ent_coef,
            policy_kwargs=policy_settings(
                config.net_arch, len(self._job.actions), config.plan_prior
            ),
            device=config.device,
        )
        model.set_logger(Logger(folder=None, output_formats=[]))
        return model

    def _started(self, options: OptionSet, model: SmdpPPO) -> TrainingStarted:
        return TrainingStarted(
            frames_total=self._job.frames,
            frames_done=model.num_timesteps,
            actions=options.names,
            coded_actions=len(options.actions),
            device=str(model.device),
            parameters=sum(p.numel() for p in model.policy.parameters()),
        )

    def _policy(self, model: SmdpPPO, env: OptionEnv, frames: int) -> PolicyFile:
        job = self._job
        spec = PolicySpec(
            world=job.world.name,
            observation_size=env.observation_size,
            primitives=job.world.primitives,
            actions=job.actions,
            net_arch=job.config.net_arch,
            plan_prior=job.config.plan_prior,
            frames=frames,
            seed=job.seed,
            task_success=job.task_success,
        )
        return PolicyFile(spec, safetensors.torch.save(policy_tensors(model)))


def _giver(env: OptionEnv) -> Callable[[], OptionEnv]:
    return lambda: env
