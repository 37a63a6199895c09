"""The phases of a run whose policy acts by itself: train, evaluate on every split, save."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.config import TrainingConfig
from engine.errors import EngineError, PlanError
from engine.events import CheckpointSaved, Evaluated, TrainingMetrics, TrainingStarted
from engine.llarp.settings import PolicyKind
from engine.rl.control import Stopped, Valve
from engine.run.learner import DEVICE_SECONDS
from engine.run.progress import Phase
from engine.run.session import RunStopped, Session
from engine.run.supervision import RunSupervisor, TrainingSupervisor
from engine.telemetry import DeviceSampler
from engine.worlds.rearrange.names import ACTIONS
from skills_db.records import RunState

RECENT = 100
"""Episodes over which the training's figures are means."""


def train_policy(session: Session) -> None:
    """Train to the budget; what a checkpoint keeps is gone on with.

    Raises:
        RunStopped: the run was told to stop; a checkpoint is kept.
    """
    session.save(phase="train")
    session.enter(RunState.TRAINING, "getting the frozen parts ready")
    job = _Job(session)
    session.enter(RunState.TRAINING, job.kind)
    try:
        job.run()
    finally:
        job.close()
    if session.control() == "abort":
        session.save(training_frames=job.training.steps)
        raise RunStopped
    session.training_stopped()
    digest = hashlib.sha256(session.policy_file.read_bytes()).hexdigest()
    session.save(
        phase="evaluate",
        training_frames=job.training.steps,
        training_success_rate=job.recent.success_rate,
        policy_spec=job.spec,
        policy_sha256=digest,
    )


def evaluate_policy(session: Session) -> None:
    """Play every split once with the trained policy, and with a random one beside it.

    Raises:
        RunStopped: the run was told to stop; the evaluation begins anew when resumed.
    """
    from engine.llarp.build import build
    from engine.llarp.checkpoint import restore_policy
    from engine.llarp.splits import Evaluation, Onlooker

    session.enter(RunState.EVALUATING)
    kind, config = kind_of(session), session.config.llarp
    supervisor = RunSupervisor(session)
    onlooker = Onlooker(
        tick=Valve(supervisor.control).tick,
        tell=lambda text: session.enter(RunState.EVALUATING, text),
        watched=supervisor.watched,
        draw=supervisor.draw,
    )
    evaluation = Evaluation(config, kind, onlooker)
    built = build(
        config,
        kind,
        cache=session.home.models,
        encoder=encoder_of(session),
        seed=session.config.seed,
        device=device_for(session.config.training),
    )
    restore_policy(session.policy_file, built.policy)
    try:
        found = evaluation.of("trained", built.policy)
        found["baseline"] = evaluation.random()
    except Stopped as how:
        raise RunStopped from how
    session.save(Evaluated(evaluation=found), phase="save", evaluation=found)


def kind_of(session: Session) -> PolicyKind:
    """Which policy this run trains."""
    return session.config.policy or "llarp"


class Recent:
    """Figures of the last finished episodes."""

    def __init__(self) -> None:
        self.episodes: deque[tuple[bool, float, int]] = deque(maxlen=RECENT)
        """Success, return, steps."""

    def see(self, success: bool, episodic_return: float, steps: int) -> None:
        """One more is over."""
        self.episodes.append((success, episodic_return, steps))

    @property
    def success_rate(self) -> float | None:
        """Share that succeeded; None before any is over."""
        return self._mean(0)

    @property
    def episodic_return(self) -> float | None:
        """Mean return."""
        return self._mean(1)

    @property
    def episodic_length(self) -> float | None:
        """Mean steps."""
        return self._mean(2)

    def _mean(self, field: int) -> float | None:
        if not self.episodes:
            return None
        return sum(float(episode[field]) for episode in self.episodes) / len(self.episodes)


