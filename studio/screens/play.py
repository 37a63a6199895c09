"""Watching a saved skill play: the world, and beside it what happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from studio import keymap
from studio.messages import BridgeFailed, EventsArrived, FrameArrived, RunChanged
from studio.run_bridge import RunBridge
from studio.screens.base import StudioScreen
from studio.widgets.event_log import EventLog
from studio.widgets.frame_view import FrameView
from studio.widgets.key_bar import KeyBar
from studio.widgets.paint import painted, spread, toned
from studio.widgets.too_small import TooSmall
from studio.words import plural, state_sign

if TYPE_CHECKING:
    from skills_db.records import CommandKind, RunRecord, SkillVersionRecord
    from studio.app import StudioApp
    from studio.run_bridge import StudioData


_PAUSE = keymap.key("play.pause")
# The same key and the same place in a person's settings: only the word in the footer changes.
_GO_ON = Binding(_PAUSE.keys, "go_on", "Go on", show=_PAUSE.show, tooltip=_PAUSE.help, id=_PAUSE.id)
_STANDS = {"paused": "pause", "playing": "continue"}
"""States and the commands that lead there."""


class PlayScreen(StudioScreen[None]):
    """Starts a run of kind `play` and follows it; leaving ends it."""

    app: StudioApp
    BINDINGS = [
        *keymap.bindings("play"),
        _GO_ON,
        *keymap.bindings("dialog", only=frozenset({"dialog.back"})),
    ]

    def __init__(self, data: StudioData, skill: SkillVersionRecord, seed: int) -> None:
        super().__init__()
        self._data = data
        self._skill = skill
        self._seed = seed
        self._bridge: RunBridge | None = None
        self._run: RunRecord | None = None
        self._sent: CommandKind | None = None
        """What it was told last, until its state answers."""

    def compose(self) -> ComposeResult:
        """Title, picture and log."""
        yield TooSmall()
        yield Static(markup=False, id="play-title", classes="screen-title")
        with Container(id="play"):
            yield FrameView(empty="the world appears as soon as the skill begins")
            yield EventLog()
        yield KeyBar()

    def on_mount(self) -> None:
        """Begin with the first seed."""
        # A bridge of its own: the run that the workspace follows is still followed meanwhile.
        self._bridge = RunBridge(self.app, self._data, self.app.paths.home)
        self._bridge.wants_frames = True
        self.query_one(EventLog).lines.focus()
        self._begin()

    def on_unmount(self) -> None:
        """Nobody watches any more."""
        if self._bridge is not None:
            self._bridge.stop()

    def on_resize(self) -> None:
        """The title is laid out by hand for the width."""
        self._draw_title()

    @work(group="play", exclusive=True, exit_on_error=False)
    async def _begin(self) -> None:
        bridge, skill, seed = self._bridge, self._skill, self._seed
        if bridge is None:
            return
        self._draw_title()

        def start() -> str:
            run = self._data.journal.create_run(
                kind="play",
                task=f"watch {skill.skill} v{skill.version}",
                world=skill.world,
                agents=skill.agents,
                config={"skill": skill.skill, "version": skill.version, "seed": seed},
            )
            bridge.resume(run.id)
            return run.id

        try:
            run_id = await self.app.in_thread(start)
        except Exception as error:
            self.app.show_error(f"{skill.skill!r} cannot be watched", error)
            return
        bridge.follow(run_id, self)

    @on(EventsArrived)
    def _events(self, message: EventsArrived) -> None:
        self.query_one(EventLog).add(message.events)
        message.applied.set()

    @on(FrameArrived)
    def _frame(self, message: FrameArrived) -> None:
        self.query_one(FrameView).show(message.frame)

    @on(RunChanged)
    def _changed(self, message: RunChanged) -> None:
        before, self._run = self._run, message.run
        state = message.run.seen_state.value
        if before is None or state != before.seen_state or _STANDS.get(state) == self._sent:
            self._sent = None
        self._draw_title()
        self.refresh_bindings()

    @on(BridgeFailed)
    def _failed(self, message: BridgeFailed) -> None:
        self.app.show_error("The run cannot be read", message.error)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is over cannot be paused, and what stands still can only go on."""
        if action == "pause":
            return self._is_open and not self._stands
        if action == "go_on":
            return self._is_open and self._stands
        return True

    @property
    def _is_open(self) -> bool:
        return self._run is not None and not self._run.seen_state.is_final

    @property
    def _stands(self) -> bool:
        """True when it stands still, or was told to and has not said so yet."""
        if self._sent is not None:
            return self._sent == "pause"
        return self._run is not None and self._run.seen_state == "paused"

    @work(group="play-steer", exit_on_error=False)
    async def action_pause(self) -> None:
        """Let it stand still."""
        await self._send("pause")

    @work(group="play-steer", exit_on_error=False)
    async def action_go_on(self) -> None:
        """Let it play on."""
        await self._send("continue")

    async def _send(self, command: CommandKind) -> None:
        run, bridge = self._run, self._bridge
        if run is None or bridge is None:
            return
        before, self._sent = self._sent, command
        self._draw_title()
        self.refresh_bindings()
        try:
            await self.app.in_thread(lambda: bridge.send(run.id, command))
        except Exception as error:
            self._sent = before
            self._draw_title()
            self.refresh_bindings()
            self.app.show_error("The run could not be told", error)

    @work(group="play-steer", exit_on_error=False)
    async def action_again(self) -> None:
        """The next seed; what is playing now ends."""
        await self._end()
        self._seed += 1
        self._run = self._sent = None
        self.query_one(EventLog).clear()
        self.query_one(FrameView).clear()
        self._begin()

    @work(group="play-steer", exit_on_error=False)
    async def action_back(self) -> None:
        """End what is playing and go back."""
        await self._end()
        self.dismiss()

    async def _end(self) -> None:
        run, bridge = self._run, self._bridge
        if run is None or bridge is None or run.seen_state.is_final:
            return
        try:
            await self.app.in_thread(lambda: bridge.send(run.id, "abort"))
        except Exception as error:
            self.app.show_error("The run could not be told", error)

    def _draw_title(self) -> None:
        run, skill = self._run, self._skill
        left = Content.assemble(
            ("Watch", "bold $text-accent"), f"  {skill.skill} v{skill.version} in {skill.world}"
        )
        state = "created" if run is None else run.seen_state.value
        if self._is_open and self._sent is not None:
            state = "paused" if self._stands else "playing"
        right = Content.assemble(toned(f"seed {self._seed}  ", "muted"), painted(state_sign(state)))
        if run is not None and run.frames:
            right = Content.assemble(toned(f"{plural(run.frames, 'frame')}  ", "muted"), right)
        title = self.query_one("#play-title", Static)
        title.update(spread(left, right, max(20, self.size.width - 2)))
