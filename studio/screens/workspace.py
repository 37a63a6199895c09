"""The screen one sits in front of: plan, code, trials, training, results and log of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container

from studio import keymap
from studio.event_words import FREQUENT_KINDS, describe
from studio.messages import (
    ApprovalAsked,
    BridgeFailed,
    EventsArrived,
    FrameArrived,
    RunChanged,
)
from studio.notices import Said
from studio.run_model import RunModel
from studio.screens.panes import ASKED_IN, PANES, Panes
from studio.screens.questions import ABOVE, Questions, load_world
from studio.screens.run_screen import RunScreen
from studio.screens.steering import Steering, is_open, is_pausable, is_resumable
from studio.screens.thoughts import Thoughts
from studio.screens.ways import Ways
from studio.widgets.event_log import EventLog
from studio.widgets.key_bar import KeyBar
from studio.widgets.learning_view import LearningView
from studio.widgets.model_question import ModelQuestion
from studio.widgets.notice import Notice
from studio.widgets.pane_bar import PaneBar
from studio.widgets.plan_editor import PlanEditor
from studio.widgets.results_pane import ResultsPane
from studio.widgets.review_view import ReviewView
from studio.widgets.run_status import RunStatus
from studio.widgets.save_question import SaveQuestion
from studio.widgets.thinking import Thinking
from studio.widgets.too_small import TooSmall
from studio.widgets.training_panel import TrainingPanel
from studio.widgets.trial_panel import TrialPanel

if TYPE_CHECKING:
    from skills_db.records import ApprovalRecord, Json


class WorkspaceScreen(Questions, Thoughts, Ways, Steering, Panes):
    """Follows one run; what the person decides goes back to it."""

    BINDINGS = [
        *keymap.bindings("decide", "code", "run"),
        *keymap.bindings("dialog", only=frozenset({"dialog.back"})),
    ]

    is_workspace = True

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self.model = RunModel(run_id)
        self.following = True
        self.pane = "plan"
        self._right = "code"
        self._moving = False
        self.seen_seq = 0
        """Number of the newest event that was drawn."""
        self._last_line = ""

    def compose(self) -> ComposeResult:
        """One line of state, the panes, one line of what is wanted, the keys."""
        yield TooSmall()
        yield RunStatus(now=lambda: self.app.now(), id="status")
        yield PaneBar(self._titles(), id="pane-bar")
        yield Thinking(lambda: self.app.clock())
        yield LearningView()
        yield ModelQuestion(self.app.press)
        with Container(id="panes"):
            yield PlanEditor(id="plan", classes="pane")
            yield ReviewView(id="code", classes="pane")
            yield TrialPanel(id="trials", classes="pane")
            yield TrainingPanel(id="training", classes="pane")
            yield ResultsPane(id="results", classes="pane")
            yield EventLog(id="log", classes="pane")
        yield Notice(id="notice")
        yield KeyBar()

    def _titles(self) -> list[tuple[str, str]]:
        """Panes with the key that leads there, as the person has it."""
        return [(pane, f"{self.app.press(f'run.{pane}')} {title}") for pane, title in PANES]

    def on_mount(self) -> None:
        """Follow the run from its first event on."""
        for pane, title in PANES:
            self.query_one(f"#{pane}").border_title = title
        self._ready = True
        self._place()
        self.say()
        self.app.bridge.follow(self.model.run_id, self)

    def on_unmount(self) -> None:
        """The run goes on unseen."""
        self.app.bridge.unfollow(self)

    # --- what the run tells ---------------------------------------------------------------

    @on(EventsArrived)
    def _events(self, message: EventsArrived) -> None:
        try:
            with self.app.batch_update():
                self._apply(message)
        finally:
            message.applied.set()

    def _apply(self, message: EventsArrived) -> None:
        for event in message.decoded:
            if event is not None:
                self.model.view.apply(event)
                self._feed(event)
        self.query_one(EventLog).add(message.events)
        for record in reversed(message.events):
            if record.kind not in FREQUENT_KINDS:
                self._last_line = describe(record)
                break
        self.seen_seq = message.events[-1].seq
        self.redraw()

    @on(RunChanged)
    def _run_changed(self, message: RunChanged) -> None:
        before, self.model.run = self.model.run, message.run
        if message.run.seen_state == "failed" and (before is None or before.state != "failed"):
            self.look_for_cure(message.run)
        self.model.run_id = message.run.id
        self.query_one(RunStatus).show(message.run)
        self.query_one(TrainingPanel).show_state(message.run.seen_state)
        self.query_one(ResultsPane).show_state(message.run.seen_state, message.run.detail)
        self.redraw()
        self._follow_stage()
        self.refresh_bindings()

    @on(ApprovalAsked)
    def _asked(self, message: ApprovalAsked) -> None:
        self.set_approval(message.approval)
        if message.approval is not None and not self.app.app_focus:
            self.app.bell()

    @on(FrameArrived)
    def _frame(self, message: FrameArrived) -> None:
        self.query_one(TrialPanel).frame(message.frame)

    @on(BridgeFailed)
    def _failed(self, message: BridgeFailed) -> None:
        self.app.show_error("The run cannot be read", message.error)

    def _feed(self, event: object) -> None:
        """Each panel gets the events it draws."""
        from engine import events as told

        match event:
            case told.TrialFinished():
                self.query_one(TrialPanel).trial(event)
            case told.CritiqueGiven():
                self.query_one(TrialPanel).critique(event)
            case told.TrainingStarted():
                self.query_one(TrainingPanel).started(event)
            case told.TrainingMetrics():
                self.query_one(TrainingPanel).metrics(event)
            case told.DeviceSampled():
                self.query_one(TrainingPanel).device(event)
            case told.Evaluated():
                plan = self.model.view.plan
                author = "" if plan is None else plan.author
                self.query_one(ResultsPane).show_evaluation(event.evaluation, author)
            case told.SkillSaved():
                self.query_one(ResultsPane).show_saved(self.model.view.saved)
            case _:
                pass

    def redraw(self) -> None:
        """Draw what is known of the run, here and in a review screen on top."""
        self.query_one(PlanEditor).show(self.model.view.plan, self.model.view)
        self.query_one(RunStatus).show_used(self.model.view.used)
        self.draw_code()
        self.draw_thoughts()
        self.say()
        if self.app.screen is not self and isinstance(self.app.screen, RunScreen):
            self.app.screen.redraw()

    # --- what the run asks ------------------------------------------------------------------

    def set_approval(self, approval: ApprovalRecord | None) -> None:
        """Something else is asked, or nothing any more."""
        self.model.set_approval(approval)
        plan, results = self.query_one(PlanEditor), self.query_one(ResultsPane)
        plan.end()
        if approval is not None and approval.kind == "plan":
            self.begin_plan(approval)
        if approval is not None and approval.kind == "save":
            results.ask(approval.payload["skills"])
        else:
            results.end_question()
        self.show_question(approval)
        self.redraw()
        self._follow_stage(anew=approval is not None)
        if self.following:
            self.focus_question()
        self.refresh_bindings()

    @work(group="plan", exclusive=True)
    async def begin_plan(self, approval: ApprovalRecord) -> None:
        """Make the asked plan editable once its world is there to check edits against."""
        from engine.agents.plan import Plan

        plan = Plan.model_validate(approval.payload["plan"])
        self.query_one(PlanEditor).show(plan, self.model.view)
        try:
            world = await self.app.in_thread(lambda: load_world(plan.world))
        except Exception as error:
            self.app.show_error(f"The world {plan.world!r} is not there to edit the plan", error)
            return
        if self.model.approval == approval:
            self.model.world = world
            self.query_one(PlanEditor).begin(plan, world)
            self.say()
            self.refresh_bindings()

    def changed_payload(self, approval: ApprovalRecord) -> Json | None:
        """The edited plan, the edited code, or the skills still ticked."""
        editor = self.query_one(PlanEditor)
        if approval.kind == "plan" and editor.changed and editor.plan is not None:
            return {"plan": editor.plan.model_dump(mode="json")}
        if approval.kind == "save":
            kept = list(self.query_one(ResultsPane).kept)
            offered = [str(skill["name"]) for skill in approval.payload["skills"]]
            return None if kept == offered else {"skills": kept}
        return super().changed_payload(approval)

    def refusal(self, approval: ApprovalRecord) -> str | None:
        """Why what is shown cannot be approved; None when it can."""
        if approval.kind == "plan":
            found = self.query_one(PlanEditor).problems()
            return found[0] if found else None
        return super().refusal(approval)

    def unsent_words(self, approval: ApprovalRecord) -> str:
        """What sending the plan or the code back would lose."""
        editor = self.query_one(PlanEditor)
        if approval.kind != "plan" or not editor.changed:
            return super().unsent_words(approval)
        edits, verb = ("edit", "is") if editor.edits == 1 else (f"{editor.edits} edits", "are")
        return f"Your {edits} {verb} not sent along; the slow agent writes a new plan."

    def edit_asked(self, approval: ApprovalRecord) -> None:
        """A form for the selected part of the plan, or the code in place."""
        if approval.kind == "plan":
            self.query_one(PlanEditor).edit_selected()
        else:
            super().edit_asked(approval)

    def approval_gone(self, approval: ApprovalRecord) -> None:
        """Decided: the panes follow the run again."""
        if self.model.approval != approval:
            return
        self.model.set_approval(None)
        self.query_one(PlanEditor).hold(True)
        self.query_one(ResultsPane).end_question()
        self.show_question(None)
        self.following = True
        self.redraw()
        self._place()

    def approval_back(self, approval: ApprovalRecord) -> None:
        """Not written: the person's edits are as they were."""
        self.model.set_approval(approval)
        self.show_question(approval)
        self.query_one(PlanEditor).hold(False)
        if approval.kind == "save":
            self.query_one(ResultsPane).reopen_question()
        self.redraw()
        self._place()

    def shows_asked(self) -> bool:
        """True when what is asked is on the screen."""
        approval = self.model.approval
        if approval is not None and approval.kind in ABOVE:
            return self.app.screen is self
        if approval is None or not self.shows(ASKED_IN[approval.kind]):
            return False
        return approval.kind != "code" or self.model.on_asked_code

    def bring_up_asked(self) -> None:
        """Go to what is asked."""
        approval = self.model.approval
        if approval is None:
            return
        if self.model.index is not None:
            self.model.index = None
            self.redraw()
        self.following = True
        self.go(ASKED_IN.get(approval.kind, self.pane))
        self.focus_question()
        self.seen_from_now()

    @on(PlanEditor.Refused)
    def _plan_refused(self, message: PlanEditor.Refused) -> None:
        self.app.toast(f"Not changed: {message.reason}", "warning")

    @on(PlanEditor.Edited)
    @on(SaveQuestion.Ticked)
    def _changed(self) -> None:
        self.say()

    def say(self) -> None:
        """What is wanted now."""
        self.query_one(Notice).show(self.said(self.review))

    def said(self, review: ReviewView) -> Said:
        """The sentence for the notice line; `review` is the view that shows the code."""
        model, editor, notices = self.model, self.query_one(PlanEditor), self.notices
        if model.asks("plan") and editor.plan is not None:
            return notices.plan_asked(editor.plan, editor.changed, editor.problems())
        if review.editing or self.learning.editing:
            return notices.editing()
        shown = review.shown
        if model.on_asked_code and shown is not None:
            has_base = shown.base_code is not None
            edited = model.edited is not None
            return notices.code_asked(shown.proposal, edited, has_base, shown.problem)
        if model.approval is not None and model.approval.kind == "save":
            skills = model.approval.payload["skills"]
            return notices.save_asked(len(skills), len(self.query_one(ResultsPane).kept))
        if (asked := self.learning.proposal) is not None:
            edited, problem = self.learning.text is not None, self.learning.problem
            return notices.learning_asked(asked.sub_action, edited, problem)
        if model.asks("model"):
            return notices.model_asked()
        if model.approval is not None:
            return notices.asked_elsewhere(model.approval.subject)
        return notices.standing(model, "" if self.shows("log") else self._last_line)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what applies now is offered in footer, palette and help."""
        if not self._ready:
            return False
        run = self.model.run
        applies = self.applies(reads_code=self._reads_code)
        applies |= self.ways() | {
            "pause": is_pausable(run),
            "continue": run is not None and run.seen_state == "paused",
            "stop": is_open(run),
            "resume": is_resumable(run) and not self.model.is_hopeless,
            "follow": not self.following or self.is_behind,
            "back": self.is_editing,
        }
        return applies.get(action, True)

    @property
    def _reads_code(self) -> bool:
        return self.pane == "code" and self.review.shown is not None and not self.review.editing

    def action_back(self) -> None:
        """One level back: out of the editor."""
        self.give_up_edit()

    def leave_words(self) -> str:
        """What leaving now would mean."""
        words = f"The run {self.model.run_id} is not over."
        if self.model.approval is not None:
            words = f"The run {self.model.run_id} waits for your decision; it can wait for days."
        return "\n".join(line for line in (words, self.lost_words()) if line)

    def lost_words(self) -> str:
        """Which edits of the person would be lost; empty when there are none."""
        lines = []
        if self.review.has_unkept_edit or self.model.edited is not None:
            lines.append("Your edit of the code is not approved yet and would be lost.")
        if self.learning.has_unkept_edit or self.learning.text is not None:
            lines.append("Your edit of how to learn is not approved yet and would be lost.")
        if self.query_one(PlanEditor).changed:
            lines.append("Your edits of the plan are not approved yet and would be lost.")
        return "\n".join(lines)

    @on(PlanEditor.Opened)
    def _opened(self, message: PlanEditor.Opened) -> None:
        index = self.model.view.latest(message.name)
        if index is None:
            self.app.toast(f"There is no code for {message.name} yet.")
            return
        newest = index == len(self.model.view.proposals) - 1
        self.model.index = None if newest else index
        self.draw_code()
        self.action_pane("code")

    def on_screen_resume(self) -> None:
        """Back from another screen: what came meanwhile begins to be seen now."""
        if not self._ready:
            return
        self.redraw()
        self._place()
