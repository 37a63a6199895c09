"""The fast agent by rules: policy code composed from behaviours, version after version.

A behaviour is a readable program text in `behaviours/*.policy`. Which one, and with which names and
amounts, follows from the sub-action and the recipes; what a new version changes follows from what
went wrong. The state of a version is read back from the code itself, so nothing is remembered.
"""

from __future__ import annotations

from engine.agents.plan import CodeProposal, LearningProposal, SubAction
from engine.agents.protocols import CodeDraft, Feedback, TaskContext, WorkingCode
from engine.agents.rules.planner import AUTHOR
from engine.agents.rules.programs import ProgramWriter
from engine.agents.rules.variants import Variant, change, read_variant
from engine.errors import AgentError
from engine.worlds.base import World


class RulesFastAgent:
    """Writes code for the sub-actions of the rules' slow agent, and for similar ones."""

    author = AUTHOR

    def __init__(self, world: World) -> None:
        self._world = world

    def write(
        self,
        context: TaskContext,
        sub_action: SubAction,
        base: CodeProposal | None,
        feedback: Feedback,
    ) -> CodeDraft:
        """Code that defines `run() -> str`.

        Raises:
            AgentError: no behaviour fits the sub-action, or there is nothing left to change.
        """
        writer = ProgramWriter(self._world, context.task)
        if base is None:
            code = writer.write(sub_action, Variant.first(sub_action))
            return CodeDraft(code, f"composed from the behaviour `{writer.behaviour(sub_action)}`")
        if feedback.diagnostics:
            raise AgentError(
                f"the rules cannot mend code of {base.sub_action!r} that fails the static check",
                "edit it yourself, or use `--agents llm`",
            )
        before = read_variant(base.code, sub_action)
        for after, comment in change(before, sub_action, feedback):
            code = writer.write(sub_action, after)
            if code != base.code:
                return CodeDraft(code, _with_warning(comment, base))
        raise AgentError(
            f"the rules have nothing new for {base.sub_action!r} after version {base.version}",
            "edit the code, mark the sub-action rl, or use `--agents llm`",
        )

    def configure(
        self,
        context: TaskContext,
        sub_action: SubAction,
        working: tuple[WorkingCode, ...],
        base: LearningProposal | None,
        comment: str,
    ) -> None:
        """As the plan has it: the rules' choices, all that is observed, no shaping."""
        del context, sub_action, working, base, comment


def _with_warning(comment: str, base: CodeProposal) -> str:
    if "+person" in base.author:
        return f"{comment}; written anew from the behaviour, because rules cannot edit your text"
    return comment
