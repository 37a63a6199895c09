"""The first screen: the task line, and the runs one can go back to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from studio import keymap
from studio.widgets.charset import ascii_only
from studio.widgets.paint import MUTED, painted, spread, toned
from studio.widgets.task_line import TaskLine, Wish
from studio.widgets.too_small import TooSmall
from studio.words import ago, plural, state_sign

if TYPE_CHECKING:
    from skills_db.records import RunRecord
    from studio.app import StudioApp

RECENT = 8


class RecentRuns(OptionList):
    """The newest runs; enter goes to one."""

    BINDINGS = keymap.bindings("list")


class StartScreen(Screen[None]):
    """Enter starts what the task line says."""

    app: StudioApp

    def __init__(self, wish: Wish) -> None:
        super().__init__()
        self._wish = wish
        self._runs: tuple[RunRecord, ...] = ()

    def compose(self) -> ComposeResult:
        """Name, task line, earlier runs."""
        yield TooSmall()
        with Vertical(id="start"):
            yield Static(
                Content.assemble(
                    ("rlgpt-studio", "bold $text-accent"),
                    ("   teach an agent: by code what code can say, by RL the rest", MUTED),
                ),
                id="start-name",
            )
            yield TaskLine(self._wish, (self._wish.world,))
            yield Static(markup=False, id="recent-title")
            yield RecentRuns(id="recent")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Typing goes to the task; earlier runs come once there is something on the screen."""
        self.query_one("#recent").display = False
        self.query_one("#task").focus()

    def on_screen_resume(self) -> None:
        """Earlier runs may have gone on meanwhile."""
        if self.app.is_painted:
            self.load_recent()

    @work(group="recent", exclusive=True, exit_on_error=False)
    async def load_recent(self) -> None:
        """Read the newest runs; a database that cannot be read is told once, in a dialog."""
        try:
            self._runs = await self.app.in_thread(lambda: self.app.data.journal.runs(limit=RECENT))
        except Exception as error:
            self.app.show_error("The runs could not be read", error)
            return
        self._draw_recent()

    @on(TaskLine.Submitted)
    def _start(self, event: TaskLine.Submitted) -> None:
        self.app.start_run(event.wish)

    @on(OptionList.OptionSelected, "#recent")
    def _open(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.app.open_run(event.option_id)

    def on_resize(self) -> None:
        """Rows are laid out by hand for the width."""
        self._draw_recent()

    def _draw_recent(self) -> None:
        listed = self.query_one(RecentRuns)
        listed.display = bool(self._runs)
        title = self.query_one("#recent-title", Static)
        open_runs = sum(not run.seen_state.is_final for run in self._runs)
        words = "Earlier runs"
        if open_runs:
            words += f", {plural(open_runs, 'run')} still going on"
        title.update(toned(words if self._runs else "", "muted"))
        width = max(30, listed.scrollable_content_region.width - 2)
        place = listed.highlighted
        rows = [Option(self._row(run, width), id=run.id) for run in self._runs]
        listed.set_options(rows)
        listed.highlighted = min(place or 0, len(rows) - 1) if rows else None

    def _row(self, run: RunRecord, width: int) -> Content:
        sign = painted(state_sign(run.seen_state), ascii_only=ascii_only(self))
        left = Content.assemble(sign.pad_right(max(0, 17 - sign.cell_length)), run.task)
        right = toned(f"{run.agents}  {ago(run.created_at, self.app.now()):>12}", "muted")
        return spread(left, right, width)
