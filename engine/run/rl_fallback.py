"""RL takes over where a language model has no valid plan, or where its code never came to work.

A model too weak for its role ends no run: what it cannot plan or code is learnt, as in RL-GPT
(arXiv 2402.19299, section 3), and the person is told why. Other failures of an agent are no matter
of strength and still end the run: a task beyond the rules, a recording without further answers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from engine.agents.plan import Critique, Plan, SubAction, Subtask
from engine.agents.plan_edit import flip_mode, problems, set_action
from engine.agents.plan_record import PlanRecord
from engine.errors import NoValidAnswer
from engine.events import AgentSaid
from engine.run.progress import CodeWork
from engine.run.session import Session

_LONGEST_NAME = 48


def subtasks_or_task(session: Session) -> tuple[Subtask, ...]:
    """The planner's subtasks; the whole task as the only one where it gives no valid answer."""
    task, planner = session.context.task, session.agents.planner
    try:
        return planner.subtasks(session.context)
    except NoValidAnswer as error:
        _explain(session, "planner", planner.author, error, "The task stays in one piece.")
        return (Subtask(name=task.name, goal=task.words, success=task.success),)


def divided_or_nothing(
    session: Session, subtasks: tuple[Subtask, ...]
) -> Mapping[str, tuple[SubAction, ...]]:
    """The slow agent's whole first plan; nothing where so much at once is beyond it."""
    slow = session.agents.slow
    try:
        return slow.divide(session.context, subtasks)
    except NoValidAnswer as error:
        _explain(session, "slow", slow.author, error, "It is asked for one subtask at a time.")
        return {}


def sub_actions_or_rl(
    session: Session, subtask: Subtask, critiques: Sequence[Critique], record: PlanRecord
) -> tuple[SubAction, ...]:
    """The slow agent's sub-actions; where it gives no valid answer what works, and RL for the rest.

    Without earlier sub-actions RL is to learn the whole subtask.
    """
    slow, earlier = session.agents.slow, subtask.sub_actions
    try:
        return slow.sub_actions(session.context, subtask, earlier, tuple(critiques), record)
    except NoValidAnswer as error:
        _explain(session, "slow", slow.author, error, f"RL is to learn `{subtask.name}`.")
    codes = session.progress.codes
    kept = tuple(a for a in earlier if a.name not in codes or not codes[a.name].given_up)
    if any(action.mode == "rl" for action in kept):
        return kept
    taken = {subtask.name, *record.others, *(action.name for action in kept)}
    taken.update(action.name for actions in record.others.values() for action in actions)
    learnt = SubAction(
        name=_free_name(f"learn_{subtask.name}", taken),
        mode="rl",
        reason="the slow agent gave no valid plan for it",
        instruction=subtask.goal,
        success=subtask.success,
        budget=session.context.training_frames,
    )
    return (*kept, learnt)


def _free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, or with the first number after it that nothing else in the plan is called."""
    name, number = wanted[:_LONGEST_NAME], 1
    while name in taken:
        number += 1
        name = f"{wanted[: _LONGEST_NAME - len(str(number)) - 1]}_{number}"
    return name


def given_to_rl(session: Session) -> Plan | None:
    """The plan with RL for the sub-actions without working code.

    None where all code works, and where RL has a part in the plan already: it then learns the task
    with the code that works.
    """
    plan, codes = session.progress.plan, session.progress.codes
    if plan is None or plan.sub_actions("rl"):
        return None
    lost = [a.name for a in plan.sub_actions("code") if _is_lost(codes.get(a.name))]
    budget = max(1, session.context.training_frames // max(1, len(lost)))
    changed = plan
    for name in lost:
        changed = flip_mode(changed, name, budget=budget)
        changed = set_action(changed, name, "reason", "no working code came of it")
    return None if not lost or problems(changed, session.world) else changed


def _is_lost(work: CodeWork | None) -> bool:
    return work is None or not work.is_usable


def _explain(
    session: Session, role: str, author: str, error: NoValidAnswer, consequence: str
) -> None:
    """Tell what the model could not do and what follows."""
    session.emit(AgentSaid(role=role, author=author, text=f"{error.message}. {consequence}"))
    session.log(f"{consequence} {error.hint}", "warning")
