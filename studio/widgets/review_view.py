"""One code proposal with all a person needs to decide about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import ContentSwitcher, Static, TextArea

from studio.widgets.code_view import CodeView
from studio.widgets.diff_view import DiffView
from studio.widgets.paint import painted, spread, toned
from studio.words import Sign, author_words, plural, shorten

if TYPE_CHECKING:
    from engine.agents.plan import CodeDiagnostic, CodeProposal
    from studio.syntax import SyntaxProblem

PASSED = Sign("✔", "+", "check passed", "good")
FOUND = Sign("✗", "x", "check", "bad")
EDITED = Sign("✎", "*", "edited by you, checked again when approved", "warn")
HEAD_FINDINGS = 2
"""So many findings are told above the code."""
_EMPTY = "No code yet. The fast agent writes it once the plan is approved."


@dataclass(frozen=True)
class Reviewed:
    """What the view shows: a proposal, what it is a change of, and what became of it."""

    proposal: CodeProposal
    base_code: str | None
    sign: Sign
    """What became of it: to review, approved, rejected, works, fails."""
    versions: int
    """How many versions this sub-action has by now."""
    place: str = ""
    """Which of all proposals of the run this is: `3 of 7`."""
    verdict: str = ""
    """The critic's words, once it has judged this version."""
    edited: str | None = None
    """The text as the person left it."""
    problem: SyntaxProblem | None = None
    """Why the person's text is no Python."""

    @property
    def code(self) -> str:
        """The code that would be approved."""
        return self.proposal.code if self.edited is None else self.edited

    @property
    def compare_with(self) -> str | None:
        """What a diff is against: the proposal for an edit, else the version before."""
        return self.base_code if self.edited is None else self.proposal.code


class CodeArea(TextArea):
    """The editor in place; esc leaves it instead of moving on to the next widget."""

    def on_key(self, event: events.Key) -> None:
        """The key goes on to whoever is bound to it."""
        if event.key == "escape":
            event.prevent_default()


class ReviewView(Vertical):
    """Instruction, check result, comment, and the code: to read, as a diff, or to edit."""

    class EditEnded(Message):
        """The person left the editor; `text` is None when the edit was given up."""

        def __init__(self, text: str | None) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.shown: Reviewed | None = None
        self._diff = False

    def compose(self) -> ComposeResult:
        """Head lines above, one of three bodies below."""
        yield Static(_EMPTY, markup=False, classes="review-head")
        with ContentSwitcher(initial="code-body"):
            yield CodeView(id="code-body")
            yield DiffView(id="diff-body")
            yield CodeArea.code_editor("", language="python", theme="css", id="edit-body")

    @property
    def editing(self) -> bool:
        """True while the text is being edited in place."""
        return self.query_one(ContentSwitcher).current == "edit-body"

    @property
    def shows_diff(self) -> bool:
        """True while the diff is shown."""
        return self._diff

    @property
    def has_base(self) -> bool:
        """True when there is something to compare the code with."""
        return self.shown is not None and self.shown.compare_with is not None

    @property
    def edited_text(self) -> str | None:
        """What stands in the editor; None when nothing is being edited."""
        return self.query_one("#edit-body", TextArea).text if self.editing else None

    def show(self, reviewed: Reviewed | None) -> None:
        """Show another proposal (or none); an edit in progress is never disturbed."""
        if reviewed == self.shown or self.editing:
            return
        before, self.shown = self.shown, reviewed
        if reviewed is None:
            self._draw_head()
            self.query_one(CodeView).show("")
            return
        other = before is None or before.proposal != reviewed.proposal
        if other or before is None or before.edited != reviewed.edited:
            self._diff = reviewed.compare_with is not None
            self._draw_body()
        self._draw_head()

    def toggle_diff(self) -> bool:
        """Between the whole code and the diff; False when there is nothing to compare with."""
        if not self.has_base or self.editing:
            return False
        self._diff = not self._diff
        had_focus = self.has_focus_within
        self._draw_body()
        self._draw_head()
        if had_focus:
            self.focus_body()
        return True

    def jump(self, step: int) -> bool:
        """To the next or previous change of the diff."""
        return self._diff and self.query_one(DiffView).jump(step)

    def focus_body(self) -> None:
        """Put the keyboard where the code is."""
        current = self.query_one(ContentSwitcher).current or "code-body"
        self.query_one(f"#{current}").focus()

    def begin_edit(self) -> None:
        """Edit the shown code in place."""
        if self.shown is None or self.editing:
            return
        area = self.query_one("#edit-body", TextArea)
        area.load_text(self.shown.code)
        self.query_one(ContentSwitcher).current = "edit-body"
        area.focus()
        problem = self.shown.problem
        if problem is not None and problem.line:
            row = min(problem.line, area.document.line_count) - 1
            column = min(max(0, problem.column - 1), len(area.document.get_line(row)))
            area.move_cursor((row, column), center=True)

    def end_edit(self, keep: bool) -> None:
        """Leave the editor, with the edited text or without it."""
        if not self.editing:
            return
        text = self.edited_text if keep else None
        self.leave_edit()
        self.post_message(self.EditEnded(text))

    def leave_edit(self) -> None:
        """Back to reading, without a word to anybody."""
        if self.editing:
            self._draw_body()
            self.focus_body()

    @property
    def has_unkept_edit(self) -> bool:
        """True when the editor holds something else than what it was opened with."""
        return self.shown is not None and self.edited_text not in (None, self.shown.code)

    def on_resize(self) -> None:
        """The head line is laid out by hand for the width."""
        self._draw_head()

    def _draw_body(self) -> None:
        reviewed, switcher = self.shown, self.query_one(ContentSwitcher)
        if reviewed is None:
            return
        if self._diff and reviewed.compare_with is not None:
            self.query_one(DiffView).show(reviewed.compare_with, reviewed.code)
            switcher.current = "diff-body"
        else:
            findings = reviewed.proposal.diagnostics if reviewed.edited is None else ()
            self.query_one(CodeView).show(reviewed.code, findings)
            switcher.current = "code-body"

    def _draw_head(self) -> None:
        head = self.query_one(".review-head", Static)
        if self.shown is None:
            head.update(toned(_EMPTY, "muted"))
            return
        head.update(_head(self.shown, self._diff, max(20, head.content_size.width)))


