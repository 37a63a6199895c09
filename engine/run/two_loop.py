"""RL-GPT's two nested loops: the slow agent's plan outside, the fast agent's code inside.

Source: arXiv 2402.19299, section 3 and Algorithm 1. Ours asks a person before anything runs, and
the critic's verdict is the success predicate checked by program.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.agents.plan import Critique, Plan, SubAction, Subtask
from engine.agents.plan_choices import without_lost_choices
from engine.agents.plan_edit import problems, share_training
from engine.errors import AgentError, PlanError
from engine.events import AgentSaid, PlanApproved, PlanProposed
from engine.run.approval import UNASKED, ask, decides_itself
from engine.run.coding import Coder
from engine.run.dead_loops import agreed_before, iteration_repeated, same_plan
from engine.run.history import last_payload
from engine.run.look import with_plan
from engine.run.plan_record import record_of
from engine.run.review import reviewed
from engine.run.rl_fallback import (
    divided_or_nothing,
    given_to_rl,
    sub_actions_or_rl,
    subtasks_or_task,
)
from engine.run.session import Session
from skills_db.records import RunState


def plan_and_code(session: Session) -> None:
    """Run both loops until the plan's coded sub-actions work or the iterations are spent."""
    while True:
        if session.progress.phase == "plan":
            session.enter(RunState.PLANNING, f"iteration {session.progress.iteration}")
            _agree_on_plan(session)
        if session.progress.phase == "code":
            _code_plan(session)
        if session.progress.phase == "train" and (plan := given_to_rl(session)) is not None:
            session.log(
                "no working code came of the plan: RL is to learn what it was for", "warning"
            )
            session.save(PlanProposed(plan=plan), plan=plan, phase="plan")
        if session.progress.phase not in ("plan", "code"):
            return


def _code_plan(session: Session) -> None:
    """Code what the plan marks for it; then comes training, or the next iteration."""
    session.enter(RunState.CODING)
    failed = _code_everything(session)
    iteration = session.progress.iteration
    if failed and iteration + 1 < session.config.plan_iterations:
        verdict = f"{_listed(failed)} could not be coded: the slow agent plans anew"
        session.save(reviewed(session, verdict, failed), phase="plan", iteration=iteration + 1)
        return
    if failed:
        session.log(f"gave up coding {_listed(failed)}", "warning")
        verdict = f"no working code for {_listed(failed)}: RL is what is left"
    else:
        verdict = "all code works" if session.progress.coded_actions() else "nothing to code"
    session.save(reviewed(session, verdict, failed), phase="train")


# --- outer loop: the plan -------------------------------------------------------------------


def _agree_on_plan(session: Session) -> None:
    """Have a plan written and wait until a person agrees to one."""
    comment = session.progress.plan_comment
    try:
        plan = (None if comment else _unapproved(session)) or _propose(session, comment)
    except (AgentError, PlanError) as error:
        if not session.progress.look.critiques:
            raise
        _go_on(session, f"there is no other plan: {error.message}")
        return
    repeated = iteration_repeated(session, plan) if decides_itself(session) else None
    if repeated is not None:
        why = f"the plan is that of iteration {repeated} again, which failed: a dead loop"
        _go_on(session, why)
        return
    while True:
        answer = ask(session, "plan", plan.task, {"plan": plan.model_dump(mode="json")})
        if answer.decision == "reject":
            # Kept first: the slow agent may have a question of its own, or the process may die.
            session.save(plan_comment=answer.comment)
            plan = _propose(session, answer.comment)
            continue
        agreed = Plan.model_validate(answer.payload["plan"])
        wrong = problems(agreed, session.world)
        if not wrong:
            break
        session.log("the plan cannot stand: " + "; ".join(wrong), "error")
        plan = _as_proposed(session, agreed) if answer.by in UNASKED else agreed
        session.save(plan=plan)
    session.save(
        PlanApproved(plan=agreed, by=answer.by),
        phase="code",
        plan=agreed,
        plan_approved_by=answer.by,
        codes=_still_valid(session, agreed),
        **with_plan(session, agreed),
    )


def _as_proposed(session: Session, edited: Plan) -> Plan:
    """The agents' plan before a person's edit: whoever approves all does not mend that one."""
    session.flush()
    proposed = last_payload(session.journal, session.run_id, PlanProposed.KIND)
    if proposed is None:
        raise PlanError("the edited plan cannot stand", "Edit it again: resume with approve=ask.")
    plan = Plan.model_validate(proposed["plan"])
    if plan == edited:
        raise PlanError("the proposed plan cannot stand", "Edit it: resume with approve=ask.")
    session.log("the plan is taken as it was proposed, before that edit", "warning")
    return plan


def _go_on(session: Session, why: str) -> None:
    """No other plan is to be had: keep the last one, and train with what works of it."""
    session.log(f"{why}; RL goes on with what works", "warning")
    if _unapproved(session) is not None:
        session.emit(reviewed(session, why))
    look = session.progress.look
    if look.critiques:
        look = look.model_copy(update={"critiques": (), "over": True})
    kept = agreed_before(session, session.progress.iteration)
    session.save(
        phase="train",
        plan=kept,
        plan_comment="",
        iteration=session.progress.iteration - 1,
        look=look,
    )


def _unapproved(session: Session) -> Plan | None:
    """The plan that was proposed before the process died, if it is of this iteration."""
    plan = session.progress.plan
    if plan is None or plan.iteration != session.progress.iteration:
        return None
    return plan


