"""Deciding: approve, edit, send back, approve all. What is decided is exactly what was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.widgets import Input

from skills_db.errors import AlreadyDecided
from studio.screens.code_reading import CodeReading
from studio.screens.dialogs import Choice, ChoiceDialog, CommentDialog
from studio.syntax import syntax_problem

if TYPE_CHECKING:
    from skills_db.records import ApprovalRecord, Decision, Json

_REJECT = {
    "plan": ("Send the plan back", "What should the slow agent do differently?"),
    "code": ("Send the code back", "What should the fast agent do differently?"),
    "learning": ("Send it back", "How should the fast agent have it learnt instead?"),
}
_UNSENT = (
    Choice("s", "Send it back", "send", "With a comment, which may say what you had changed."),
    Choice("b", "Back", "back", "Your edits stay; they can be approved."),
)


class Deciding(CodeReading):
    """Actions on what the run asks."""

    def changed_payload(self, approval: ApprovalRecord) -> Json | None:
        """The payload as the person changed it; None when it is as it was asked."""
        if approval.kind == "code" and self.model.edited is not None:
            return {"code": self.model.edited}
        return None

    def refusal(self, approval: ApprovalRecord) -> str | None:
        """Why what is shown cannot be approved; None when it can."""
        if approval.kind != "code" or self.model.edited is None:
            return None
        problem = syntax_problem(self.model.edited)
        return None if problem is None else f"your edit is not valid Python: {problem}"

    def unsent_words(self, approval: ApprovalRecord) -> str:
        """What sending it back would lose; empty when the person has changed nothing."""
        if approval.kind != "code" or self.model.edited is None:
            return ""
        return "Your edit of the code is not sent along; the fast agent writes the code anew."

    @property
    def is_edited(self) -> bool:
        """True when code that is asked is another than the one proposed."""
        return self.model.asks("code") and self.model.edited is not None

    def take_edit_back(self) -> None:
        """What is asked is as it was proposed."""
        self.model.edited = None

    def edit_asked(self, approval: ApprovalRecord) -> None:
        """Begin to edit what is asked."""
        if approval.kind == "code":
            self.begin_code_edit()

    def applies(self, reads_code: bool) -> dict[str, bool]:
        """Which of the actions on questions and code apply now."""
        review, approval = self.review, self.model.approval
        asked = approval is not None and not self.is_editing
        saving = approval is not None and approval.kind == "save"
        failing = approval is not None and approval.kind == "model"
        return {
            "approve": asked and not failing,
            "try_again": asked and failing,
            "use_rules": asked and failing,
            "as_proposed": asked and self.is_edited,
            "edit": asked and not saving and not failing,
            "reject": asked and not saving and not failing,
            "save_nothing": asked and saving,
            "approve_all": asked and not failing,
            "keep_edit": self.is_editing,
            "external_editor": self.model.asks("code") and not isinstance(self.focused, Input),
            "toggle_diff": reads_code and review.has_base and not review.editing,
            "next_change": reads_code and review.shows_diff and not review.editing,
            "previous_change": reads_code and review.shows_diff and not review.editing,
            "earlier": reads_code,
            "later": reads_code,
            "copy_code": reads_code,
            "review": bool(self.model.view.proposals) and not review.editing,
        }

    def ready(self) -> ApprovalRecord | None:
        """What is asked, if the person has had it in front of them long enough to decide."""
        approval = self.model.approval
        if approval is None or self.is_editing:
            return None
        if not self.shows_asked():
            self.bring_up_asked()
            return None
        return None if self.in_grace else approval

    @work(group="decide")
    async def action_approve(self) -> None:
        """Approve what is shown, with the person's own changes."""
        approval = self.ready()
        if approval is None:
            return
        refused = self.refusal(approval)
        if refused is not None:
            self.app.toast(f"Not approved: {refused}", "error")
            return
        await self.approve(approval)

    async def approve(self, approval: ApprovalRecord) -> bool:
        """Write the approval; True when it stands."""
        changed = self.changed_payload(approval)
        return await self.decide(
            approval, "approve" if changed is None else "modify", payload=changed
        )

    def action_edit(self) -> None:
        """Edit what is asked."""
        approval = self.model.approval
        if approval is None:
            return
        if not self.shows_asked():
            self.bring_up_asked()
        self.edit_asked(approval)

    def action_as_proposed(self) -> None:
        """Take the person's edit back."""
        self.take_edit_back()
        self.app.toast("Your edit was taken back; this is what was proposed.")
        self.redraw()
        self.refresh_bindings()

    @work(group="decide")
    async def action_reject(self) -> None:
        """Send it back with a comment."""
        approval = self.ready()
        if approval is None:
            return
        unsent = self.unsent_words(approval)
        if unsent and await self.app.push_screen_wait(
            ChoiceDialog("Send it back without your edits?", unsent, _UNSENT)
        ) != ("send"):
            return
        title, question = _REJECT[approval.kind]
        comment = await self.app.push_screen_wait(
            CommentDialog(f"{title}: {approval.subject}", question, "may stay empty")
        )
        if comment is not None:
            await self.decide(approval, "reject", comment=comment)

    @work(group="decide")
    async def action_try_again(self) -> None:
        """Ask the model once more."""
        approval = self.ready()
        if approval is not None:
            await self.decide(approval, "approve")

    @work(group="decide")
    async def action_use_rules(self) -> None:
        """The rules agents go on with the run."""
        approval = self.ready()
        if approval is not None:
            await self.decide(approval, "modify", payload={"agents": "rules"})

    @work(group="decide")
    async def action_save_nothing(self) -> None:
        """No skill is kept, after one question."""
        approval = self.ready()
        if approval is None:
            return
        choices = (
            Choice("n", "Save nothing", "nothing", "The run finishes; no skill is kept."),
            Choice("b", "Back", "back"),
        )
        text = "Nothing of this run goes to the skill library."
        picked = await self.app.push_screen_wait(ChoiceDialog("Save nothing?", text, choices))
        if picked == "nothing":
            await self.decide(approval, "reject")

    @work(group="decide")
    async def action_approve_all(self) -> None:
        """Approve this and all that follows, after one question."""
        approval = self.ready()
        if approval is None:
            return
        refused = self.refusal(approval)
        if refused is not None:
            self.app.toast(f"Not approved: {refused}", "error")
            return
        choices = (
            Choice("A", "Approve all", "all", "This run asks nothing more, unless its language"
                   " model fails, and saves what works as skills; code still runs only in the"
                   " sandbox."),
            Choice("b", "Back", "back", "Go on deciding one by one."),
        )  # fmt: skip
        text = "Approve this and everything the run would ask from here on, saving too?"
        picked = await self.app.push_screen_wait(ChoiceDialog("Approve all?", text, choices))
        if picked == "all" and await self.approve(approval):
            run_id = approval.run_id
            await self.bridge_job(
                "The run could not be told",
                lambda: self.app.bridge.send(run_id, "approve_all"),
            )

    async def decide(
        self,
        approval: ApprovalRecord,
        decision: Decision,
        *,
        comment: str = "",
        payload: Json | None = None,
    ) -> bool:
        """Write a decision. The question leaves the screen at once and comes back on failure."""
        kept = (self.model.edited, self.model.index)
        self.approval_gone(approval)
        try:
            await self.app.in_thread(
                lambda: self.app.bridge.decide(approval, decision, comment=comment, payload=payload)
            )
        except AlreadyDecided as error:
            self.app.toast(f"{error.message} {error.hint}".strip())
            return False
        except Exception as error:
            self.approval_back(approval)
            self.model.edited, self.model.index = kept
            self.redraw()
            self.app.show_error("The decision could not be written", error)
            return False
        return True

    def approval_gone(self, approval: ApprovalRecord) -> None:
        """The person has decided: nothing is asked any more."""
        raise NotImplementedError

    def approval_back(self, approval: ApprovalRecord) -> None:
        """The decision was not written: it is asked as before."""
        raise NotImplementedError
