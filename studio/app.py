"""The Textual app: its screens, leaving it, and the way from any screen to the database."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

from textual import work
from textual.binding import BindingType
from textual.screen import Screen
from textual.theme import Theme
from textual.worker import WorkerCancelled, WorkerFailed, get_current_worker

from studio import keymap
from studio.commands import StudioCommands
from studio.program_name import program_name
from studio.run_bridge import RunBridge, StudioData
from studio.screens.dialogs import Choice, ChoiceDialog, ErrorDialog
from studio.screens.start import StartScreen
from studio.styles.themes import THEMES
from studio.task_check import check_task
from studio.terminal_app import TerminalApp
from studio.widgets.task_line import TaskLine, Wish
from studio.widgets.too_small import HORIZONTAL, VERTICAL
from studio.words import sentences, state_sign

if TYPE_CHECKING:
    from engine.config import RunConfig
    from studio.paths import Paths
    from studio.screens.workspace import WorkspaceScreen
    from studio.settings import Settings

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")
SECOND_CTRL_C_SECONDS = 2.0
DEFAULT_FRAMES = 100_000
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""Signals from outside that leave the studio in order."""


class StudioApp(TerminalApp):
    """The studio. `return_value` after it says how to come back to the run.

    Args:
        paths: where home, database, settings and log are.
        settings: what the person chose.
        attach: a run to go to at once: an id, a part of one, or `latest`.
        start: a run to start at once.
    """

    TITLE = "rlgpt-studio"
    CSS_PATH = [
        "styles/studio.tcss",
        "styles/panes.tcss",
        "styles/dialogs.tcss",
        "styles/panels.tcss",
    ]
    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("studio")
    COMMANDS = {StudioCommands}
    HORIZONTAL_BREAKPOINTS = HORIZONTAL
    VERTICAL_BREAKPOINTS = VERTICAL
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        attach: str | None = None,
        start: RunConfig | None = None,
    ) -> None:
        super().__init__()
        self.paths = paths
        self.settings = settings
        self.data = StudioData(paths.database_url)
        self.bridge = RunBridge(self, self.data, paths.home)
        self.clock: Callable[[], float] = time.monotonic
        self.now: Callable[[], datetime] = lambda: datetime.now(UTC)
        self.is_painted = False
        self._attach_to = attach
        self._start_with = start
        self._ctrl_c_at = float("-inf")
        self._leaving = False
        for theme in THEMES:
            self.register_theme(theme)
        if "TEXTUAL_THEME" not in os.environ and settings.theme in self.available_themes:
            self.theme = settings.theme
        self.set_keymap(dict(settings.keymap))

    # --- life -------------------------------------------------------------------------------

    def _theme_changed(self, theme: Theme) -> None:
        """Remember the colours; a settings file that cannot be written is told."""
        if theme.name == self.settings.theme or "TEXTUAL_THEME" in os.environ:
            return
        self.settings = replace(self.settings, theme=theme.name)
        self._save_theme(theme.name)

    @work(group="theme")
    async def _save_theme(self, name: str) -> None:
        from studio.settings import save_setting

        try:
            await self.in_thread(lambda: save_setting(self.paths.config_file, "theme", name))
        except Exception as error:
            self.show_error("The theme could not be remembered", error)

    def on_mount(self) -> None:
        """The task line is there at once; whatever is slow to import waits until it is drawn."""
        loop = asyncio.get_running_loop()
        for number in ENDING:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self.leave_now)
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        self.push_screen(StartScreen(self._first_wish()))

    def on_ready(self) -> None:
        """Called once the first screen is mounted."""
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        self.is_painted = True
        self.run_worker(preload, thread=True, group="preload", exit_on_error=False)
        unknown = keymap.unknown_ids(self.settings.keymap)
        if unknown:
            names = ", ".join(repr(name) for name in unknown)
            self.toast(f"The settings remap keys that do not exist: {names}", "warning")
        if self._start_with is not None:
            self._start_config(self._start_with)
        elif self._attach_to is not None:
            self.open_run(self._attach_to)
        elif isinstance(self.screen, StartScreen):
            self.screen.load_recent()
            self.screen.look_for_key()

    def on_unmount(self) -> None:
        """Signals are the shell's again; the run's process does not notice."""
        self.bridge.stop()
        self.data.close()
        loop = asyncio.get_running_loop()
        for number in ENDING:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(number)

    def _first_wish(self) -> Wish:
        from studio.settings import is_true

        chosen = self.settings.run
        return Wish(
            task=self.settings.task,
            world=self.settings.world,
            agents=str(chosen.get("agents", "rules")),
            frames=int(chosen.get("frames", DEFAULT_FRAMES)),
            seed=int(chosen.get("seed", 0)),
            fast_mode=is_true(chosen.get("fast_mode", False)),
        )

    # --- runs -------------------------------------------------------------------------------

    @property
    def workspace(self) -> WorkspaceScreen | None:
        """The screen of the run that is followed, if one is."""
        for screen in self.screen_stack:
            if getattr(screen, "is_workspace", False):
                return cast("WorkspaceScreen", screen)
        return None

    @work(group="start", exclusive=True)
    async def start_run(self, wish: Wish) -> None:
        """Start what the task line says, or say there why it cannot be."""
        from engine.errors import EngineError
        from skills_db.errors import DatabaseError

        changes = {
            "world": wish.world,
            "agents": wish.agents,
            "frames": wish.frames,
            "seed": wish.seed,
            "fast_mode": wish.fast_mode,
        }
        try:
            config = await self.in_thread(lambda: self._config(changes, wish.task))
        except (EngineError, DatabaseError) as error:
            for line in self.screen.query(TaskLine):
                line.refuse(sentences(error.message, error.hint))
            return
        self._start_config(config)

    def _config(self, changes: dict[str, Any], task: str) -> RunConfig:
        """What the run is asked to do, checked as far as can be before it begins."""
        from studio.recordings import with_recording

        folder = self.paths.config_file.parent
        config = self.settings.run_config(changes, task=task, folder=folder)
        check_task(config)
        if not config.agents.startswith("replay:"):
            return config
        return with_recording(config, self.data.journal)

    @work(group="launch", exclusive=True)
    async def _start_config(self, config: RunConfig) -> None:
        try:
            run_id = await self.in_thread(lambda: self.bridge.start(config))
        except Exception as error:
            self.show_error("The run could not be started", error)
            return
        self.open_run(run_id)

    @work(group="open", exclusive=True)
    async def open_run(self, run_id: str) -> None:
        """Show a run from its first event on."""
        try:
            run = await self.in_thread(lambda: self.data.journal.run(run_id))
        except Exception as error:
            self.show_error(f"The run {run_id!r} cannot be shown", error)
            return
        from studio.screens.workspace import WorkspaceScreen

        if await self.to_start():
            self.push_screen(WorkspaceScreen(run.id))

    async def to_start(self) -> bool:
        """Back to the task line; a followed run goes on by itself.

        False when the person would rather not lose edits that are not approved yet. To be awaited
        in a worker.
        """
        lost = self.workspace.lost_words() if self.workspace is not None else ""
        if lost and await self.push_screen_wait(ChoiceDialog("Leave this run?", lost, DROP)) != (
            "drop"
        ):
            return False
        while len(self.screen_stack) > 1 and not isinstance(self.screen, StartScreen):
            self.pop_screen()
        return True

    # --- other screens ------------------------------------------------------------------------

    def action_help(self) -> None:
        """What can be done here."""
        from studio.screens.help import HelpScreen

        self._push_once(HelpScreen, lambda: HelpScreen(self.data))

    def action_skills(self) -> None:
        """The skill library."""
        from studio.screens.skills import SkillsScreen

        self._push_once(SkillsScreen, lambda: SkillsScreen(self.data))

    @work(group="runs", exclusive=True)
    async def action_runs(self) -> None:
        """Earlier runs; the chosen one is opened."""
        from studio.screens.runs import RunsScreen

        if any(isinstance(screen, RunsScreen) for screen in self.screen_stack):
            return
        chosen = await self.push_screen_wait(RunsScreen(self.data))
        if chosen is not None:
            self.open_run(chosen)

    def _push_once(self, kind: type[Screen[Any]], make: Callable[[], Screen[Any]]) -> None:
        if not any(isinstance(screen, kind) for screen in self.screen_stack):
            self.push_screen(make())

    # --- leaving ------------------------------------------------------------------------------

    async def action_quit(self) -> None:
        """Textual's own quit asks, too."""
        self.action_leave()

    @work(group="leave")
    async def action_leave(self) -> None:
        """Leave; while a run is open, ask what should become of it."""
        from studio.screens.steering import is_open

        workspace = self.workspace
        # A question that the terminal is too small to show cannot be asked.
        if workspace is None or not is_open(workspace.model.run) or self.is_too_small:
            self.leave_now()
            return
        if self._leaving:
            return
        self._leaving = True
        try:
            picked = await self.push_screen_wait(
                ChoiceDialog("Leave the studio?", workspace.leave_words(), LEAVE)
            )
        finally:
            self._leaving = False
        if picked == "detach" or (picked == "stop" and await workspace.stop_and_keep()):
            self.exit(self.goodbye(stopped=picked == "stop"))

    def action_help_quit(self) -> None:
        """ctrl+c: a hint at first, leaving without the run when pressed again."""
        if self.clock() - self._ctrl_c_at <= SECOND_CTRL_C_SECONDS:
            self.leave_now()
            return
        self._ctrl_c_at = self.clock()
        self.toast("ctrl+c again leaves the studio; a run goes on.")

    def leave_now(self) -> None:
        """Leave without a question: a second ctrl+c, or the terminal is going away."""
        self.exit(self.goodbye())

    def goodbye(self, stopped: bool = False) -> str | None:
        """One line for the shell: how to come back."""
        workspace = self.workspace
        if workspace is None:
            return None
        run, run_id = workspace.model.run, workspace.model.run_id
        again = f"{program_name()} attach {run_id}"
        if run is not None and run.seen_state == "finished":
            return f"The run is finished. Look at it again with: {again}"
        if stopped:
            what = "The run is stopping; what it learnt is kept."
        elif run is not None and run.seen_state.is_final:
            what = f"The run has ended: {state_sign(run.seen_state).word}."
        elif workspace.model.approval is not None:
            what = "The run waits for you."
        else:
            what = "The run goes on."
        return f"{what} Come back with: {again}"

    # --- help for the screens -------------------------------------------------------------------

    async def in_thread(self, job: Callable[[], _T]) -> _T:
        """What a blocking job gives, done in a thread worker; its own error when it fails."""
        worker = self.run_worker(job, thread=True, group="data", exit_on_error=False)
        try:
            return await worker.wait()
        except WorkerFailed as failed:
            raise failed.error from failed
        except WorkerCancelled:
            raise asyncio.CancelledError from None

    def press(self, key_id: str) -> str:
        """What to press for an entry of the registry, as the person's settings have it."""
        return keymap.keys_for(keymap.key(key_id), self.settings.keymap)[0]

    def toast(
        self, text: str, severity: Literal["information", "warning", "error"] = "information"
    ) -> None:
        """A short remark; text of any origin, never parsed as markup."""
        self.notify(text, severity=severity, markup=False)

    def show_error(self, title: str, error: Exception) -> None:
        """A dialog with what failed, why, and the next step; a toast when one is open already."""
        _LOG.error("%s", title, exc_info=error)
        cause = str(getattr(error, "message", "")) or str(error) or type(error).__name__
        hint = str(getattr(error, "hint", "")) or f"Details are in {self.paths.log_file}."
        if isinstance(self.screen, ErrorDialog):
            self.toast(f"{title}: {cause}", "error")
        else:
            self.push_screen(ErrorDialog(title, cause, hint))


LEAVE = (
    Choice("d", "Detach", "detach", "The run goes on without the studio."),
    Choice("s", "Stop and keep", "stop", "The run ends; what it learnt is kept."),
    Choice("b", "Stay", "stay", "Back to the run."),
)


DROP = (
    Choice("l", "Leave without them", "drop", "The run goes on; it still asks what it asked."),
    Choice("b", "Stay", "stay", "Back to the run."),
)


def preload() -> None:
    """Import what the first run needs, while the person still reads the task line."""
    worker = get_current_worker()
    for name in (
        "skills_db.database",
        "engine.events",
        "engine.config",
        "studio.screens.workspace",
        "studio.highlighting",
        "engine.agents.plan_edit",
        "engine.process",
    ):
        if worker.is_cancelled:
            return
        importlib.import_module(name)
