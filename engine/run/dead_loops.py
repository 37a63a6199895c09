"""Proposals that were made before and failed: going round in circles, told from what is new.

RL-GPT counts dead loops as a failure of its own kind (arXiv 2402.19299, the ablation of language
models); here one ends the loop it is found in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.agents.plan import CodeProposal, Plan, Subtask
from engine.events import CodeProposed, PlanApproved
from engine.run.history import events_of
from engine.run.session import Session


def same_code(first: str, second: str) -> bool:
    """Whether two programs differ in comments, docstrings and layout at most."""
    return _meaning(first) == _meaning(second)


def version_repeated(session: Session, proposal: CodeProposal) -> int | None:
    """Number of the earlier version under the present plan that a proposal repeats, if any."""
    session.flush()
    found = None
    kinds = {CodeProposed.KIND, PlanApproved.KIND}
    for event in events_of(session.journal, session.run_id, kinds):
        if event.kind == PlanApproved.KIND:
            found = None  # what is asked may be another thing now, for which this code is right
            continue
        earlier = CodeProposal.model_validate(event.payload["proposal"])
        is_before = earlier.version < proposal.version
        is_of_it = earlier.sub_action == proposal.sub_action
        if is_of_it and is_before and same_code(earlier.code, proposal.code):
            found = earlier.version
    return found


def same_plan(first: Plan, second: Plan) -> bool:
    """Whether two plans do the same, for however many frames of training."""
    return _without_frames(first) == _without_frames(second)


def iteration_repeated(session: Session, plan: Plan) -> int | None:
    """Number of the earlier iteration whose agreed plan is the same, if any."""
    agreed = _agreed(session, plan.iteration)
    return next((earlier.iteration for earlier in agreed if same_plan(earlier, plan)), None)


def agreed_before(session: Session, iteration: int) -> Plan | None:
    """The plan that was agreed to last in the iterations before this one, if any."""
    agreed = list(_agreed(session, iteration))
    return agreed[-1] if agreed else None


def _agreed(session: Session, before: int) -> Iterator[Plan]:
    session.flush()
    for event in events_of(session.journal, session.run_id, {PlanApproved.KIND}):
        plan = Plan.model_validate(event.payload["plan"])
        if plan.iteration < before:
            yield plan


def _without_frames(plan: Plan) -> list[Subtask]:
    """Its subtasks with rl sub-actions of one budget: fewer frames are left each time."""
    return [
        subtask.model_copy(
            update={
                "sub_actions": tuple(
                    action.model_copy(update={"budget": 1}) if action.mode == "rl" else action
                    for action in subtask.sub_actions
                )
            }
        )
        for subtask in plan.subtasks
    ]


def _meaning(code: str) -> str:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return "\n".join(line.strip() for line in code.splitlines() if line.strip())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and _has_docstring(node):
            node.body = node.body[1:]
    return ast.dump(tree)


def _has_docstring(node: ast.Module | ast.FunctionDef | ast.ClassDef) -> bool:
    first = node.body[0] if node.body else None
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
