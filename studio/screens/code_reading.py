"""Reading code: diff, versions, copy, editing in place and in the person's own editor."""

from __future__ import annotations

from textual import on, work

from studio import editor
from studio.screens.run_screen import RunScreen
from studio.syntax import syntax_problem
from studio.widgets.review_view import ReviewView


class CodeReading(RunScreen):
    """Actions on the code that is looked at."""

    def draw_code(self) -> None:
        """Show the proposal the model points at."""
        self.review.show(self.model.reviewed())

    def action_toggle_diff(self) -> None:
        """Between the whole code and what changed."""
        if not self.review.toggle_diff():
            self.app.toast("There is no earlier version to compare with.")

    def action_next_change(self) -> None:
        """To the next change of the diff."""
        self.review.jump(1)

    def action_previous_change(self) -> None:
        """To the change before."""
        self.review.jump(-1)

    def action_earlier(self) -> None:
        """To the proposal before this."""
        self._browse(-1)

    def action_later(self) -> None:
        """To the proposal after this."""
        self._browse(1)

    def _browse(self, step: int) -> None:
        if self.review.editing:
            return
        if self.model.browse(step):
            self.redraw()
            self.note_shown()
        else:
            self.app.toast("That is the first one." if step < 0 else "That is the newest one.")

    def action_copy_code(self) -> None:
        """All of the shown code goes to the clipboard."""
        shown = self.review.shown
        if shown is not None:
            self.app.copy_to_clipboard(shown.code)
            self.app.toast(f"Copied the code of {shown.proposal.sub_action}.")

    def begin_code_edit(self) -> None:
        """Edit the asked code in place."""
        self.review.begin_edit()
        self.redraw()
        self.refresh_bindings()

    def action_keep_edit(self) -> None:
        """Leave the editor with the text, when it is Python at all."""
        self.review.end_edit(keep=True)

    def give_up_edit(self) -> bool:
        """Leave the editor without the text; False when nothing is being edited."""
        if not self.review.editing:
            return False
        if self.review.has_unkept_edit:
            self.app.toast("The edit was given up; the code is as proposed.")
        self.review.end_edit(keep=False)
        return True

    @on(ReviewView.EditEnded)
    def _edit_ended(self, message: ReviewView.EditEnded) -> None:
        if message.text is not None:
            self.take_edit(message.text)
        self.redraw()
        self.refresh_bindings()

    def take_edit(self, text: str) -> None:
        """Remember what the person made of the asked code."""
        shown = self.model.reviewed()
        if shown is None or not self.model.on_asked_code:
            return
        unchanged = text.rstrip() == shown.proposal.code.rstrip()
        self.model.edited = None if unchanged else text
        if unchanged:
            self.app.toast("Nothing was changed.")
        elif (problem := syntax_problem(text)) is not None:
            self.app.toast(f"Kept, but it is not valid Python yet: {problem}", "warning")

    @work(group="editor", exclusive=True)
    async def action_external_editor(self) -> None:
        """Edit the asked code in $VISUAL or $EDITOR."""
        if not self.model.on_asked_code:
            self.app.toast("Only code that waits for your approval can be edited.")
            return
        if not self.shows_asked():
            self.bring_up_asked()
        shown = self.model.reviewed()
        if shown is None:
            return
        inside = self.review.edited_text
        text = shown.code if inside is None else inside
        name = f"{shown.proposal.sub_action}.py"
        try:
            changed = await editor.edit(self.app, text, name, self.app.settings.editor)
        except editor.EditorError as error:
            self.app.show_error("The editor could not be used", error)
            return
        self.review.leave_edit()
        self.take_edit(changed)
        self.redraw()
        self.refresh_bindings()
