"""The agents' first plan and first code for a task, as they are before anybody has looked."""

from __future__ import annotations

from engine.agents.plan import CodeProposal, Plan, SubAction
from engine.agents.protocols import Agents, Feedback, TaskContext
from engine.agents.trials import coded_action
from engine.rl.options import CodedAction


def draft(agents: Agents, context: TaskContext) -> tuple[Plan, tuple[CodedAction, ...]]:
    """A plan, and version 1 of everything it marks as code; nothing is tried or approved.

    Raises:
        AgentError: the agents cannot plan or code for this task.
    """
    subtasks = tuple(
        subtask.model_copy(
            update={"sub_actions": agents.slow.sub_actions(context, subtask, (), ())}
        )
        for subtask in agents.planner.subtasks(context)
    )
    plan = Plan(
        task=context.task.words,
        world=context.world.name,
        author=agents.slow.author,
        subtasks=subtasks,
    )
    return plan, tuple(_code(agents, context, action) for action in plan.sub_actions("code"))


def _code(agents: Agents, context: TaskContext, action: SubAction) -> CodedAction:
    written = agents.fast.write(context, action, None, Feedback())
    proposal = CodeProposal(
        sub_action=action.name,
        version=1,
        instruction=action.instruction,
        code=written.code,
        author=agents.fast.author,
    )
    return coded_action(action, proposal)
