"""A plan as rows: subtasks, their sub-actions with mode, state and budget, and one part in full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from studio.run_view import OPEN, RunView, StepView
from studio.widgets.paint import FAINT, MUTED, spread, toned
from studio.words import compact, plural

if TYPE_CHECKING:
    from engine.agents.plan import Mode, Plan, SubAction, Subtask

MODE_WORDS: dict[str, str] = {"code": "code", "rl": "rl"}
BUDGET_WORDS: dict[str, str] = {
    "code": "env frames per execution",
    "rl": "env frames of training",
}
"""What the budget of a mode counts."""


@dataclass(frozen=True, slots=True)
class Part:
    """One selectable part of a plan."""

    kind: Literal["subtask", "action"]
    name: str

    @property
    def key(self) -> str:
        """Id of its row."""
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What one row shows: a subtask, or a sub-action of it."""

    part: Part
    subtask: Subtask
    action: SubAction | None = None

    def draw(self, view: RunView, width: int, ascii_only: bool) -> Content:
        """The row in so many cells."""
        if self.action is None:
            return _subtask_row(self.subtask, width)
        last = self.action is self.subtask.sub_actions[-1]
        return _action_row(self.action, view, width, last, ascii_only)


def rows(plan: Plan) -> tuple[PlanRow, ...]:
    """All parts of a plan, each subtask before its sub-actions."""
    found: list[PlanRow] = []
    for subtask in plan.subtasks:
        found.append(PlanRow(Part("subtask", subtask.name), subtask))
        found.extend(
            PlanRow(Part("action", action.name), subtask, action) for action in subtask.sub_actions
        )
    return tuple(found)


def badge(mode: Mode) -> Content:
    """The mode as a word; its colour only repeats it."""
    style = "$text-accent" if mode == "rl" else MUTED
    return Content.styled(f"{MODE_WORDS[mode]:<4}", style)


def budget(action: SubAction) -> str:
    """Env frames of one execution (code) or of training (rl)."""
    return f"{compact(action.budget)} frames"


def _subtask_row(subtask: Subtask, width: int) -> Content:
    name = Content.styled(subtask.name, "bold")
    room = max(0, width - name.cell_length - 2)
    success = Content.styled(subtask.success, FAINT).truncate(room, ellipsis=True)
    return spread(name, success, width)


def _action_row(
    action: SubAction, view: RunView, width: int, last: bool, ascii_only: bool
) -> Content:
    step = view.step(action.name)
    branch = ("`-" if last else "|-") if ascii_only else ("└─" if last else "├─")
    left = Content.assemble((branch, FAINT), " ", badge(action.mode), " ", action.name)
    if step.sign is OPEN:
        return spread(left, toned(budget(action), "muted"), width)
    words = f"{step.sign.mark(ascii_only)} {step.words}"
    return spread(left, toned(words, step.sign.tone), width)


def details(plan: Plan, part: Part, view: RunView, width: int) -> Content:
    """Everything the plan says about one part."""
    for row in rows(plan):
        if row.part == part:
            if row.action is None:
                return _subtask_details(row.subtask, width)
            return _action_details(row.action, view, width)
    return Content("")


def summary(plan: Plan) -> str:
    """The plan in one line: how much of what."""
    coded, learnt = len(plan.sub_actions("code")), len(plan.sub_actions("rl"))
    return (
        f"{plural(len(plan.subtasks), 'subtask')}: {coded} code, {learnt} rl, "
        f"{compact(plan.training_frames)} frames of rl"
    )


def _subtask_details(subtask: Subtask, width: int) -> Content:
    return _fields(
        width,
        ("goal", subtask.goal),
        ("success", subtask.success),
        ("depends on", ", ".join(subtask.depends_on) or "nothing"),
    )


def _action_details(action: SubAction, view: RunView, width: int) -> Content:
    step = view.step(action.name)
    return _fields(
        width,
        ("mode", action.mode),
        ("reason", action.reason),
        ("instruction", action.instruction),
        ("success", action.success),
        ("precondition", action.precondition),
        ("interrupt", action.interrupt),
        ("due", action.due),
        *_choices(action),
        ("budget", f"{action.budget:,} {BUDGET_WORDS[action.mode]}"),
        *_so_far(step),
    )


def _choices(action: SubAction) -> Iterator[tuple[str, str]]:
    if action.mode == "rl":
        yield "choices", ", ".join(action.choices) or "any action"


def _so_far(step: StepView) -> Iterator[tuple[str, str]]:
    if step.sign is not OPEN:
        said = f". {step.critique.text}" if step.critique is not None else ""
        yield "so far", f"{step.words}{said}"


_LABEL = 14


def _fields(width: int, *fields: tuple[str, str]) -> Content:
    """Labels at the left, values wrapped beside them."""
    lines: list[Content] = []
    for name, value in fields:
        text = Content(" ".join(value.split()))
        for number, line in enumerate(text.wrap(max(12, width - _LABEL)) or [Content()]):
            label = f"{name:<{_LABEL}}" if number == 0 else " " * _LABEL
            lines.append(Content.assemble((label, MUTED), line))
    return Content("\n").join(lines)
