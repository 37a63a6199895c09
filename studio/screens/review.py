"""All code of a run on a screen of its own: what is asked, and every version before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import OptionList

from studio import keymap
from studio.screens.deciding import Deciding
from studio.widgets.charset import ascii_only
from studio.widgets.key_bar import KeyBar
from studio.widgets.notice import Notice
from studio.widgets.paint import spread, toned
from studio.widgets.pick_list import PickList
from studio.widgets.review_view import ReviewView
from studio.widgets.run_status import RunStatus
from studio.widgets.too_small import TooSmall

if TYPE_CHECKING:
    from skills_db.records import ApprovalRecord
    from studio.screens.workspace import WorkspaceScreen


class ProposalList(PickList):
    """Every version of every sub-action's code, in the order they came."""


class ReviewScreen(Deciding):
    """The code over the full width; the same keys as in the workspace."""

    BINDINGS = [
        *keymap.bindings("decide", "code"),
        *keymap.bindings("dialog", only=frozenset({"dialog.back"})),
    ]

    def __init__(self, workspace: WorkspaceScreen) -> None:
        super().__init__()
        self.workspace = workspace
        self.model = workspace.model
        self._ready = False

    def compose(self) -> ComposeResult:
        """One line of state, the list beside the code, what is wanted, the keys."""
        yield TooSmall()
        yield RunStatus(now=lambda: self.app.now(), id="status")
        with Container(id="review-body"):
            yield ProposalList(id="proposals")
            yield ReviewView(id="review")
        yield Notice(id="notice")
        yield KeyBar()

    def on_mount(self) -> None:
        """The keyboard is where the code is."""
        self._ready = True
        self.redraw()
        self.review.focus_body()

    def on_screen_resume(self) -> None:
        """What is asked is seen from now on."""
        if self._ready:
            self.note_shown()

    def redraw(self) -> None:
        """List, code, notice."""
        if self.model.run is not None:
            self.query_one(RunStatus).show(self.model.run)
        self._draw_list()
        self.draw_code()
        self.query_one(Notice).show(self.workspace.said(self.review))
        self.note_shown()
        self.refresh_bindings()

    def _draw_list(self) -> None:
        proposals = self.model.view.proposals
        listed = self.query_one(ProposalList)
        index = len(proposals) - 1 if self.model.index is None else self.model.index
        with self.prevent(OptionList.OptionHighlighted):
            listed.show_rows(range(len(proposals)), str, self._row)
            if proposals:
                listed.highlighted = index

    def _row(self, number: int, width: int) -> Content:
        proposal = self.model.view.proposals[number]
        sign = self.model.sign_of(proposal)
        mark = toned(f"{sign.mark(ascii_only(self))} ", sign.tone)
        name = Content.assemble(mark, proposal.sub_action, f" v{proposal.version}")
        return spread(name, toned(sign.word, "muted"), width)

    @on(OptionList.OptionHighlighted)
    def _look(self, event: OptionList.OptionHighlighted) -> None:
        index = event.option_index
        newest = index == len(self.model.view.proposals) - 1
        wanted = None if newest else index
        if wanted != self.model.index and not self.review.editing:
            self.model.index = wanted
            self.redraw()

    @on(OptionList.OptionSelected)
    def _read(self) -> None:
        self.review.focus_body()

    def shows_asked(self) -> bool:
        """True when the asked code is in front."""
        return self.app.screen is self and self.model.on_asked_code

    def bring_up_asked(self) -> None:
        """The asked code; anything else is asked in the workspace."""
        if self.model.asks("code"):
            self.model.index = None
            self.redraw()
            self.seen_from_now()
        else:
            self.action_back()
            self.workspace.bring_up_asked()

    def approval_gone(self, approval: ApprovalRecord) -> None:
        """Decided here, known everywhere."""
        self.workspace.approval_gone(approval)

    def approval_back(self, approval: ApprovalRecord) -> None:
        """Not written; asked as before."""
        self.workspace.approval_back(approval)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what applies now is offered."""
        if action == "review" or not self._ready:
            return False
        return self.applies(reads_code=True).get(action, True)

    def action_back(self) -> None:
        """Out of the editor, or back to the workspace."""
        if not self.give_up_edit():
            self.app.pop_screen()

    def action_review(self) -> None:
        """This is the review already."""
