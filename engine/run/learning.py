"""The learning phases of a run: RL training over primitives and coded actions, evaluation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.agents.plan import Plan
from engine.errors import EngineError, PlanError
from engine.events import Evaluated, Event, TrainingMetrics
from engine.files import write_atomically
from engine.rl.control import Control
from engine.rl.options import CodedAction
from engine.rl.policy_file import PolicySpec
from engine.run.learner import EvaluationRequest, PolicyName, TrainingRequest
from engine.run.session import RunStopped, Session
from skills_db.records import RunState


def train(session: Session) -> None:
    """Train the rl-marked part of the plan, with the working coded actions as options."""
    plan = agreed_plan(session)
    goals = {action.name: action.success for action in plan.sub_actions("rl")}
    if not goals or plan.training_frames == 0:
        session.log("the plan marks nothing for RL: no training")
        session.save(phase="evaluate")
        return
    session.enter(RunState.TRAINING, ", ".join(goals))
    request = TrainingRequest(
        world=session.world.name,
        actions=session.progress.coded_actions(),
        goals=goals,
        task_success=session.context.task.success,
        config=session.config.training,
        frames=plan.training_frames,
        seed=session.config.seed,
        episode_length=session.config.episode_length,
        checkpoint_file=session.checkpoint_file,
        seed_limit=session.config.eval_seed_start,
    )
    trained = session.learner.train(request, _Training(session))
    session.count.frames = trained.frames
    if trained.ended == "abort" or session.control() == "abort":
        session.save(training_frames=trained.frames)
        raise RunStopped
    session.training_stopped()
    write_atomically(session.policy_file, trained.weights)
    session.save(
        phase="evaluate",
        training_frames=trained.frames,
        training_success_rate=trained.success_rate,
        policy_spec=trained.spec.model_dump(mode="json"),
        policy_sha256=hashlib.sha256(trained.weights).hexdigest(),
    )


class _Supervisor:
    """The run as the one who follows its learner."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def report(self, event: Event) -> None:
        self._session.emit(event)
        if isinstance(event, TrainingMetrics):
            self._session.count.frames = event.frames

    def control(self) -> Control:
        return self._session.shown_control()

    def watched(self) -> bool:
        return self._session.watched()

    def draw(self, rgb: NDArray[np.uint8], caption: str) -> None:
        self._session.draw(rgb, caption)

    def episode_over(self, done: int, of: int) -> None:
        """Training tells of updates, not of episodes."""


class _Training(_Supervisor):
    """*Abort* keeps a checkpoint too."""

    def control(self) -> Control:
        wish = super().control()
        return "stop_and_keep" if wish == "abort" else wish


class _Evaluation(_Supervisor):
    """Tells of episodes."""

    def __init__(self, session: Session, policy: PolicyName) -> None:
        super().__init__(session)
        self._policy = policy

    def episode_over(self, done: int, of: int) -> None:
        self._session.enter(RunState.EVALUATING, f"{self._policy}: episode {done} of {of}")


def evaluate_policies(session: Session) -> None:
    """Evaluate on held-out seeds: the trained policy, the untrained one, and code alone."""
    weights = _weights(session)
    session.enter(RunState.EVALUATING)
    code_only = _evaluate(session, "code_only", session.progress.coded_actions())
    if session.progress.policy_spec is None or weights is None:
        found = code_only
    else:
        spec = PolicySpec.model_validate(session.progress.policy_spec)
        found = _evaluate(session, "trained", spec.actions, spec, weights)
        found["baseline"] = _evaluate(session, "untrained", spec.actions, spec)
        found["code_only"] = code_only
    session.save(Evaluated(evaluation=found), phase="save", evaluation=found)


def _evaluate(
    session: Session,
    policy: PolicyName,
    actions: Sequence[CodedAction],
    spec: PolicySpec | None = None,
    weights: bytes = b"",
) -> dict[str, Any]:
    plan, config = agreed_plan(session), session.config
    session.enter(RunState.EVALUATING, policy)
    request = EvaluationRequest(
        world=session.world.name,
        policy=policy,
        actions=tuple(actions),
        plan=plan,
        spec=spec,
        first_seed=config.eval_seed_start,
        episodes=config.eval_episodes,
        task_success=session.context.task.success,
        goals=dict(goals_of(plan)),
        episode_length=config.episode_length,
    )
    evaluation = session.learner.evaluate(request, weights, _Evaluation(session, policy))
    if session.control() == "abort":
        raise RunStopped
    return evaluation.model_dump(mode="json")


def goals_of(plan: Plan) -> Mapping[str, str]:
    """Success predicates by name: every subtask's and every rl sub-action's."""
    goals = {subtask.name: subtask.success for subtask in plan.subtasks}
    return {**{a.name: a.success for a in plan.sub_actions("rl")}, **goals}


def agreed_plan(session: Session) -> Plan:
    """The approved plan; asking before there is one is a defect."""
    if session.progress.plan is None:
        raise PlanError("there is no approved plan", "Start the run again.")
    return session.progress.plan


def _weights(session: Session) -> bytes | None:
    """Weights of the trained policy, None when nothing was trained.

    A file that is lost or damaged is made anew: training goes on from its last checkpoint, which
    is at its end.
    """
    if session.progress.policy_spec is None:
        return None
    try:
        return _intact(session)
    except EngineError as error:
        session.log(f"{error.message}; it is made anew from the last checkpoint", "warning")
        session.save(phase="train", policy_spec=None, evaluation=None)
        train(session)
        return _intact(session)


def _intact(session: Session) -> bytes:
    path, digest = session.policy_file, session.progress.policy_sha256
    try:
        weights = path.read_bytes()
    except OSError as error:
        raise EngineError(
            f"the trained policy {str(path)!r} cannot be read: {error.strerror}",
            "Start the task again; the coded actions are kept in this run.",
        ) from error
    if digest is not None and hashlib.sha256(weights).hexdigest() != digest:
        raise EngineError(
            f"the trained policy {str(path)!r} is damaged ({len(weights)} bytes)",
            "Start the task again; the coded actions are kept in this run.",
        )
    return weights
