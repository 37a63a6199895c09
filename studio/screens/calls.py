"""Every call of a run's language model: what it cost, what it was asked, what it answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import OptionList, Static

from studio import keymap
from studio.event_words import role_words
from studio.screens.searching import FilterLine, Searching
from studio.widgets.call_rows import page, row
from studio.widgets.key_bar import KeyBar
from studio.widgets.paint import spread, toned
from studio.widgets.pick_list import PickList
from studio.widgets.reader import Reader
from studio.widgets.too_small import TooSmall
from studio.words import compact, plural

if TYPE_CHECKING:
    from skills_db.records import LlmCallRecord
    from studio.run_bridge import StudioData

REFRESH_SECONDS = 2.0
_NONE_YET = """\
No call yet.

The rules agents ask no model. Where one is asked, each question stands here once it is
answered."""
_NONE_FITS = "No call fits. Esc shows all again; t changes whose calls are shown."


class CallList(PickList):
    """Enter goes to the page of a call."""

    BINDINGS = keymap.bindings("calls", only=frozenset({"calls.open"}))

    def action_open(self) -> None:
        """As a click does."""
        self.action_select()


class CallsScreen(Searching[None]):
    """The calls above, the chosen one's prompt and reply below."""

    BINDINGS = (
        keymap.bindings("find")
        + keymap.bindings("calls", only=frozenset({"calls.role", "calls.copy"}))
        + keymap.bindings("dialog", only=frozenset({"dialog.back"}))
    )

    def __init__(self, data: StudioData, run_id: str) -> None:
        super().__init__()
        self._data = data
        self._run_id = run_id
        self._all: tuple[LlmCallRecord, ...] = ()
        self._role: str | None = None
        self._page_of: tuple[str, int] | None = None
        self._was_read = False

    def compose(self) -> ComposeResult:
        """Title, filter, list and page."""
        yield TooSmall()
        yield Static(markup=False, id="calls-title", classes="screen-title")
        yield FilterLine(placeholder="words in prompt, reply, model or error", compact=True)
        with Container(classes="list-and-page -below"):
            yield CallList(classes="page-list")
            yield Reader(classes="page", id="call-page")
        yield Static(_NONE_YET, markup=False, id="calls-empty", classes="empty")
        yield KeyBar()

    def on_mount(self) -> None:
        """Calls come while one looks."""
        self.listed.focus()
        self._draw_title(())
        self.set_interval(REFRESH_SECONDS, self.reload)

    @work(group="calls", exclusive=True, exit_on_error=False)
    async def reload(self) -> None:
        """Read the calls; the list keeps its place."""
        try:
            calls = await self.app.in_thread(lambda: self._data.journal.calls(self._run_id))
        except Exception as error:
            self.app.show_error("The calls could not be read", error)
            return
        self._was_read = True
        if calls != self._all or not calls:
            self._all = calls
            self._draw()

    @property
    def picked(self) -> LlmCallRecord | None:
        """The call under the cursor."""
        name = self.listed.picked
        return None if name is None or not self._all else self._all[int(name)]

    @property
    def is_reading(self) -> bool:
        """True until the calls and the page of the one under the cursor are on the screen."""
        drawn = None if self._page_of is None else self._page_of[0]
        return not self._was_read or drawn != self.listed.picked

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what applies to the call under the cursor is offered."""
        if action == "copy_reply":
            call = self.picked
            return call is not None and bool(call.reply)
        if action == "next_role":
            return len({call.role for call in self._all}) > 1
        return True

    def action_next_role(self) -> None:
        """All calls, then those of one agent after the other."""
        roles: list[str | None] = [None, *dict.fromkeys(call.role for call in self._all)]
        self._role = roles[(roles.index(self._role) + 1) % len(roles)]
        self._draw()

    def action_copy_reply(self) -> None:
        """The reply goes to the clipboard by OSC 52, which works over SSH, too."""
        call = self.picked
        if call is not None:
            self.app.copy_to_clipboard(call.reply)
            self.app.toast(f"Copied {plural(len(call.reply), 'character')} of the reply.")

    def action_back(self) -> None:
        """From the page to the list, out of the filter, back to the run."""
        if self.query_one("#call-page").has_focus:
            self.listed.focus()
        else:
            super().action_back()

    @on(OptionList.OptionSelected)
    def _read(self) -> None:
        self.query_one("#call-page").focus()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        self._draw_page()

    def _fits(self, call: LlmCallRecord) -> bool:
        if self._role is not None and call.role != self._role:
            return False
        text = f"{call.prompt} {call.reply} {call.model} {call.error} {call.role}".casefold()
        return all(word in text for word in self.words.casefold().split())

    def _draw(self) -> None:
        shown = tuple(n for n, call in enumerate(self._all) if self._fits(call))
        self.show_list(bool(shown))
        empty = self.query_one("#calls-empty", Static)
        empty.display = not shown
        empty.update(_NONE_FITS if self._all else _NONE_YET)
        self._draw_title(shown)
        self.listed.show_rows(shown, str, lambda n, width: row(n + 1, self._all[n], width))
        self._draw_page()

    def _draw_title(self, shown: tuple[int, ...]) -> None:
        calls = [self._all[n] for n in shown]
        tokens = sum(call.prompt_tokens + call.completion_tokens for call in calls)
        cost = sum(call.cost_usd for call in calls)
        left = Content.assemble(
            ("Calls", "bold $text-accent"),
            f"  {plural(len(calls), 'call')}, {compact(tokens)} tokens, ${cost:.2f}",
        )
        right = "all agents" if self._role is None else f"{role_words(self._role)} only"
        self.query_one("#calls-title", Static).update(
            spread(left, toned(right, "muted"), max(20, self.size.width - 2))
        )

    def _draw_page(self) -> None:
        self.refresh_bindings()
        call, reader = self.picked, self.query_one("#call-page", Reader)
        width = max(20, reader.scrollable_content_region.width)
        about = None if self.listed.picked is None else (self.listed.picked, width)
        if call is not None and about != self._page_of:
            self._page_of = about
            reader.show_text(page(call, width))
