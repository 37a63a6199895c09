"""The first screen: the task line, and the runs one can go back to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Select, Static

from studio import keymap
from studio.screens.base import StudioScreen
from studio.task_check import missing_key
from studio.widgets.charset import ascii_only
from studio.widgets.key_bar import KeyBar
from studio.widgets.paint import MUTED, toned
from studio.widgets.pick_list import PickList
from studio.widgets.run_rows import row
from studio.widgets.task_line import TaskLine, Wish
from studio.widgets.too_small import TooSmall
from studio.words import plural

if TYPE_CHECKING:
    from skills_db.records import RunRecord
    from studio.app import StudioApp

RECENT = 8


_GUIDE = (
    ("1 Plan", "the agents cut the task into sub-actions; you edit and approve"),
    ("2 Code", "you read each piece of code and approve it before it runs"),
    ("3 Trials", "it runs in the world, and a critic judges what it did"),
    ("4 Training", "PPO learns the rest, with your code as extra actions"),
    ("5 Results", "beside the untrained policy; you say what is kept as a skill"),
)


class RecentRuns(PickList):
    """The newest runs; enter goes to one."""


class StartScreen(StudioScreen[None]):
    """Enter starts what the task line says."""

    app: StudioApp
    BINDINGS = keymap.bindings("start")

    def __init__(self, wish: Wish) -> None:
        super().__init__()
        self._wish = wish
        self._runs: tuple[RunRecord, ...] = ()
        self._told = False

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
            yield Static(_guide(), id="guide")
            yield RecentRuns(id="recent")
        yield KeyBar()

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
            if not self._told:
                self._told = True
                self.app.show_error("The runs could not be read", error)
            return
        self._draw_recent()

    def begin_anew(self) -> None:
        """Another task: typing replaces the one before."""
        self.query_one(TaskLine).begin_anew()

    @on(Select.Changed, "#agents")
    def _agents_chosen(self) -> None:
        if self.app.is_painted:
            self.look_for_key()

    @work(group="key", exclusive=True)
    async def look_for_key(self) -> None:
        """Say below the fields what a language model still wants."""
        line = self.query_one(TaskLine)
        if line.agents != "llm":
            return
        try:
            missing = await self.app.in_thread(lambda: missing_key(self.app.settings.llm))
        except ValueError:
            return  # settings that cannot be are told when the run is started
        line.say_missing(missing)

    @on(TaskLine.Submitted)
    def _start(self, event: TaskLine.Submitted) -> None:
        self.app.start_run(event.wish)

    @on(OptionList.OptionSelected, "#recent")
    def _open(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.app.open_run(event.option_id)

    def action_go(self) -> None:
        """Start the run."""
        self.query_one(TaskLine).submit()

    def _draw_recent(self) -> None:
        listed = self.query_one(RecentRuns)
        listed.display = bool(self._runs)
        self.query_one("#guide").display = not self._runs
        title = self.query_one("#recent-title", Static)
        open_runs = sum(not run.seen_state.is_final for run in self._runs)
        words = "Earlier runs" if self._runs else "What happens then"
        if open_runs:
            words += f", {plural(open_runs, 'run')} not over yet"
        title.update(toned(words, "muted"))
        now, ascii_too = self.app.now(), ascii_only(self)
        listed.show_rows(
            self._runs, lambda run: run.id, lambda run, width: row(run, width, now, ascii_too)
        )


def _guide() -> Content:
    lines = [Content.assemble((f"{name:<12}", "bold"), (text, MUTED)) for name, text in _GUIDE]
    return Content("\n").join(lines)
