"""Proposals that were made before and failed: going round in circles, told from what is new.

RL-GPT counts dead loops as a failure of its own kind (arXiv 2402.19299, the ablation of language
models); here one ends the loop it is found in.
"""

from __future__ import annotations

import ast

from engine.agents.plan import CodeProposal, Plan
from engine.events import CodeProposed, PlanApproved
from engine.run.session import Session

_PAGE = 500


def same_code(first: str, second: str) -> bool:
    """Whether two programs differ in comments, docstrings and layout at most."""
    return _meaning(first) == _meaning(second)


def version_repeated(session: Session, proposal: CodeProposal) -> int | None:
    """Number of the earlier version under the present plan that a proposal repeats, if any."""
    found = None
    for kind, payload in _history(session, {CodeProposed.KIND, PlanApproved.KIND}):
        if kind == PlanApproved.KIND:
            found = None  # what is asked may be another thing now, for which this code is right
            continue
        earlier = CodeProposal.model_validate(payload["proposal"])
        is_before = earlier.version < proposal.version
        is_of_it = earlier.sub_action == proposal.sub_action
        if is_of_it and is_before and same_code(earlier.code, proposal.code):
            found = earlier.version
    return found


def iteration_repeated(session: Session, plan: Plan) -> int | None:
    """Number of the earlier iteration whose agreed plan is the same, if any."""
    for _, payload in _history(session, {PlanApproved.KIND}):
        earlier = Plan.model_validate(payload["plan"])
        if earlier.iteration < plan.iteration and earlier.subtasks == plan.subtasks:
            return earlier.iteration
    return None


def _history(session: Session, kinds: set[str]) -> list[tuple[str, dict[str, object]]]:
    session.flush()
    found: list[tuple[str, dict[str, object]]] = []
    after = 0
    while rows := session.journal.events(session.run_id, after=after, kinds=kinds, limit=_PAGE):
        found += [(row.kind, dict(row.payload)) for row in rows]
        after = rows[-1].seq
    return found


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