def _head(shown: Reviewed, diff: bool, width: int) -> Content:
    proposal = shown.proposal
    version = f"version {proposal.version}"
    if shown.versions > 1:
        version += f" of {shown.versions}"
    title = Content.assemble((proposal.sub_action, "bold"), toned(f"  {version}", "muted"))
    instruction = Content(" ".join(proposal.instruction.split()))
    what = "what changed" if diff else "the whole code"
    if diff and shown.edited is None:
        what = f"changes since version {proposal.base_version}"
    origin = what if shown.edited is not None else f"by {author_words(proposal.author)}, {what}"
    check = _check(shown)
    room = max(0, width - check.cell_length - 2)
    about = spread(check, toned(shorten(origin, room), "muted"), width)
    found = _first_findings(shown)
    # Findings go before the instruction: a long one must not push them out of sight.
    lines = [spread(title, painted(shown.sign), width)]
    lines += [about, *found, instruction] if found else [instruction, about]
    lines = [line for line in lines if line.plain]
    said = shown.verdict or " ".join(proposal.comment.split())
    if said:
        lines.append(toned(f"“{said}”", "muted"))
    return Content("\n").join(lines)


def _first_findings(shown: Reviewed) -> list[Content]:
    """The findings that are told in full; each also stands under its line of the code."""
    if shown.edited is not None:
        return []
    findings = shown.proposal.diagnostics
    lines = [toned(_finding(finding), "bad") for finding in findings[:HEAD_FINDINGS]]
    more = len(findings) - HEAD_FINDINGS
    return [*lines, toned(f"and {more} more", "muted")] if more > 0 else lines


def _finding(finding: CodeDiagnostic) -> str:
    where = f"line {finding.line}: " if finding.line else ""
    return f"{where}{finding.message} ({finding.code})"


def _check(shown: Reviewed) -> Content:
    if shown.problem is not None:
        return painted(FOUND, f"edited by you, not valid Python: {shown.problem}")
    if shown.edited is not None:
        return painted(EDITED)
    findings = shown.proposal.diagnostics
    if not findings:
        return painted(PASSED)
    return painted(FOUND, f"the check has {plural(len(findings), 'finding')}")
