"""Two questions that stand above the panes: how to learn, and what to do without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.widgets import Input

from studio import editor
from studio.screens.deciding import Deciding
from studio.widgets.learning_view import LearningView
from studio.widgets.model_question import ModelQuestion
from studio.words import shorten

if TYPE_CHECKING:
    from textual.worker import Worker

    from engine.worlds.base import World
    from skills_db.records import ApprovalRecord, Json

ABOVE = frozenset({"learning", "model"})
"""Kinds that are asked above the panes."""


class Questions(Deciding):
    """The actions on them; everything else goes on to `Deciding`."""

    @property
    def learning(self) -> LearningView:
        """How to learn, while that is asked."""
        return self.query_one(LearningView)

    @property
    def is_editing(self) -> bool:
        """True while code or how to learn is edited in place."""
        return self.learning.editing or super().is_editing

    def show_question(self, approval: ApprovalRecord | None) -> None:
        """Show what is asked above the panes, or nothing."""
        from engine.agents.plan import LearningProposal

        kind = None if approval is None else approval.kind
        payload = {} if approval is None else dict(approval.payload)
        self.query_one(ModelQuestion).ask(payload if kind == "model" else None)
        asked = LearningProposal.model_validate(payload["proposal"]) if kind == "learning" else None
        self.learning.ask(asked, self.model.view.plan)
        if asked is not None:
            self._load_world_of_plan()

    def focus_question(self) -> None:
        """Put the keyboard on what is asked above the panes."""
        if self.model.asks("learning"):
            self.learning.focus_body()
        elif self.model.asks("model"):
            self.query_one(ModelQuestion).focus()

    @work(group="world", exclusive=True)
    async def _load_world_of_plan(self) -> None:
        """Predicates can be checked once the world is there; the run checks them in any case."""
        plan = self.model.view.plan
        if plan is None:
            return
        try:
            self.learning.world = await self.app.in_thread(lambda: load_world(plan.world))
        except Exception as error:
            self.app.show_error(f"The world {plan.world!r} is not there to check edits", error)

    def changed_payload(self, approval: ApprovalRecord) -> Json | None:
        """The edited proposal; None when it is as it was asked."""
        if approval.kind == "learning" and (edited := self.learning.edited) is not None:
            return {"proposal": edited.model_dump(mode="json")}
        return super().changed_payload(approval)

    def refusal(self, approval: ApprovalRecord) -> str | None:
        """Why what is shown cannot be approved; None when it can."""
        if approval.kind == "learning" and self.learning.problem is not None:
            return f"your edit cannot stand: {self.learning.problem}"
        return super().refusal(approval)

    def unsent_words(self, approval: ApprovalRecord) -> str:
        """What sending it back would lose."""
        if approval.kind == "learning" and self.learning.text is not None:
            return "Your edit is not sent along; the fast agent proposes anew."
        return super().unsent_words(approval)

    @property
    def is_edited(self) -> bool:
        """True when what is asked is other than proposed, also when it cannot stand."""
        if self.model.asks("learning"):
            return self.learning.text is not None
        return super().is_edited

    def take_edit_back(self) -> None:
        """What is asked is as it was proposed."""
        if self.model.asks("learning"):
            self.learning.take_back()
        else:
            super().take_edit_back()

    def edit_asked(self, approval: ApprovalRecord) -> None:
        """Edit how to learn as text, or what `Deciding` edits."""
        if approval.kind == "learning":
            self.learning.begin_edit()
            self.redraw()
            self.refresh_bindings()
        else:
            super().edit_asked(approval)

    def action_keep_edit(self) -> None:
        """Leave the editor with the text."""
        if not self.learning.editing:
            super().action_keep_edit()
            return
        self.learning.end_edit(keep=True)
        self._edit_left()

    def give_up_edit(self) -> bool:
        """Leave the editor without the text; False when nothing is being edited."""
        if not self.learning.editing:
            return super().give_up_edit()
        if self.learning.has_unkept_edit:
            self.app.toast("The edit was given up; what is asked is as it was.")
        self.learning.end_edit(keep=False)
        self._edit_left()
        return True

    def _edit_left(self) -> None:
        problem = self.learning.problem
        if problem is not None:
            self.app.toast(f"Kept, but it cannot stand yet: {shorten(str(problem), 200)}",
                           "warning")  # fmt: skip
        self.redraw()
        self.refresh_bindings()

    def action_external_editor(self) -> Worker[None]:
        """Edit what is asked in $VISUAL or $EDITOR."""
        if self.model.asks("learning"):
            return self._edit_learning_outside()
        return super().action_external_editor()

    @work(group="editor", exclusive=True)
    async def _edit_learning_outside(self) -> None:
        view = self.learning
        name = "learning.toml" if view.proposal is None else f"{view.proposal.sub_action}.toml"
        try:
            changed = await editor.edit(self.app, view.present_text, name, self.app.settings.editor)
        except editor.EditorError as error:
            self.app.show_error("The editor could not be used", error)
            return
        view.end_edit(keep=False)
        view.take(changed)
        self._edit_left()

    def applies(self, reads_code: bool) -> dict[str, bool]:
        """Which of the actions on questions apply now."""
        found = super().applies(reads_code)
        if self.model.asks("learning"):
            found["external_editor"] = not isinstance(self.focused, Input)
        return found


def load_world(name: str) -> World:
    """The world of that name; its packages are imported here, so call it in a thread."""
    from engine.worlds.registry import get_world

    return get_world(name)
