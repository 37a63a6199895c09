"""The panes of a run: which are on the screen, which has the keyboard, whether they follow."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events, on
from textual.widget import Widget

from studio.screens.run_screen import RunScreen
from studio.widgets.follow_lines import FollowLines
from studio.widgets.pane_bar import PaneBar
from studio.widgets.plan_editor import PlanEditor
from studio.words import Sign

PANES = (
    ("plan", "Plan"),
    ("code", "Code"),
    ("trials", "Trials"),
    ("training", "Training"),
    ("results", "Results"),
    ("log", "Log"),
)
LEFT = frozenset({"plan", "log"})
STAGES = {
    "planning": "plan",
    "coding": "code",
    "trials": "trials",
    "training": "training",
    "evaluating": "results",
    "saving": "results",
    "finished": "results",
}
ASKED_IN = {"plan": "plan", "code": "code", "learning": "training", "save": "results"}
"""Panes that belong to a question; what to do without a model belongs to none."""
YOUR_TURN = Sign("◆", "?", "your turn", "warn")


class Panes(RunScreen):
    """Two columns when wide, one when narrow; the panes follow the run until told otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.following = True
        self.pane = "plan"
        self._right = "code"
        self._moving = False
        self._focused: Widget | None = None
        self._ready = False

    def action_pane(self, pane: str) -> None:
        """The person goes to a pane; the panes follow the run no longer."""
        self.following = False
        self.go(pane)

    def action_follow(self) -> None:
        """The panes follow the run again, from what is newest in each of them."""
        self.following = True
        self._follow_stage()
        self._place()
        for lines in self.query(FollowLines):
            lines.follow_end()
        at_work = self.model.at_work
        if at_work is not None:
            self.query_one(PlanEditor).select_action(at_work)

    @property
    def is_behind(self) -> bool:
        """True when lines on the screen were scrolled away from their end."""
        return any(is_displayed(lines) and not lines.follows for lines in self.query(FollowLines))

    @on(PaneBar.Picked)
    def _picked(self, message: PaneBar.Picked) -> None:
        self.action_pane(message.pane)

    def go(self, pane: str) -> None:
        """Show a pane and put the keyboard there."""
        self.pane = pane
        if pane not in LEFT:
            self._right = pane
        self._place()
        self._moving = True
        target = first_focusable(self.query_one(f"#{pane}"))
        if target is not None:
            target.focus()
        self.call_after_refresh(self._moved)

    def _moved(self) -> None:
        self._moving = False

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Tab or mouse went to another pane: that is where the person wants to be.

        When the widget with the keyboard was hidden, nobody wanted anything.
        """
        before, self._focused = self._focused, event.widget
        chosen = before is not None and is_displayed(before) and not self._moving
        pane = self.pane_of(event.widget)
        if pane is not None and pane != self.pane and chosen:
            self.following = False
            self.pane = pane
            if pane not in LEFT:
                self._right = pane
            self._place()

    def pane_of(self, widget: Widget) -> str | None:
        """Name of the pane a widget is in."""
        names = {name for name, _ in PANES}
        for node in widget.ancestors_with_self:
            if isinstance(node, Widget) and node.id in names and node.has_class("pane"):
                return node.id
        return None

    def shows(self, pane: str) -> bool:
        """True when a pane is on the screen now."""
        return self.app.screen is self and pane in self._visible()

    def _visible(self) -> tuple[str, ...]:
        if self.has_class("-wide"):
            return ("plan", "log") if self._planning else ("plan", self._right, "log")
        return (self.pane,)

    @property
    def _planning(self) -> bool:
        """True while there is nothing but a plan: it gets the whole width then."""
        return self.pane in LEFT and not self.model.view.proposals

    def _place(self) -> None:
        self.query_one("#panes").set_class(self._planning, "-planning")
        for pane, _ in PANES:
            widget = self.query_one(f"#{pane}")
            widget.set_class(pane == self.pane, "-active")
            widget.set_class(pane == self._right, "-right")
        self.app.bridge.wants_frames = "trials" in self._visible()
        self._draw_bar()
        self.note_shown()
        self.refresh_bindings()

    def _draw_bar(self) -> None:
        marks = {}
        if self.model.approval is not None and self.model.approval.kind in ASKED_IN:
            marks[ASKED_IN[self.model.approval.kind]] = YOUR_TURN
        bar = self.query_one(PaneBar)
        bar.show(self.pane, self._visible(), marks, self.following, self.app.press("run.follow"))

    def _follow_stage(self, anew: bool = False) -> None:
        """Bring what the run is doing to the front, unless the person is busy elsewhere.

        Args:
            anew: put the keyboard there also when the pane is in front already.
        """
        pane = self._stage()
        if not self.following or pane is None or self.is_editing:
            self._draw_bar()
        elif anew or pane != self.pane:
            self.go(pane)
        else:
            self._place()

    def _stage(self) -> str | None:
        if self.model.approval is not None:
            return ASKED_IN.get(self.model.approval.kind)
        return None if self.model.run is None else STAGES.get(self.model.run.state.value)

    def on_resize(self) -> None:
        """Other panes are visible now."""
        if self._ready:
            self.call_after_refresh(self._place)


def first_focusable(widget: Widget) -> Widget | None:
    """The widget itself or the first one in it that takes the keyboard."""
    if widget.focusable and widget.display:
        return widget
    return next(_focusable_in(widget), None)


def _focusable_in(widget: Widget) -> Iterator[Widget]:
    for child in widget.walk_children(Widget):
        if child.focusable and is_displayed(child):
            yield child


def is_displayed(widget: Widget) -> bool:
    """True when neither the widget nor anything around it is hidden."""
    around = (node for node in widget.ancestors_with_self if isinstance(node, Widget))
    return widget.is_attached and all(node.display for node in around)
