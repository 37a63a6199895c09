"""Learning the rl sub-actions of a plan one after the other, each an action of the later ones.

All but the last are skills on the way: each is trained on its own success, within its own budget.
The last one learns the task with what they left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from engine.agents.plan import Plan, SubAction
from engine.agents.plan_choices import choices_among
from engine.config import TrainingConfig
from engine.errors import EngineError
from engine.files import write_atomically
from engine.rl.learned_action import Action, LearnedAction
from engine.rl.policy_bundle import bundle, named
from engine.rl.policy_file import PolicyFile, PolicySpec
from engine.rl.sight import unseen_spans
from engine.run.how_to_learn import narrowed, seen_parts
from engine.run.learner import Trained, TrainingRequest
from engine.run.progress import LearnedSkill
from engine.run.session import RunStopped, Session
from engine.run.supervision import TrainingSupervisor
from skills_db.records import RunState

SHORTEST_ROLLOUT = 8
"""Env frames of every environment, as `TrainingConfig.n_steps` has it."""


def skills_before_the_last(session: Session, plan: Plan) -> tuple[LearnedAction, ...]:
    """The skills that the last rl sub-action may choose, trained unless they are already.

    Raises:
        RunStopped: the run was told to stop; what is trained is kept.
    """
    learnt = plan.sub_actions("rl")
    skills: list[LearnedAction] = []
    for number, sub_action in enumerate(learnt[:-1], start=1):
        known = _known(session, sub_action)
        if known is None and not was_stopped(session):
            known = _learn(session, plan, sub_action, skills, f"{number} of {len(learnt)}")
        if known is not None:
            skills.append(known)
    return tuple(skills)


def was_stopped(session: Session) -> bool:
    """Whether a person ended the training in one of the skills: no more is trained."""
    return any(skill.ended == "stop_and_keep" for skill in session.progress.learned)


def frames_spent(session: Session) -> int:
    """Env frames of the trainings before the present one: of skills, and of earlier plans."""
    progress = session.progress
    return progress.look.frames_before + sum(skill.frames for skill in progress.learned)


def frames_asked(session: Session, plan: Plan) -> int:
    """Env frames of all trainings together, those of earlier plans included."""
    return session.progress.look.spent + plan.training_frames


def in_plan_order(plan: Plan, actions: Sequence[Action]) -> tuple[Action, ...]:
    """The actions as the plan has them."""
    order = {action.name: index for index, action in enumerate(plan.sub_actions())}
    return tuple(sorted(actions, key=lambda action: order[action.name]))


def within(budget: int, config: TrainingConfig) -> tuple[int, TrainingConfig]:
    """Env frames in whole updates that do not exceed a budget, and the settings for them.

    A budget below one update makes a shorter one; one that is too short even for that gives 0.
    """
    update = config.n_envs * config.n_steps
    if budget >= update:
        return budget // update * update, config
    steps = budget // config.n_envs
    if steps < SHORTEST_ROLLOUT:
        return 0, config
    return steps * config.n_envs, config.model_copy(update={"n_steps": steps})


def request_for(
    session: Session,
    actions: Sequence[Action],
    *,
    learnt: Sequence[SubAction],
    goals: dict[str, str],
    success: str,
    frames: int,
    config: TrainingConfig,
    checkpoint_file: Path,
) -> tuple[TrainingRequest, bytes]:
    """What a learner is asked to train, and the policies of the learned actions.

    Args:
        learnt: the rl sub-actions that the policy learns, as was agreed for them.
    """
    names = (*session.world.primitives, *(action.name for action in actions))
    proposals = session.progress.agreed_learning(learnt)
    coded = {action.name for action in session.progress.coded_actions()}
    others = [name for name in names if name not in coded]
    choices = narrowed(choices_among(learnt, names), proposals, others)
    if not choices and all(action.choices for action in learnt):
        session.log("no action the plan lets RL choose is there: it may choose any", "warning")
    request = TrainingRequest(
        world=session.world.name,
        actions=named(actions),
        goals=goals,
        task_success=success,
        config=config,
        frames=frames,
        seed=session.config.seed,
        episode_length=session.config.episode_length,
        checkpoint_file=checkpoint_file,
        seed_limit=session.config.eval_seed_start,
        choices=choices,
        shaping=tuple(term for proposal in proposals for term in proposal.shaping),
        unseen=unseen_spans(session.world.observation_parts(), seen_parts(proposals)),
    )
    return request, bundle({}, actions)


def ask_learner(
    session: Session, request: TrainingRequest, policies: bytes, supervisor: TrainingSupervisor
) -> Trained:
    """Have it trained.

    Raises:
        RunStopped: the run was told to stop; a checkpoint is kept.
    """
    before = frames_spent(session)
    trained = session.learner.train(request, supervisor, policies)
    session.count.frames = before + trained.frames
    if trained.ended == "abort" or session.control() == "abort":
        session.save(training_frames=before + trained.frames)
        raise RunStopped
    if trained.ended != "look":  # else a wish that came at that moment is still to be obeyed
        session.training_stopped()
    return trained


def _learn(
    session: Session,
    plan: Plan,
    sub_action: SubAction,
    skills: Sequence[LearnedAction],
    position: str,
) -> LearnedAction | None:
    """Train one skill within its budget; None when that is too small to learn anything."""
    name = sub_action.name
    frames, config = within(sub_action.budget, session.config.training)
    if not frames:
        session.log(
            f"`{name}` is not learnt by itself: {sub_action.budget} frames are too few for "
            f"{config.n_envs} environments",
            "warning",
        )
        return None
    session.enter(RunState.TRAINING, name)
    session.log(f"skill {position}: `{name}` until `{sub_action.success}`, {frames:,} frames")
    request, policies = request_for(
        session,
        in_plan_order(plan, (*session.progress.coded_actions(), *skills)),
        learnt=(sub_action,),
        goals={},
        success=sub_action.success,
        frames=frames,
        config=config.model_copy(update={"end_on_success": True}),
        checkpoint_file=session.progress.look.file_of(
            session.folder / f"checkpoint-{name}.safetensors"
        ),
    )
    before = frames_spent(session)
    supervisor = TrainingSupervisor(session, before, frames_asked(session, plan))
    trained = ask_learner(session, request, policies, supervisor)
    write_atomically(_policy_file(session, name), trained.weights)
    skill = LearnedSkill(
        name=name,
        frames=trained.frames,
        ended=trained.ended,
        success_rate=trained.success_rate,
        spec=trained.spec.model_dump(mode="json"),
        sha256=hashlib.sha256(trained.weights).hexdigest(),
    )
    _tell(session, skill)
    session.save(
        learned=(*session.progress.learned, skill), training_frames=before + trained.frames
    )
    return _action(session, sub_action, skill, trained.weights)


def _tell(session: Session, skill: LearnedSkill) -> None:
    if _works(session, skill):
        session.log(f"`{skill.name}` is learnt after {skill.frames:,} frames")
        return
    rate = "no episode ended" if skill.success_rate is None else f"{skill.success_rate:.0%} success"
    session.log(
        f"`{skill.name}` did not come to work ({rate}): it may be chosen, but the plan does not "
        "lead to it",
        "warning",
    )


def _works(session: Session, skill: LearnedSkill) -> bool:
    """As with code: the plan builds on what succeeds often enough."""
    return skill.success_rate is not None and skill.success_rate >= session.config.trial_pass_rate


def _known(session: Session, sub_action: SubAction) -> LearnedAction | None:
    """The skill as it was trained before; None when it was not, or its file is lost.

    What is lost is trained again, and that goes on from a checkpoint that is at its end.
    """
    skill = next((s for s in session.progress.learned if s.name == sub_action.name), None)
    if skill is None:
        return None
    path = _policy_file(session, skill.name)
    try:
        weights = path.read_bytes()
        if hashlib.sha256(weights).hexdigest() == skill.sha256:
            return _action(session, sub_action, skill, weights)
        why = f"is damaged ({len(weights)} bytes)"
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
    except EngineError as error:
        why = error.message
    session.log(f"{str(path)!r} {why}; `{skill.name}` is made anew from its checkpoint", "warning")
    session.save(learned=tuple(s for s in session.progress.learned if s.name != skill.name))
    return None


def _action(
    session: Session, sub_action: SubAction, skill: LearnedSkill, weights: bytes
) -> LearnedAction:
    return LearnedAction(
        name=sub_action.name,
        policy=PolicyFile(PolicySpec.model_validate(skill.spec), weights),
        success=sub_action.success,
        precondition=sub_action.precondition,
        interrupt=sub_action.interrupt,
        due=sub_action.due if _works(session, skill) else "false",
        max_frames=session.config.training.skill_frames,
    )


def _policy_file(session: Session, name: str) -> Path:
    return session.folder / f"policy-{name}.safetensors"
