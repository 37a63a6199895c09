"""How an rl sub-action is to be learnt: to read, or to edit as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import ContentSwitcher, Static, TextArea

from studio.learning_text import LearningProblem, as_text, from_text
from studio.widgets.paint import MUTED, painted, spread, toned
from studio.widgets.reader import Reader
from studio.widgets.review_view import EDITED, FOUND, CodeArea
from studio.words import author_words, shorten

if TYPE_CHECKING:
    from engine.agents.plan import LearningProposal, Plan, ShapingTerm
    from engine.worlds.base import World
    from studio.syntax import SyntaxProblem

_LABEL = 15


class LearningView(Vertical):
    """The proposal that is asked about; there only while it is."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.proposal: LearningProposal | None = None
        self.text: str | None = None
        """The text as the person left it; None while it is as proposed."""
        self.problem: SyntaxProblem | None = None
        """Why the person's text cannot stand."""
        self.plan: Plan | None = None
        self.world: World | None = None

    def compose(self) -> ComposeResult:
        """Head, and one of two bodies."""
        yield Static(markup=False, classes="learning-head")
        with ContentSwitcher(initial="learning-body"):
            yield Reader(id="learning-body")
            yield CodeArea("", theme="css", show_line_numbers=True, id="learning-edit")

    @property
    def editing(self) -> bool:
        """True while the text is being edited in place."""
        return self.query_one(ContentSwitcher).current == "learning-edit"

    @property
    def edited(self) -> LearningProposal | None:
        """What the person made of it; None when it is as proposed or cannot stand."""
        if self.text is None or self.proposal is None or self.problem is not None:
            return None
        return from_text(self.text, self.proposal, self.plan, self.world)

    @property
    def has_unkept_edit(self) -> bool:
        """True when the editor holds something else than what it was opened with."""
        return self.editing and self._area.text != self.full_text

    @property
    def present_text(self) -> str:
        """What stands in the editor, or would if it were opened."""
        return self._area.text if self.editing else self.full_text

    @property
    def full_text(self) -> str:
        """The proposal as text, with the person's changes."""
        if self.text is not None:
            return self.text
        return "" if self.proposal is None else as_text(self.proposal)

    @property
    def _area(self) -> TextArea:
        return self.query_one("#learning-edit", TextArea)

    def ask(self, proposal: LearningProposal | None, plan: Plan | None) -> None:
        """Show what is asked; None when nothing is any more."""
        self.proposal, self.plan = proposal, plan
        self.text = self.problem = None
        self.query_one(ContentSwitcher).current = "learning-body"
        self.display = proposal is not None
        self._draw()

    def take(self, text: str) -> None:
        """The person's text; one that cannot stand is kept, too, with the reason."""
        if self.proposal is None:
            return
        self.text, self.problem = text, None
        try:
            found = from_text(text, self.proposal, self.plan, self.world)
        except LearningProblem as error:
            self.problem = error.where
        else:
            if found.model_copy(update={"author": self.proposal.author}) == self.proposal:
                self.text = None
        self._draw()

    def take_back(self) -> None:
        """Forget the person's text."""
        self.text = self.problem = None
        self._draw()

    def begin_edit(self) -> None:
        """Edit it as text, in place."""
        if self.proposal is None or self.editing:
            return
        area = self._area
        area.load_text(self.full_text)
        self.query_one(ContentSwitcher).current = "learning-edit"
        area.focus()
        if self.problem is not None and self.problem.line:
            row = min(self.problem.line, area.document.line_count) - 1
            area.move_cursor((row, 0), center=True)
        self._draw()

    def end_edit(self, keep: bool) -> None:
        """Leave the editor, with the text or without it."""
        if not self.editing:
            return
        text = self._area.text
        self.query_one(ContentSwitcher).current = "learning-body"
        if keep:
            self.take(text)
        self._draw()
        self.focus_body()

    def focus_body(self) -> None:
        """Put the keyboard where the text is."""
        self.query_one(f"#{self.query_one(ContentSwitcher).current}").focus()

    def on_resize(self) -> None:
        """The head is laid out by hand for the width."""
        self._draw()

    def _draw(self) -> None:
        proposal = self.proposal
        self.set_class(self.editing, "-editing")
        if proposal is None:
            return
        head = self.query_one(".learning-head", Static)
        width = max(20, head.content_size.width)
        title = Content.assemble(
            ("How to learn ", MUTED),
            (proposal.sub_action, "bold"),
            toned(f"  version {proposal.version}", "muted"),
        )
        state = toned(f"by {shorten(author_words(proposal.author), 40)}", "muted")
        lines = [spread(title, state, width)]
        if self.problem is not None:
            lines.append(painted(FOUND, f"edited by you, cannot stand: {self.problem}"))
        elif self.text is not None:
            lines.append(painted(EDITED, "edited by you"))
        head.update(Content("\n").join(lines))
        if self.editing:
            return
        reader = self.query_one("#learning-body", Reader)
        if self.problem is not None:
            reader.show_text(Content(self.full_text))
        else:
            shown = self.edited or proposal
            reader.show_drawn(lambda width: drawn(shown, width))


def drawn(proposal: LearningProposal, width: int) -> Content:
    """Everything it says, with what an empty list means."""
    lines = [
        *_field("reason", proposal.reason or "none given", width),
        *_field("coded actions", ", ".join(proposal.actions) or "all that work", width),
        *_field("observation", ", ".join(proposal.observation) or "all parts", width),
    ]
    if not proposal.shaping:
        lines += _field("shaping", "none: the task's own rewards only", width)
    for number, term in enumerate(proposal.shaping):
        lines += _field("shaping" if number == 0 else "", _term(term), width)
    if proposal.shaping:
        lines += _field("", "paid once per episode, in training only; no evaluation has it", width)
    return Content("\n").join(lines)


def _term(term: ShapingTerm) -> str:
    return f"+{term.bonus:g} when first {term.predicate}"


def _field(name: str, value: str, width: int) -> list[Content]:
    text = Content(" ".join(value.split()))
    return [
        Content.assemble((f"{name if number == 0 else '':<{_LABEL}}", MUTED), line)
        for number, line in enumerate(text.wrap(max(12, width - _LABEL)) or [Content()])
    ]