class _Job:
    """One process's part of a training."""

    def __init__(self, session: Session) -> None:
        from engine.llarp.build import build
        from engine.llarp.flats import Flats, TrainingTasks, controlled
        from engine.llarp.ppo import PpoConfig
        from engine.llarp.training import Training
        from engine.worlds.rearrange.batch import RearrangeBatch
        from engine.worlds.rearrange.generator import TaskGenerator

        config = session.config.llarp
        self.session, self.config, self.kind = session, config, kind_of(session)
        self._supervisor = TrainingSupervisor(session)
        self._valve = Valve(self._supervisor.control)
        self._sampler = DeviceSampler(interval=DEVICE_SECONDS)
        self.device = device_for(session.config.training)
        encoder = encoder_of(session)
        self.built = build(
            config,
            self.kind,
            cache=session.home.models,
            encoder=encoder,
            seed=session.config.seed,
            device=self.device,
        )
        self.source = TrainingTasks(
            TaskGenerator(objects=config.objects),
            count=config.tasks,
            kinds=config.kinds,
            seed=session.config.seed,
        )
        batch = RearrangeBatch(config.envs, picture=config.picture, penalty=config.invalid_penalty)
        flats = Flats(batch, self.source, on_step=lambda *_: self._valve.tick())
        self.tasks = controlled(flats, self.kind)
        ppo = PpoConfig(
            learning_rate=config.learning_rate,
            epochs=config.epochs,
            minibatches=config.minibatches,
            entropy_coef=config.entropy_coef,
        )
        self.training = Training(
            self.built.policy, ppo, rollout_steps=config.rollout_steps, seed=session.config.seed
        )
        self.recent = Recent()
        self._saved_at = 0

    @property
    def spec(self) -> dict[str, Any]:
        """What the trained policy is made of."""
        return {
            "kind": self.kind,
            "model": self.built.model.name,
            "model_sha256": self.built.model.sha256,
            "parameters": self.built.parameters,
            "llarp": self.config.model_dump(mode="json"),
        }

    def close(self) -> None:
        """Let go of the device."""
        self._sampler.close()

    def run(self) -> None:
        """Train to the budget, or until a person ends it."""
        from engine.llarp.checkpoint import save_policy
        from engine.llarp.eye import Seen

        session, training = self.session, self.training
        if session.checkpoint_file.is_file():
            self._take_up(training.resume(session.checkpoint_file))
        self._saved_at = training.steps
        total = session.config.frames
        self._supervisor.report(
            TrainingStarted(
                frames_total=total,
                frames_done=training.steps,
                actions=tuple(action.name for action in ACTIONS),
                coded_actions=0,
                device=self.device,
                parameters=self.built.parameters,
            )
        )
        acting = Seen(self.built.policy, self._supervisor.watched, self._supervisor.draw)
        while training.steps < total:
            order, began = self.source.state, time.monotonic()
            try:
                self._valve.tick()
                update = training.advance(self.tasks, acting)
            except Stopped:
                self.source.state = order  # the rollout that was cut off is played anew
                break
            for episode in update.episodes:
                self.recent.see(episode.success, float(episode.rewards.sum()), len(episode))
            self._tell(update.metrics, time.monotonic() - began)
            if training.steps - self._saved_at >= self.config.checkpoint_steps:
                self._save()
        self._save()
        save_policy(session.policy_file, self.built.policy)

    def _take_up(self, extra: Mapping[str, Any]) -> None:
        self.source.state = extra["tasks"]
        for success, episodic_return, steps in extra["recent"]:
            self.recent.see(bool(success), float(episodic_return), int(steps))

    def _save(self) -> None:
        extra = {"tasks": self.source.state, "recent": [list(e) for e in self.recent.episodes]}
        file = self.session.checkpoint_file
        sha256 = self.training.save(file, extra)
        self._saved_at = self.training.steps
        self._supervisor.report(
            CheckpointSaved(frames=self.training.steps, file=str(file), sha256=sha256)
        )

    def _tell(self, metrics: Any, seconds: float) -> None:
        total, steps = self.session.config.frames, self.training.steps
        sps = metrics.steps / seconds if seconds > 0 else 0.0
        self._supervisor.report(
            TrainingMetrics(
                frames=steps,
                frames_total=total,
                success_rate=self.recent.success_rate,
                episodic_return=self.recent.episodic_return,
                episodic_length=self.recent.episodic_length,
                sps=sps,
                entropy=metrics.entropy,
                approx_kl=metrics.approx_kl,
                clipfrac=metrics.clipfrac,
                explained_variance=metrics.explained_variance,
                policy_loss=metrics.policy_loss,
                value_loss=metrics.value_loss,
                decisions=metrics.steps,
                coded_share=0.0,
                eta_seconds=max(0, total - steps) / sps if sps > 0 else None,
            )
        )
        sample = self._sampler.due()
        if sample is not None:
            self._supervisor.report(sample)


def device_for(config: TrainingConfig) -> str:
    """Where the network runs; also bounds torch's threads."""
    import torch

    torch.set_num_threads(config.torch_threads)
    if config.device != "auto":
        return config.device
    return "cuda" if torch.cuda.is_available() else "cpu"


def encoder_of(session: Session) -> Path:
    """File of the frozen visual encoder; the studio's own is trained when it is not there yet.

    Raises:
        EngineError: the one that is named is not there.
        RunStopped: the run was told to stop while it was trained.
    """
    named = session.config.llarp.encoder
    path = Path(named).expanduser() if named else session.home.encoder
    if path.is_file():
        return path
    if named:
        raise EngineError(
            f"there is no visual encoder at {str(path)!r}",
            "Leave `llarp.encoder` out for the studio's own, which is trained once.",
        )
    from engine.llarp.encoder import save_encoder
    from engine.llarp.encoder_training import EncoderConfig, Progress, train_encoder

    def report(progress: Progress) -> None:
        session.checkpoint_stop()
        done = progress.frames / progress.of
        session.enter(RunState.TRAINING, f"the visual encoder, once for all runs: {done:.0%}")

    session.log("the visual encoder is trained first, once for all runs: this takes minutes")
    encoder = train_encoder(EncoderConfig(), report)
    save_encoder(path, encoder)
    told = encoder.facts["sight"]
    session.log(
        f"the visual encoder tells categories in unseen flats with an average precision of "
        f"{told['categories_mean']:.2f} (chance {told['chance']:.2f})"
    )
    return path


Step = Callable[[Session], None]


def steps() -> Mapping[Phase, Step]:
    """What is done in each phase."""
    from engine.llarp.keeping import save_skill

    return {
        "plan": train_policy,
        "train": train_policy,
        "evaluate": evaluate_policy,
        "save": save_skill,
    }


def spec_of(session: Session) -> Mapping[str, Any]:
    """What the trained policy is made of; asking before it is trained is a defect."""
    if session.progress.policy_spec is None:
        raise PlanError("nothing is trained yet", "Resume the run.")
    return session.progress.policy_spec
