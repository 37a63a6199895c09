"""Forms for one part of a plan: all fields at a glance, refused edits say why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Label, Select, Static, TextArea

from studio import keymap
from studio.counts import CountError, parse_count
from studio.screens.base import StudioModal
from studio.widgets.key_bar import KeyBar
from studio.widgets.plan_rows import BUDGET_WORDS

if TYPE_CHECKING:
    from engine.agents.plan import Plan, SubAction, Subtask
    from engine.agents.plan_edit import ActionField, Edit

_ACTION_TEXTS: tuple[ActionField, ...] = (
    "success",
    "precondition",
    "interrupt",
    "due",
    "instruction",
    "reason",
)

_ADDED = "added by a person"
_CHOICES = "what it may choose against the plan, with commas; any when empty"
Apply = Callable[["Edit"], str | None]
"""Does an edit; the reason when it is refused, else None."""


class PlanForm(StudioModal[bool]):
    """A form that stays open until its edit is accepted or the person backs out."""

    BINDINGS = keymap.bindings("dialog")

    def __init__(self, title: str, apply: Apply) -> None:
        super().__init__()
        self._title = title
        self._apply = apply

    def compose(self) -> ComposeResult:
        """Fields, and below them the reason of a refusal."""
        with Vertical(classes="dialog form") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("enter or ^s accept · tab next field · esc back")
            with VerticalScroll(can_focus=False):
                yield from self.fields()
            yield Static(markup=False, classes="form-error")
        yield KeyBar()

    def fields(self) -> ComposeResult:
        """The form's own fields."""
        yield from ()

    def edit(self) -> Edit:
        """The edit the fields ask for; raises `CountError` for a number that is none."""
        raise NotImplementedError

    def action_accept(self) -> None:
        """Do the edit, or say why not."""
        try:
            refused = self._apply(self.edit())
        except CountError as error:
            refused = str(error)
        if refused is None:
            self.dismiss(True)
            return
        self.query_one(".form-error", Static).update(Content(f"✗ {refused}"))

    def action_back(self) -> None:
        """The plan stays as it is."""
        self.dismiss(False)

    def on_input_submitted(self) -> None:
        """Enter in a field accepts the form."""
        self.action_accept()

    def value(self, field: str) -> str:
        """What stands in a field now."""
        widget = self.query_one(f"#field-{field}", Widget)
        if isinstance(widget, TextArea):
            return " ".join(widget.text.split())
        if isinstance(widget, Select):
            return str(widget.value)
        return widget.value.strip() if isinstance(widget, Input) else ""


class ActionForm(PlanForm):
    """All fields of a sub-action; a new one when `action` is None."""

    def __init__(self, action: SubAction | None, subtask: str, at: int, apply: Apply) -> None:
        name = "New sub-action" if action is None else f"Sub-action {action.name}"
        super().__init__(name, apply)
        self._action = action
        self._subtask = subtask
        self._at = at

    def fields(self) -> ComposeResult:
        """Short fields first, texts below."""
        from engine.agents.plan_edit import CODE_FRAMES

        action = self._action
        yield _line("name", action.name if action else "", "lower case, as in gather_wood")
        yield _choice("mode", action.mode if action else "code")
        yield _line("success", action.success if action else "", "true when it did its work")
        yield _line("precondition", action.precondition if action else "true", "when it may start")
        yield _line("interrupt", action.interrupt if action else "false", "when it must yield")
        yield _line("due", action.due if action else "true", "when code alone starts it")
        choices = _line("choices", ", ".join(action.choices) if action else "", _CHOICES)
        choices.display = action is not None and action.mode == "rl"
        yield choices
        frames = action.budget if action else CODE_FRAMES
        with _line("budget", f"{frames:,}", "env frames"):
            yield Label(BUDGET_WORDS[action.mode if action else "code"], classes="form-unit")
        yield _text("instruction", action.instruction if action else "")
        yield _text("reason", action.reason if action else _ADDED)

    @on(Select.Changed, "#field-mode")
    def _mode_changed(self, event: Select.Changed) -> None:
        self.query_one(".form-unit", Label).update(BUDGET_WORDS[str(event.value)])
        row = self.query_one("#field-choices").parent
        if isinstance(row, Widget):
            row.display = event.value == "rl"

    def edit(self) -> Edit:
        """One edit, so that one undo takes it back."""
        from engine.agents.plan import SubAction
        from engine.agents.plan_edit import add_action

        budget = parse_count(self.value("budget"), "the budget")
        if self._action is not None:
            return self._change(self._action, budget)

        def edit(plan: Plan) -> Plan:
            blank = SubAction(
                name=_free_name(plan),
                mode="code",
                reason=_ADDED,
                instruction="",
                success="",
                budget=1,
            )
            if self.value("mode") == "rl":
                blank = blank.model_copy(update={"mode": "rl"})
            return self._change(blank, budget)(add_action(plan, self._subtask, blank, self._at))

        return edit

    def _change(self, action: SubAction, budget: int) -> Edit:
        from engine.agents.plan_edit import flip_mode, rename_action, set_action

        new_name, mode = self.value("name"), self.value("mode")
        values: dict[ActionField, str] = {name: self.value(name) for name in _ACTION_TEXTS}
        choices = _names(self.value("choices"))

        def edit(plan: Plan) -> Plan:
            if mode != action.mode:
                changed = None if budget == action.budget else budget
                plan = flip_mode(plan, action.name, budget=changed)
            elif budget != action.budget:
                plan = set_action(plan, action.name, "budget", budget)
            for field, value in values.items():
                if value != " ".join(str(getattr(action, field)).split()):
                    plan = set_action(plan, action.name, field, value)
            if choices != action.choices:
                plan = set_action(plan, action.name, "choices", choices)
            return rename_action(plan, action.name, new_name)

        return edit


