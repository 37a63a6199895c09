"""The learning phases of a run: RL training over primitives and coded actions, evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.agents.executive import PlanExecutive
from engine.agents.plan import Plan
from engine.errors import EngineError, PlanError
from engine.events import DeviceSampled, Evaluated, Event, TrainingMetrics
from engine.files import write_atomically
from engine.rl.evaluate import Evaluation, evaluate
from engine.rl.options import CodedAction
from engine.rl.policies import ExecutivePolicy, Policy
from engine.run.session import RunStopped, Session
from engine.telemetry import DeviceSampler
from skills_db.records import RunState

DEVICE_SECONDS = 2.0


def train(session: Session) -> None:
    """Train the rl-marked part of the plan, with the working coded actions as options."""
    plan = agreed_plan(session)
    goals = {action.name: action.success for action in plan.sub_actions("rl")}
    if not goals or plan.training_frames == 0:
        session.log("the plan marks nothing for RL: no training")
        session.save(phase="evaluate")
        return
    session.enter(RunState.TRAINING, ", ".join(goals))
    # torch takes seconds to import: only a run that trains pays for it.
    from engine.rl.train import Trainer, TrainingJob

    actions = session.progress.coded_actions()
    job = TrainingJob(
        world=session.world,
        actions=actions,
        goals=goals,
        task_success=session.context.task.success,
        config=session.config.training,
        frames=plan.training_frames,
        seed=session.config.seed,
        episode_length=session.config.episode_length,
        checkpoint_file=session.checkpoint_file,
        seed_limit=session.config.eval_seed_start,
    )
    sampler = DeviceSampler(interval=DEVICE_SECONDS)

    def report(event: Event) -> None:
        session.emit(event)
        sample: DeviceSampled | None = sampler.due()
        if sample is not None:
            session.emit(sample)
        if isinstance(event, TrainingMetrics):
            session.count.frames = event.frames

    result = Trainer(
        job, session.sandbox, report=report, control=session.training_control, on_frame=session.show
    ).run()
    session.count.frames = result.frames
    if result.ended == "abort" or session.control() == "abort":
        session.save(training_frames=result.frames)
        raise RunStopped
    session.training_stopped()
    write_atomically(session.policy_file, result.policy.weights)
    session.save(
        phase="evaluate",
        training_frames=result.frames,
        training_success_rate=result.success_rate,
        policy_spec=result.policy.spec.model_dump(mode="json"),
    )


def evaluate_policies(session: Session) -> None:
    """Evaluate on held-out seeds: the trained policy, the untrained one, and code alone."""
    plan = agreed_plan(session)
    weights = _weights(session)
    session.enter(RunState.EVALUATING)
    actions = session.progress.coded_actions()
    spec = session.progress.policy_spec
    code_only = _evaluate(session, plan, executive_policy(session, plan, actions), actions)
    if spec is None or weights is None:
        found = code_only
    else:
        from engine.rl.policy_file import NetworkPolicy, PolicySpec

        parsed = PolicySpec.model_validate(spec)
        trained = NetworkPolicy.load(parsed, weights)
        untrained = NetworkPolicy.untrained(parsed)
        found = _evaluate(session, plan, trained, parsed.actions)
        found["baseline"] = _evaluate(session, plan, untrained, parsed.actions)
        found["code_only"] = code_only
    session.save(Evaluated(evaluation=found), phase="save", evaluation=found)


def _evaluate(
    session: Session, plan: Plan, policy: Policy, actions: Sequence[CodedAction]
) -> dict[str, Any]:
    config = session.config
    session.enter(RunState.EVALUATING, policy.name)
    start = config.eval_seed_start
    evaluation: Evaluation = evaluate(
        session.world,
        policy,
        actions,
        session.sandbox,
        seeds=range(start, start + config.eval_episodes),
        task_success=session.context.task.success,
        goals=goals_of(plan),
        episode_length=config.episode_length,
        on_frame=session.show,
        should_stop=lambda: session.control() == "abort",
        progress=_progress(session, policy.name),
    )
    if session.control() == "abort":
        raise RunStopped
    return evaluation.model_dump(mode="json")


def _progress(session: Session, name: str) -> Callable[[int, int], None]:
    def tell(done: int, of: int) -> None:
        session.wait_while_paused()
        session.enter(RunState.EVALUATING, f"{name}: episode {done} of {of}")

    return tell


def goals_of(plan: Plan) -> Mapping[str, str]:
    """Success predicates by name: every subtask's and every rl sub-action's."""
    goals = {subtask.name: subtask.success for subtask in plan.subtasks}
    return {**{a.name: a.success for a in plan.sub_actions("rl")}, **goals}


def executive_policy(
    session: Session, plan: Plan, actions: Sequence[CodedAction]
) -> ExecutivePolicy:
    """Code alone: the plan's coded actions in plan order, nothing learnt."""
    return ExecutivePolicy(
        lambda: PlanExecutive(plan, actions, session.world), actions, session.world
    )


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
    from engine.rl.policy_file import NetworkPolicy, PolicySpec

    path = session.policy_file
    try:
        weights = path.read_bytes()
    except OSError as error:
        raise EngineError(
            f"the trained policy {str(path)!r} cannot be read: {error.strerror}",
            "Start the task again; the coded actions are kept in this run.",
        ) from error
    NetworkPolicy.load(PolicySpec.model_validate(session.progress.policy_spec), weights)
    return weights
