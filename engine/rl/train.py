"""Training: PPO over primitives and coded actions, watched, paused, stopped and resumed."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import torch
from stable_baselines3.common.utils import set_random_seed

from engine.agents.plan import ShapingTerm
from engine.config import TrainingConfig
from engine.events import CheckpointSaved, Event, LogLine, TrainingStarted
from engine.rl.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from engine.rl.confidence import lower_bound
from engine.rl.control import Control, Stopped, Valve
from engine.rl.decisions import Bonus, Rechoice
from engine.rl.divergence import HALVINGS, Diverged, Guard
from engine.rl.episodes import TrainingSeeds
from engine.rl.learned_action import Action
from engine.rl.monitor import TrainingMonitor
from engine.rl.network import PlanPolicy, policy_settings
from engine.rl.option_batch import OptionBatch
from engine.rl.option_set import OptionSet
from engine.rl.options import ProgramLoader
from engine.rl.policy_bundle import bundle, named
from engine.rl.policy_file import PolicyFile, PolicySpec
from engine.rl.ppo import SmdpPPO, linear
from engine.rl.reward_scale import RewardScale
from engine.rl.sight import Spans
from engine.rl.training_state import (
    from_checkpoint,
    policy_tensors,
    take_boundary,
    to_checkpoint,
)
from engine.rl.watched import OnFrame
from engine.worlds.base import World, WorldBatch

Ended = Literal["budget", "look", "minutes", "target", "diverged", "stop_and_keep", "abort"]
Report = Callable[[Event], None]


@dataclass(frozen=True)
class TrainingJob:
    """What to train, on what, and for how long."""

    world: World
    actions: tuple[Action, ...]
    """Coded and learned, in plan order."""
    goals: Mapping[str, str]
    """rl sub-action -> success predicate; each pays a bonus once per episode."""
    task_success: str
    config: TrainingConfig
    frames: int
    """Budget in primitive env frames."""
    seed: int
    episode_length: int | None
    checkpoint_file: Path
    stop_at: int | None = None
    """Env frames after which it ends in between to be looked at, with its checkpoint; schedules
    count on to `frames`, so that it can go on as if nothing had stopped it."""
    minutes: float | None = None
    """Wall-clock budget beside the frames, pauses not counted; the first to be spent ends it."""
    shaping: tuple[ShapingTerm, ...] = ()
    """Extra reward of the training, told by its own predicates; no evaluation knows of it."""
    unseen: Spans = ()
    """What of the observation the policy does not see (`engine.rl.sight`)."""
    choices: tuple[str, ...] = ()
    """What may be chosen beside what the plan would do (`engine.rl.choices`); all when empty."""
    seed_limit: int = 1_000_000
    """World seeds of training stay below; held-out seeds start there."""

    @property
    def rechoice(self) -> Rechoice:
        """When running options are put to the policy."""
        return Rechoice(self.config.interruption, self.config.recheck_frames)

    @property
    def fingerprint(self) -> str:
        """Hash of what a checkpoint depends on; the budget and where it runs may change."""
        config = self.config.model_dump(mode="json")
        for free in ("checkpoint_frames", "curriculum", "device", "skill_frames", "torch_threads"):
            del config[free]
        content = {
            "world": self.world.name,
            "actions": [asdict(action) for action in named(self.actions)],
            "goals": dict(self.goals),
            "task_success": self.task_success,
            "config": config,
            "seed": self.seed,
            "episode_length": self.episode_length,
            "seed_limit": self.seed_limit,
            "choices": self.choices,
        }
        if self.shaping:  # checkpoints of earlier versions know nothing of it
            content["shaping"] = [term.model_dump() for term in self.shaping]
        if self.unseen:
            content["unseen"] = self.unseen
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """How a training ended, and the policy it leaves."""

    frames: int
    ended: Ended
    success_rate: float | None
    """Over the last 100 finished episodes; None when none finished."""
    policy: PolicyFile
    training_episodes: int
    """Episodes finished in training."""
    training_success: Mapping[str, float]
    """Share of these (0..1) by achievement: the benchmarks' own protocol."""
    goals: Mapping[str, float]
    """Share of the last 100 finished episodes (0..1) that reached each goal of the plan."""


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
        """
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
            contextlib.closing(
                job.world.make_batch(job.config.n_envs, job.episode_length, training=True)
            ) as worlds,
        ):
            seeds = TrainingSeeds(job.seed, job.config.n_envs, job.seed_limit)
            batch = self._batch(worlds, options, seeds)
            model = self._model(batch)
            monitor = TrainingMonitor(job.frames, batch, self._valve)
            if checkpoint is None:
                batch.begin()
            else:
                monitor.go_on(from_checkpoint(checkpoint, job.fingerprint, model, batch, seeds))
                self._saved_at = monitor.counters.frames
            self._report(self._started(options, model))
            ended = self._learn(model, batch, seeds, monitor)
            return self._result(model, batch, monitor, ended)

    def _learn(
        self,
        model: SmdpPPO,
        batch: OptionBatch,
        seeds: TrainingSeeds,
        monitor: TrainingMonitor,
    ) -> Ended:
        guard = Guard(model)
        kept: tuple[int, Checkpoint] | None = None
        ended = self._spent(model, monitor)
        try:
            while ended is None:
                self._valve.ask()
                whole = (monitor.counters.updates + 1) % self._job.config.segment_updates == 0
                model.collect(batch, monitor.see, forget=whole)
                self._update(model, guard, monitor)
                self._report(monitor.updated(model))
                ended = self._spent(model, monitor)
                if whole:
                    boundary = take_boundary(model, batch, seeds, monitor.counters)
                    frames = boundary.counters.frames
                    kept = (frames, to_checkpoint(self._job.fingerprint, model, boundary))
                    if frames - self._saved_at >= self._job.config.checkpoint_frames:
                        self._save(*kept)
            self._valve.ask()
        except Stopped as stopped:
            ended = stopped.how
        except Diverged as error:
            self._report(LogLine(level="error", text=f"{error}; the last good policy is kept"))
            ended = "diverged"
        if ended != "abort" and kept is not None and kept[0] != self._saved_at:
            self._save(*kept)
        return ended

    def _update(self, model: SmdpPPO, guard: Guard, monitor: TrainingMonitor) -> None:
        """One PPO update; undone, with half the learning rate from then on, if it went wrong.

        Raises:
            Diverged: it keeps going wrong.
        """
        config = self._job.config
        done = self._done(model, monitor)
        model.progress(done)
        last = config.ent_coef if config.ent_coef_final is None else config.ent_coef_final
        model.ent_coef = config.ent_coef + (last - config.ent_coef) * done
        model.slow_down = 0.5**monitor.halvings
        reason = guard.update()
        if reason is None:
            return
        guard.undo()
        if monitor.halvings >= HALVINGS:
            raise Diverged(f"the training diverges ({reason}) at any learning rate")
        monitor.halvings += 1
        text = f"an update was undone: {reason}; the learning rate is halved"
        self._report(LogLine(level="warning", text=text))

    def _done(self, model: SmdpPPO, monitor: TrainingMonitor) -> float:
        """Share of the budget that is spent, 0..1: of the frames or of the time, what is more."""
        of_frames = model.num_timesteps / self._job.frames
        minutes = self._job.minutes
        of_time = 0.0 if minutes is None else monitor.seconds / (60 * minutes)
        return min(1.0, max(of_frames, of_time))

    def _spent(self, model: SmdpPPO, monitor: TrainingMonitor) -> Ended | None:
        """Why the training is over now; None while it goes on."""
        job = self._job
        if model.num_timesteps >= job.frames:
            return "budget"
        if job.minutes is not None and monitor.seconds >= 60 * job.minutes:
            return "minutes"
        target = job.config.target_success
        if target is not None and lower_bound(*monitor.successes) >= target:
            return "target"
        if job.stop_at is not None and model.num_timesteps >= job.stop_at:
            # Elsewhere nothing can be saved, and the updates since would be thrown away.
            whole = monitor.counters.updates % job.config.segment_updates == 0
            return "look" if whole else None
        return None

    def _save(self, frames: int, checkpoint: Checkpoint) -> None:
        file = self._job.checkpoint_file
        sha256 = save_checkpoint(file, checkpoint)
        self._saved_at = frames
        self._report(CheckpointSaved(frames=frames, file=str(file), sha256=sha256))

    def _batch(self, worlds: WorldBatch, options: OptionSet, seeds: TrainingSeeds) -> OptionBatch:
        job = self._job
        return OptionBatch(
            worlds,
            options,
            seeds,
            gamma=job.config.gamma,
            goals=job.goals,
            task_success=job.task_success,
            bonus=Bonus(
                goal=job.config.goal_bonus,
                task=job.config.task_bonus,
                part=job.config.part_bonus,
            ),
            shaping=job.shaping,
            rechoice=job.rechoice,
            end_on_success=job.config.end_on_success,
            on_frame=self._on_frame,
            tick=self._valve.tick,
        )

    def _model(self, batch: OptionBatch) -> SmdpPPO:
        config = self._job.config
        set_random_seed(self._job.seed)
        model = SmdpPPO(
            PlanPolicy,
            batch,
            choices=self._job.choices,
            unseen=self._job.unseen,
            reward_scale=RewardScale(batch.size) if config.normalize_rewards else None,
            learning_rate=linear(config.learning_rate, config.learning_rate_final),
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
            policy_kwargs=policy_settings(
                config.net_arch, len(self._job.actions), config.plan_prior
            ),
            device=config.device,
        )
        model.plan_kl_coef = config.plan_kl_coef
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

    def _result(
        self, model: SmdpPPO, batch: OptionBatch, monitor: TrainingMonitor, ended: Ended
    ) -> TrainingResult:
        job, counters = self._job, monitor.counters
        spec = PolicySpec(
            world=job.world.name,
            observation_size=batch.observation_size,
            primitives=job.world.primitives,
            actions=named(job.actions),
            net_arch=job.config.net_arch,
            plan_prior=job.config.plan_prior,
            interruption=job.rechoice.interrupt,
            recheck_frames=job.rechoice.every,
            choices=job.choices,
            unseen=job.unseen,
            frames=counters.frames,
            seed=job.seed,
            task_success=job.task_success,
        )
        own = {name: value.numpy() for name, value in policy_tensors(model).items()}
        return TrainingResult(
            frames=counters.frames,
            ended=ended,
            success_rate=monitor.success_rate,
            policy=PolicyFile(spec, bundle(own, job.actions)),
            training_episodes=counters.episodes,
            training_success={
                name: counters.unlocked.get(name, 0) / max(counters.episodes, 1)
                for name in job.world.achievements
            },
            goals=monitor.goal_rates(job.goals),
        )
