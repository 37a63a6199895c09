"""The learning phases of a run: RL training over primitives and coded actions, evaluation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from engine.agents.plan import Plan
from engine.errors import EngineError, PlanError
from engine.events import Evaluated
from engine.files import write_atomically
from engine.rl.learned_action import Entry
from engine.rl.policy_file import PolicySpec
from engine.run.curriculum import (
    frames_asked,
    frames_spent,
    in_plan_order,
    request_for,
    skills_before_the_last,
    was_stopped,
    within,
)
from engine.run.how_to_learn import agree_how_to_learn
from engine.run.learner import EvaluationRequest, PolicyName, Trained
from engine.run.look import train_and_look
from engine.run.review import reviewed
from engine.run.session import RunStopped, Session
from engine.run.supervision import EvaluationSupervisor
from skills_db.records import RunState


def train(session: Session) -> None:
    """Train the rl-marked part of the plan, with the working coded actions as options.

    What goes badly on the way is given back to the slow agent: the phase is `plan` again then.

    Raises:
        RunStopped: the run was told to stop; a checkpoint is kept.
    """
    plan = agreed_plan(session)
    goals = {action.name: action.success for action in plan.sub_actions("rl")}
    if not goals or plan.training_frames == 0:
        session.log("the plan marks nothing for RL: no training")
        session.save(phase="evaluate")
        return
    agree_how_to_learn(session, plan)
    if session.config.training.curriculum and len(goals) > 1:
        trained = _curriculum(session, plan, goals)
    else:
        session.enter(RunState.TRAINING, ", ".join(goals))
        trained = _all_at_once(session, plan, goals)
    if trained is None:
        return
    write_atomically(session.policy_file, trained.weights)
    session.save(
        phase="evaluate",
        training_frames=frames_spent(session) + trained.frames,
        training_success_rate=trained.success_rate,
        look=session.progress.look.model_copy(update={"over": True}),
        policy_spec=trained.spec.model_dump(mode="json"),
        policy_sha256=hashlib.sha256(trained.weights).hexdigest(),
    )
    session.emit(reviewed(session, f"training ended: {trained.ended}"))


def _all_at_once(session: Session, plan: Plan, goals: dict[str, str]) -> Trained | None:
    """One policy for all of them: each pays a bonus once per episode."""
    request, policies = request_for(
        session,
        session.progress.coded_actions(),
        learnt=plan.sub_actions("rl"),
        goals=goals,
        success=session.context.task.success,
        frames=frames_asked(session, plan) - frames_spent(session),
        config=session.config.training,
        checkpoint_file=session.checkpoint_file,
    )
    return train_and_look(session, plan, request, policies)


def _curriculum(session: Session, plan: Plan, goals: dict[str, str]) -> Trained | None:
    """One after the other; the last with the skills before it, for all that is left."""
    skills = skills_before_the_last(session, plan)
    left = frames_asked(session, plan) - frames_spent(session)
    left = 0 if was_stopped(session) else left
    frames, config = within(left, session.config.training)
    if left and not frames:
        session.log(f"{left} frames are left for the task: too few to learn from", "warning")
    session.enter(RunState.TRAINING, list(goals)[-1])
    request, policies = request_for(
        session,
        in_plan_order(plan, (*session.progress.coded_actions(), *skills)),
        learnt=plan.sub_actions("rl")[-1:],
        goals=goals,
        success=session.context.task.success,
        frames=frames,
        config=config,
        checkpoint_file=session.checkpoint_file,
    )
    return train_and_look(session, plan, request, policies)


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
        found["baseline"] = _evaluate(session, "untrained", spec.actions, spec, weights)
        found["code_only"] = code_only
    session.save(Evaluated(evaluation=found), phase="save", evaluation=found)


def _evaluate(
    session: Session,
    policy: PolicyName,
    actions: Sequence[Entry],
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
    evaluation = session.learner.evaluate(request, weights, EvaluationSupervisor(session, policy))
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