class SubtaskForm(PlanForm):
    """All fields of a subtask; a new one when `subtask` is None."""

    def __init__(self, subtask: Subtask | None, at: int, apply: Apply) -> None:
        super().__init__("New subtask" if subtask is None else f"Subtask {subtask.name}", apply)
        self._subtask = subtask
        self._at = at

    def fields(self) -> ComposeResult:
        """Name, success, what comes before it, goal."""
        subtask = self._subtask
        yield _line("name", subtask.name if subtask else "", "lower case, as in make_table")
        yield _line("success", subtask.success if subtask else "", "true when it is done")
        needs = ", ".join(subtask.depends_on) if subtask else ""
        yield _line("depends_on", needs, "subtasks before it, with commas")
        yield _text("goal", subtask.goal if subtask else "")

    def edit(self) -> Edit:
        """One edit, so that one undo takes it back."""
        from engine.agents.plan import Subtask
        from engine.agents.plan_edit import add_subtask, rename_subtask, set_subtask

        needs = _names(self.value("depends_on"))
        name, goal, success = self.value("name"), self.value("goal"), self.value("success")
        old = self._subtask

        def edit(plan: Plan) -> Plan:
            key = _free_name(plan) if old is None else old.name
            if old is None:
                plan = add_subtask(plan, Subtask(name=key, goal=goal, success=""), self._at)
            plan = set_subtask(plan, key, "success", success)
            plan = set_subtask(plan, key, "depends_on", needs)
            if old is not None and goal != " ".join(old.goal.split()):
                plan = set_subtask(plan, key, "goal", goal)
            return rename_subtask(plan, key, name)

        return edit


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _free_name(plan: Plan) -> str:
    """A name nothing in the plan has; the form's own name follows in the same edit."""
    taken = {subtask.name for subtask in plan.subtasks}
    taken |= {action.name for action in plan.sub_actions()}
    number = 1
    while f"unnamed_{number}" in taken:
        number += 1
    return f"unnamed_{number}"


def _row(name: str, widget: Widget) -> Horizontal:
    widget.id = f"field-{name}"
    label = Label(name.replace("_", " "), classes="form-label", markup=False)
    return Horizontal(label, widget, classes="form-row")


def _line(name: str, value: str, placeholder: str) -> Horizontal:
    return _row(name, Input(value, placeholder=placeholder, compact=True, select_on_focus=False))


def _text(name: str, value: str) -> Horizontal:
    row = _row(name, TextArea(value, compact=True, classes="form-text"))
    row.add_class("-tall")
    return row


def _choice(name: str, value: str) -> Horizontal:
    options = [("code: the fast agent writes it", "code"), ("rl: PPO learns it", "rl")]
    return _row(name, Select(options, value=value, allow_blank=False, compact=True))
