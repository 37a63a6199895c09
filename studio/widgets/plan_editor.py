"""The plan: to read while the run works, to edit before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static

from studio import keymap
from studio.run_view import RunView
from studio.widgets.charset import ascii_only
from studio.widgets.paint import MUTED
from studio.widgets.pick_list import PickList
from studio.widgets.plan_rows import Part, details, rows
from studio.widgets.reader import Reader

if TYPE_CHECKING:
    from engine.agents.plan import Plan
    from engine.agents.plan_edit import Edit, PlanHistory
    from engine.worlds.base import World

_EMPTY = "The plan appears here once the planner and the slow agent have written it."


SIDE_BY_SIDE = 84
"""From this width on the selected part stands beside the rows."""


class PlanList(PickList):
    """The rows of the plan."""


class PlanEditor(Vertical):
    """Rows above, the selected part in full below; edits go through `engine.agents.plan_edit`."""

    BINDINGS = keymap.bindings("plan")

    class Refused(Message):
        """An edit that cannot stand, with the reason; the plan is as it was."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    class Edited(Message):
        """The plan was changed by the person."""

    class Opened(Message):
        """The person wants to see what became of a sub-action."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._plan: Plan | None = None
        self._view = RunView()
        self._history: PlanHistory | None = None
        self._world: World | None = None
        self._locked = False
        self._edits = 0
        self._checked: tuple[Plan, tuple[str, ...]] | None = None

    def compose(self) -> ComposeResult:
        """Rows, then the part in full."""
        yield Static(Content.styled(_EMPTY, MUTED), classes="plan-empty")
        yield PlanList()
        yield Reader(classes="plan-details")

    @property
    def plan(self) -> Plan | None:
        """The plan as it stands now, with the person's edits."""
        return self._plan if self._history is None else self._history.current

    @property
    def editable(self) -> bool:
        """True while the plan waits for the person."""
        return self._history is not None and not self._locked

    @property
    def changed(self) -> bool:
        """True when the person has edited the plan."""
        return self._history is not None and self._history.changed

    @property
    def edits(self) -> int:
        """How many edits there are that an undo would take back."""
        return self._edits

    @property
    def selected(self) -> Part | None:
        """The highlighted part."""
        option = self.query_one(PlanList).highlighted_option
        if option is None or option.id is None:
            return None
        kind, _, name = option.id.partition(":")
        return Part("subtask" if kind == "subtask" else "action", name)

    def show(self, plan: Plan | None, view: RunView) -> None:
        """Show a plan to read; what the person edits meanwhile stays."""
        self._plan, self._view = plan, view
        self._draw()

    def begin(self, plan: Plan, world: World) -> None:
        """Let the person edit this plan."""
        from engine.agents.plan_edit import PlanHistory

        self._history, self._world, self._locked = PlanHistory(plan, world), world, False
        self._edits = 0
        self._draw()

    def end(self) -> None:
        """The plan is decided; edits are over."""
        self._history = None
        self._draw()

    def hold(self, locked: bool) -> None:
        """While a decision is being written: no edits, but nothing is lost either."""
        self._locked = locked
        self.refresh_bindings()

    def select_action(self, name: str) -> None:
        """Put the cursor on a sub-action, if the plan has it."""
        plan, part = self.plan, Part("action", name)
        if plan is not None and any(row.part == part for row in rows(plan)):
            self._select(part)

    def problems(self) -> tuple[str, ...]:
        """Every reason why the plan, as it is now, cannot stand."""
        from engine.agents.plan_edit import problems

        if self._history is None or self._world is None:
            return ()
        plan = self._history.current
        if self._checked is None or self._checked[0] is not plan:
            self._checked = plan, problems(plan, self._world)
        return self._checked[1]

    def try_edit(self, edit: Edit) -> str | None:
        """Do an edit; the reason when it is refused, else None."""
        from engine.errors import PlanError

        if self._history is None or self._locked:
            return "the plan is decided already"
        plan = self._history.current
        before = {row.part for row in rows(plan)}
        try:
            after = self._history.apply(edit)
        except PlanError as error:
            return f"{error.message} ({error.hint})" if error.hint else error.message
        self._edits += self._history.current is not plan
        self._draw()
        fresh = [row.part for row in rows(after) if row.part not in before]
        if fresh:
            self._select(fresh[0])
        self.post_message(self.Edited())
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Edits are offered only while the plan can be edited."""
        if action in ("add", "add_subtask", "delete", "flip", "move", "undo", "redo"):
            return self.editable
        return True

    def action_undo(self) -> None:
        """One edit back."""
        if self._history is not None:
            plan = self._history.current
            self._edits -= self._history.undo() is not plan
            self._draw()
            self.post_message(self.Edited())

    def action_redo(self) -> None:
        """One undone edit forward."""
        if self._history is not None:
            plan = self._history.current
            self._edits += self._history.redo() is not plan
            self._draw()
            self.post_message(self.Edited())

    def action_flip(self) -> None:
        """Code becomes rl, rl becomes code."""
        from engine.agents.plan_edit import flip_mode

        part = self.selected
        if part is None:
            return
        if part.kind == "subtask":
            self.post_message(self.Refused("only a sub-action is code or rl: select one"))
            return
        self._do(lambda plan: flip_mode(plan, part.name))

    def action_delete(self) -> None:
        """Delete the selected part; undo brings it back."""
        from engine.agents.plan_edit import delete_action, delete_subtask

        part = self.selected
        if part is not None:
            delete = delete_subtask if part.kind == "subtask" else delete_action
            self._do(lambda plan: delete(plan, part.name))

    def action_move(self, by: int) -> None:
        """Move the selected part; the selection goes with it."""
        from engine.agents.plan_edit import move_action, move_subtask

        part = self.selected
        if part is not None:
            move = move_subtask if part.kind == "subtask" else move_action
            self._do(lambda plan: move(plan, part.name, by))

    def action_add(self) -> None:
        """A form for a new sub-action after the selected part."""
        from studio.screens.plan_form import ActionForm

        place = self._place()
        if place is not None:
            subtask, at, _ = place
            self.app.push_screen(ActionForm(None, subtask, at, self.try_edit))

    def action_add_subtask(self) -> None:
        """A form for a new subtask after the selected one."""
        from studio.screens.plan_form import SubtaskForm

        place = self._place()
        at = 0 if place is None else place[2] + 1
        self.app.push_screen(SubtaskForm(None, at, self.try_edit))

    def edit_selected(self) -> None:
        """A form with all fields of the selected part."""
        from engine.agents.plan_edit import find_action, find_subtask
        from studio.screens.plan_form import ActionForm, SubtaskForm

        part, plan = self.selected, self.plan
        if part is None or plan is None or not self.editable:
            return
        if part.kind == "subtask":
            subtask = find_subtask(plan, part.name)
            self.app.push_screen(SubtaskForm(subtask, 0, self.try_edit))
        else:
            owner, action = find_action(plan, part.name)
            self.app.push_screen(ActionForm(action, owner.name, 0, self.try_edit))

    @on(OptionList.OptionSelected)
    def _open(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.editable:
            self.edit_selected()
        elif (part := self.selected) is not None and part.kind == "action":
            self.post_message(self.Opened(part.name))

    @on(OptionList.OptionHighlighted)
    def _draw_details(self) -> None:
        part, plan = self.selected, self.plan
        reader = self.query_one(".plan-details", Reader)
        if part is None or plan is None:
            reader.show_text(Content(""))
        else:
            reader.show_drawn(lambda width: details(plan, part, self._view, width))

    def on_resize(self, event: events.Resize) -> None:
        """Wide enough, the selected part goes beside the rows."""
        self.set_class(event.size.width >= SIDE_BY_SIDE, "-side")

    def _do(self, edit: Edit) -> None:
        refused = self.try_edit(edit)
        if refused is not None:
            self.post_message(self.Refused(refused))

    def _place(self) -> tuple[str, int, int] | None:
        """Where something new goes: subtask, position in it, position of the subtask."""
        part, plan = self.selected, self.plan
        if part is None or plan is None:
            return None
        for number, subtask in enumerate(plan.subtasks):
            if part == Part("subtask", subtask.name):
                return subtask.name, 0, number
            names = [action.name for action in subtask.sub_actions]
            if part.kind == "action" and part.name in names:
                return subtask.name, names.index(part.name) + 1, number
        return None

    def _select(self, part: Part) -> None:
        listed = self.query_one(PlanList)
        listed.highlighted = listed.get_option_index(part.key)

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        plan, listed = self.plan, self.query_one(PlanList)
        self.query_one(".plan-empty").display = plan is None
        listed.display = plan is not None
        self.query_one(".plan-details").display = plan is not None
        if plan is None:
            return
        view, ascii_too = self._view, ascii_only(self)
        listed.show_rows(
            rows(plan),
            lambda row: row.part.key,
            lambda row, width: row.draw(view, width, ascii_too),
        )
        self._draw_details()
