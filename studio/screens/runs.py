"""The runs so far: where each stands, going back to one, going on with one that was cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import OptionList, Static

from studio import keymap
from studio.run_agents import run_agents
from studio.screens.searching import FilterLine, Searching
from studio.widgets.charset import ascii_only
from studio.widgets.key_bar import KeyBar
from studio.widgets.paint import spread, toned
from studio.widgets.pick_list import PickList
from studio.widgets.reader import Reader
from studio.widgets.run_rows import page, row
from studio.widgets.too_small import TooSmall
from studio.words import plural, state_sign

if TYPE_CHECKING:
    from skills_db.records import RunRecord
    from studio.run_bridge import StudioData

LIMIT = 200
REFRESH_SECONDS = 2.0
LOG_LINES = 8
RESUMABLE = frozenset({"interrupted", "failed", "stopped"})
_FILTERS = ("all", "going on", "interrupted", "over")
_NONE_YET = """\
No run yet.

Go back (esc) and press enter on the task that is offered: that starts one."""
_NONE_FITS = "No run fits. Esc shows all again; t changes which states are shown."


class RunList(PickList):
    """Enter opens a run."""

    BINDINGS = keymap.bindings("runs", only=frozenset({"runs.open"}))

    def action_open(self) -> None:
        """As a click does."""
        self.action_select()


class RunsScreen(Searching[str | None]):
    """Gives the id of the run that was chosen; None when the person goes back."""

    BINDINGS = keymap.bindings(
        "find", "runs", only=frozenset({"find.filter", "runs.resume", "runs.state"})
    ) + keymap.bindings("dialog", only=frozenset({"dialog.back"}))

    def __init__(self, data: StudioData) -> None:
        super().__init__()
        self._data = data
        self._all: tuple[RunRecord, ...] = ()
        self._state = 0
        self._page_of = ""
        self._failure: tuple[str, str] | None = None
        self._log: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """Title, filter, list and page."""
        yield TooSmall()
        yield Static(markup=False, id="runs-title", classes="screen-title")
        yield FilterLine(placeholder="words in task, agents or id", compact=True)
        with Container(classes="list-and-page -below"):
            yield RunList(classes="page-list")
            yield Reader(classes="page", id="run-page")
        yield Static(_NONE_YET, markup=False, id="runs-empty", classes="empty")
        yield KeyBar()

    def on_mount(self) -> None:
        """States change while one looks."""
        self.listed.focus()
        self._draw_title(())
        self.set_interval(REFRESH_SECONDS, self.reload)

    @work(group="runs-list", exclusive=True, exit_on_error=False)
    async def reload(self) -> None:
        """Read the runs; the list keeps its place."""
        try:
            self._all = await self.app.in_thread(lambda: self._data.journal.runs(limit=LIMIT))
        except Exception as error:
            self.app.show_error("The runs could not be read", error)
            return
        self._draw()

    # --- what one can do ----------------------------------------------------------------------

    @property
    def picked(self) -> RunRecord | None:
        """The run under the cursor."""
        return next((run for run in self._all if run.id == self.listed.picked), None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A run that goes on, or is done, has nothing to resume."""
        if action == "resume":
            run = self.picked
            return run is not None and run.seen_state in RESUMABLE
        return True

    def action_next_state(self) -> None:
        """All runs, those going on, interrupted ones, those that are over, and round again."""
        self._state = (self._state + 1) % len(_FILTERS)
        self._draw()

    @work(group="resume", exclusive=True, exit_on_error=False)
    async def action_resume(self) -> None:
        """Launch a process that goes on with the run, and go to it."""
        run = self.picked
        if run is None:
            return
        try:
            await self.app.in_thread(lambda: self.app.bridge.resume(run.id))
        except Exception as error:
            self.app.show_error("The run could not be resumed", error)
            return
        self.dismiss(run.id)

    @on(OptionList.OptionSelected)
    def _open(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.dismiss(event.option_id)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._draw_page()

    @work(group="run-page", exclusive=True, exit_on_error=False)
    async def _load_trouble(self, run_id: str) -> None:
        """Why a run ended badly: its last failure, and the end of its process's log."""
        from engine.process import log_tail

        home = self.app.paths.home

        def read() -> tuple[tuple[str, str] | None, tuple[str, ...]]:
            failures = self._data.journal.events(run_id, kinds={"failed"})
            last = failures[-1].payload if failures else None
            failure = None if last is None else (str(last["message"]), str(last.get("hint", "")))
            return failure, tuple(log_tail(run_id, home, LOG_LINES).splitlines())

        try:
            self._failure, self._log = await self.app.in_thread(read)
        except Exception as error:
            self.app.show_error("The run could not be read", error)
            return
        self._draw_page()

    # --- drawing --------------------------------------------------------------------------------

    def _fits(self, run: RunRecord) -> bool:
        text = f"{run.task} {run.id} {run_agents(run)} {state_sign(run.seen_state).word}".casefold()
        if not all(word in text for word in self.words.casefold().split()):
            return False
        over, lost = run.seen_state.is_final, run.seen_state == "interrupted"
        return (True, not over, lost, over and not lost)[self._state]

    def _draw(self) -> None:
        runs = tuple(run for run in self._all if self._fits(run))
        self.show_list(bool(runs))
        empty = self.query_one("#runs-empty", Static)
        empty.display = not runs
        empty.update(_NONE_FITS if self._all else _NONE_YET)
        self._draw_title(runs)
        now, plain = self.app.now(), ascii_only(self)
        self.listed.show_rows(
            runs, lambda run: run.id, lambda run, width: row(run, width, now, plain)
        )
        self._draw_page()

    def _draw_title(self, runs: tuple[RunRecord, ...]) -> None:
        lost = sum(run.seen_state == "interrupted" for run in self._all)
        left = Content.assemble(("Runs", "bold $text-accent"), f"  {plural(len(runs), 'run')}")
        if lost:
            left = Content.assemble(left, "  ", toned(f"! {lost} interrupted", "bad"))
        right = toned(_FILTERS[self._state], "muted")
        title = self.query_one("#runs-title", Static)
        title.update(spread(left, right, max(20, self.size.width - 2)))

    def _draw_page(self) -> None:
        run = self.picked
        self.refresh_bindings()
        if run is None:
            return
        same = run.id == self._page_of
        if not same:
            self._page_of, self._failure, self._log = run.id, None, ()
            if run.seen_state in ("failed", "interrupted"):
                self._load_trouble(run.id)
        reader = self.query_one("#run-page", Reader)
        width = max(20, reader.scrollable_content_region.width)
        reader.show_text(
            page(run, width, self.app.now(), self._failure, self._log), keep_place=same
        )
