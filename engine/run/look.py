"""Looking at the task's training on the way: what goes badly is planned anew.

In RL-GPT the slow agent also learns from what RL made of its plan (arXiv 2402.19299, section 3 and
Algorithm 1). Here a training is stopped after half of the frames that are left, and then after half
of the rest, and so on. Where the task succeeds often enough it goes on as if nothing had stopped
it; where it does not, the slow agent plans anew, and what it plans is trained with the frames that
are left. With a curriculum only the training of the task is looked at, not those of the skills.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from engine.agents.plan import Critique, Plan
from engine.rl.confidence import wilson
from engine.run.curriculum import ask_learner, frames_asked, frames_spent, within
from engine.run.dead_loops import agreed_before
from engine.run.history import last_payload
from engine.run.learner import Trained, TrainingRequest
from engine.run.progress import TrainingLook
from engine.run.review import reviewed
from engine.run.session import Session
from engine.run.supervision import TrainingSupervisor

EPISODES = 100
"""The success rates of a training are those of so many episodes."""
AUTHOR = "training"


def train_and_look(
    session: Session, plan: Plan, request: TrainingRequest, policies: bytes
) -> Trained | None:
    """Train the task to the end; None where it went badly and the slow agent is to plan anew.

    Args:
        request: for all frames that the plan leaves it, from the first one on.

    Raises:
        RunStopped: the run was told to stop; a checkpoint is kept.
    """
    request = _begun(session, request)
    while True:
        before, total = frames_spent(session), frames_asked(session, plan)
        alone = not before and request.frames == total
        supervisor = TrainingSupervisor(session, before, None if alone else total)
        asked = request.model_copy(update={"stop_at": _next_stop(session, request)})
        trained = ask_learner(session, asked, policies, supervisor)
        if trained.ended != "look":
            return trained
        if _goes_badly(session, trained):
            _plan_anew(session, plan, request, trained)
            return None
        session.log(
            f"looked at the training after {before + trained.frames:,} frames: the task is done "
            f"in {_percent(trained.success_rate)} of the episodes, and it goes on"
        )
        look = session.progress.look.model_copy(update={"looked_at": trained.frames})
        session.save(look=look)


def with_plan(session: Session, plan: Plan) -> dict[str, object]:
    """What changes in the progress with a plan that was agreed to after a look; else nothing.

    Skills on the way to the task that the plan has no use for are trained anew.
    """
    look = session.progress.look
    if not look.critiques:
        return {}
    spent = frames_spent(session) + look.looked_at
    before = agreed_before(session, plan.iteration)
    old = {} if before is None else {action.name: action for action in before.sub_actions("rl")}
    new = {action.name: action for action in plan.sub_actions("rl")}
    kept = tuple(
        skill
        for skill in session.progress.learned
        if skill.name in new
        and skill.name in old
        and new[skill.name].model_copy(update={"budget": 1})
        == old[skill.name].model_copy(update={"budget": 1})
    )
    look = look.model_copy(update={"spent": spent, "critiques": ()})
    if kept != session.progress.learned:
        look = _another(look, spent - sum(skill.frames for skill in kept))
    return {"look": look, "learned": kept}


def _next_stop(session: Session, request: TrainingRequest) -> int | None:
    """Env frames after which the training is looked at; None where it is to run to its end.

    Whole updates, so that what is left after it is never less than what it stopped after.
    """
    config, look = session.config, session.progress.look
    again = session.progress.iteration + 1 < config.plan_iterations
    if look.over or not again or not config.looks_at_training:
        return None
    training = request.config
    segment = training.n_envs * training.n_steps * training.segment_updates
    half = (request.frames - look.looked_at) // 2 // segment * segment
    return look.looked_at + half if half > 0 else None


def _goes_badly(session: Session, trained: Trained) -> bool:
    """Whether the success rate is too low with confidence: a few episodes say little."""
    if trained.success_rate is None:
        return False
    episodes = min(trained.episodes, EPISODES)
    _, most = wilson(round(trained.success_rate * episodes), episodes)
    return most < session.config.review_success


def _begun(session: Session, request: TrainingRequest) -> TrainingRequest:
    """The request with the checkpoint of its own; one that was looked at goes on where it can.

    Another training may have another network, so it begins at nothing, in a file of its own.
    """
    look, frames = session.progress.look, request.frames
    if look.digest and look.digest != _digest(request):
        session.log("the new plan asks for another training: it begins anew")
        frames -= look.looked_at
        look = _another(look, look.frames_before + look.looked_at)
        session.save(look=look)
    if not look.number:
        return request
    frames, config = within(max(frames, 0), request.config)
    changes = {
        "frames": frames,
        "config": config,
        "checkpoint_file": look.file_of(request.checkpoint_file),
    }
    return request.model_copy(update=changes)


def _another(look: TrainingLook, frames_before: int) -> TrainingLook:
    changes = {
        "number": look.number + 1,
        "frames_before": frames_before,
        "looked_at": 0,
        "digest": "",
    }
    return look.model_copy(update=changes)


def _digest(request: TrainingRequest) -> str:
    """Of what is trained, whatever the words of its plan, for how long and where it is kept."""
    content = request.model_copy(update={"stop_at": None, "frames": 0})
    text = content.model_dump_json(exclude={"checkpoint_file", "config"})
    return hashlib.sha256(text.encode()).hexdigest()


# --- planning anew ----------------------------------------------------------------------------


def _plan_anew(session: Session, plan: Plan, request: TrainingRequest, trained: Trained) -> None:
    """Tell what became of the plan, and give it back to the slow agent."""
    spent = frames_spent(session) + trained.frames
    left = frames_asked(session, plan) - spent
    critiques = _critiques(session, plan, trained, left)
    verdict = (
        f"the task is done in {_percent(trained.success_rate)} of the episodes after {spent:,} "
        f"frames of training, less than {_percent(session.config.review_success)}: the slow agent "
        f"plans anew for the {left:,} that are left"
    )
    event = reviewed(session, verdict)
    found = {
        "frames": spent,
        "task_success": trained.success_rate,
        "goals": {**event.goals, **trained.goals},
    }
    look = session.progress.look.model_copy(
        update={
            "looked_at": trained.frames,
            "digest": _digest(request),
            "left": left,
            "critiques": critiques,
        }
    )
    session.context = replace(session.context, training_frames=left)
    session.save(
        event.model_copy(update=found),
        phase="plan",
        iteration=session.progress.iteration + 1,
        training_frames=spent,
        look=look,
    )


def _critiques(session: Session, plan: Plan, trained: Trained, left: int) -> tuple[Critique, ...]:
    """What the slow agent is told, for each rl sub-action: its own success, and the whole."""
    rates = dict(trained.goals)
    rates.update(
        (skill.name, skill.success_rate)
        for skill in session.progress.learned
        if skill.success_rate is not None
    )
    text = _told(session, plan, trained, left)
    wanted = session.config.trial_pass_rate
    found = []
    for action in plan.sub_actions("rl"):
        rate = rates.get(action.name, trained.success_rate or 0.0)
        found.append(
            Critique(
                sub_action=action.name,
                version=session.progress.look.number + 1,
                success_rate=rate,
                trials=min(trained.episodes, EPISODES),
                works=rate >= wanted,
                typical_failure="" if rate >= wanted else "not learnt so far",
                text=text,
                suggestion=(
                    "Make what is left to RL easier: code more of it, give it a nearer success, "
                    "or fewer choices."
                ),
                author=AUTHOR,
            )
        )
    return tuple(found)


def _told(session: Session, plan: Plan, trained: Trained, left: int) -> str:
    spent = frames_spent(session) + trained.frames
    goals = ", ".join(f"`{name}` in {_percent(rate)}" for name, rate in trained.goals.items())
    text = (
        f"Training was stopped after {spent:,} env frames, {left:,} are left: of the last "
        f"{min(trained.episodes, EPISODES)} episodes the task (`{session.context.task.success}`) "
        f"was done in {_percent(trained.success_rate)}, and reached were: {goals or 'no goals'}."
    )
    session.flush()
    figures = last_payload(session.journal, session.run_id, "metrics") or {}
    usage = dict(figures.get("usage") or {})
    most = sorted(usage.items(), key=lambda item: (-item[1], item[0]))
    ran = ", ".join(f"`{name}` {_percent(share)}" for name, share in most)
    unused = [a.name for a in plan.sub_actions("code") if a.name not in usage]
    text += f" Of its frames were spent in coded actions: {ran or 'none'}; the rest in primitives."
    if unused:
        text += f" Never chosen at last: {', '.join(f'`{name}`' for name in unused)}."
    length = figures.get("episodic_length")
    return text if length is None else f"{text} An episode lasted {length:.0f} frames."


def _percent(rate: float | None) -> str:
    return "an unknown share" if rate is None else f"{100 * rate:.3g} %"