def _propose(session: Session, comment: str) -> Plan:
    before, look = session.progress.plan, session.progress.look
    context, agents = session.context, session.agents
    if before is not None and look.critiques and look.left is not None:
        before = share_training(before, look.left)  # the rest is spent
    if before is None:
        subtasks = subtasks_or_task(session)
        names = ", ".join(subtask.name for subtask in subtasks)
        _say(session, "planner", agents.planner.author, f"{len(subtasks)} subtasks: {names}")
        _say_reuse(session, subtasks)
    else:
        subtasks = before.subtasks
    plan = Plan(
        task=context.task.words,
        world=session.world.name,
        author=agents.slow.author,
        iteration=session.progress.iteration,
        subtasks=_divided(session, subtasks, comment),
    )
    if before is not None:
        plan = without_lost_choices(plan, before)
    # Shares of a later iteration can add up to more than the person asked for.
    asked = before.training_frames if before is not None else 0
    plan = share_training(plan, asked or context.training_frames)
    wrong = problems(plan, session.world)
    if wrong:
        raise PlanError(
            f"the slow agent {agents.slow.author!r} wrote a plan that cannot stand: "
            + "; ".join(wrong),
            "Resume the run to ask it again, or use `--agents rules`.",
        )
    repeated = None if decides_itself(session) else iteration_repeated(session, plan)
    if repeated is not None:
        session.log(f"this is the plan of iteration {repeated} again, which failed", "warning")
    if before is not None and same_plan(before, plan):
        _say(session, "slow", agents.slow.author, "I have no other plan; you may edit this one.")
    session.save(PlanProposed(plan=plan), plan=plan, plan_comment="")
    return plan


def _say_reuse(session: Session, subtasks: Sequence[Subtask]) -> None:
    """Tell which skills of the library the planner wants used again."""
    versions = {skill.name: skill.version for skill in session.context.skills}
    for subtask in subtasks:
        reused = ", ".join(f"`{name}` v{versions[name]}" for name in subtask.reuses)
        if reused:
            author = session.agents.planner.author
            _say(session, "planner", author, f"{subtask.name}: reuses skill {reused}")


def _divided(session: Session, subtasks: Sequence[Subtask], comment: str) -> tuple[Subtask, ...]:
    """The subtasks with sub-actions: a first plan at once where the slow agent can, else in turn.

    A later plan asks for those alone of which something failed or was rejected.
    """
    done = list(subtasks)
    if not any(subtask.sub_actions for subtask in done):
        session.checkpoint_stop()
        given = divided_or_nothing(session, tuple(done))
    else:
        given = {}
    for position, subtask in enumerate(done):
        done[position] = _divide(session, subtask, comment, given.get(subtask.name, ()), done)
    return tuple(done)


def _divide(
    session: Session,
    subtask: Subtask,
    comment: str,
    given: tuple[SubAction, ...],
    plan: Sequence[Subtask],
) -> Subtask:
    """One subtask with the sub-actions it was given, or else with those it is asked for now."""
    session.checkpoint_stop()
    critiques = _critiques(session, subtask, comment)
    replan = bool(subtask.sub_actions)
    if replan and not critiques:
        return subtask
    slow = session.agents.slow
    actions = given or sub_actions_or_rl(
        session, subtask, critiques, record_of(session, subtask, plan)
    )
    marks = ", ".join(f"{action.name} ({action.mode})" for action in actions)
    _say(session, "slow", slow.author, f"{subtask.name}: {marks}")
    return subtask.model_copy(update={"sub_actions": actions})


def _critiques(session: Session, subtask: Subtask, comment: str) -> tuple[Critique, ...]:
    """The last word on this subtask's failed code and training, and the person's on the plan."""
    found = [
        work.critique
        for action in subtask.sub_actions
        if (work := session.progress.codes.get(action.name)) is not None
        and work.given_up
        and work.critique is not None
    ]
    names = {action.name for action in subtask.sub_actions}
    found += [told for told in session.progress.look.critiques if told.sub_action in names]
    if comment and subtask.sub_actions:
        found.append(person_critique(subtask.sub_actions[0].name, 1, comment))
    return tuple(found)


def person_critique(sub_action: str, version: int, comment: str) -> Critique:
    """A person's rejection in the critic's form."""
    return Critique(
        sub_action=sub_action,
        version=version,
        success_rate=0.0,
        trials=0,
        works=False,
        typical_failure="rejected by a person",
        text=comment,
        suggestion=comment,
        author="person",
    )


def _still_valid(session: Session, plan: Plan) -> dict[str, object]:
    """Code whose sub-action the new plan did not touch stays as it is."""
    wanted = {action.name: action for action in plan.sub_actions("code")}
    return {
        name: work
        for name, work in session.progress.codes.items()
        if wanted.get(name) == work.sub_action and not work.given_up
    }


# --- inner loop: the code -------------------------------------------------------------------


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _code_everything(session: Session) -> tuple[str, ...]:
    """Code all coded sub-actions in order; returns the names that could not be coded."""
    plan = session.progress.plan
    if plan is None:
        raise PlanError("there is no approved plan to code", "Start the run again.")
    coder = Coder(session, plan)
    failed: list[str] = []
    for action in plan.sub_actions("code"):
        session.checkpoint_stop()
        work = session.progress.codes.get(action.name)
        if work is not None and work.sub_action != action:
            work = None
        if work is not None and work.is_usable:
            continue
        # Given up by an earlier process: begun anew, it would take the place of what is asked now.
        if (work is not None and work.given_up) or not coder.code(action):
            failed.append(action.name)
    return tuple(failed)


def _say(session: Session, role: str, author: str, text: str) -> None:
    session.emit(AgentSaid(role=role, author=author, text=text))
