"""What the phases of a run share: configuration, progress, events, commands and the eye."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.agents.protocols import Agents, TaskContext
from engine.config import Home, RunConfig
from engine.events import Event, LogLine, StateChanged, encode
from engine.rl.control import Control
from engine.run.eye import Eye, Picture
from engine.run.learner import Learner
from engine.run.progress import Progress
from engine.sandbox.pool import Sandbox
from engine.worlds.base import World
from skills_db.database import Database
from skills_db.records import RunState

COMMAND_SECONDS = 0.25
FLUSH_SECONDS = 0.1
WATCH_SECONDS = 0.5


class RunStopped(Exception):
    """The run was asked to stop; what it has is kept and it can be resumed."""


class RunWaits(Exception):
    """A decision is needed and nobody is asked to wait for it; the request stays open."""


@dataclass
class FrameCount:
    """Env frames of training so far; the heartbeat reads it from its own thread."""

    frames: int = 0


class Session:
    """One process's hold on one run."""

    def __init__(
        self,
        run_id: str,
        config: RunConfig,
        database: Database,
        home: Home,
        world: World,
        sandbox: Sandbox,
        learner: Learner,
        *,
        progress: Progress,
        stop_signal: Callable[[], bool] = lambda: False,
        count: FrameCount | None = None,
    ) -> None:
        self.run_id = run_id
        self.config = config
        self.database = database
        self.journal = database.journal
        self.library = database.library
        self.home = home
        self.world = world
        self.sandbox = sandbox
        self.learner = learner
        self.progress = progress
        self.count = count or FrameCount()
        self.count.frames = max(self.count.frames, progress.training_frames)
        self._stop_signal = stop_signal
        self._started = time.monotonic() - progress.seconds
        self._buffer: list[Event] = []
        self._flushed = 0.0
        self._polled = 0.0
        self._control: Control = "go"
        self._state: tuple[RunState, str] | None = None
        self._pause_shown: tuple[RunState, str] | None = None
        self._watch_asked = 0.0
        self._watched = False
        self._eye = Eye(self.watched, self.draw)
        self.agents: Agents
        self.context: TaskContext

    @property
    def folder(self) -> Path:
        """The run's own folder, made when first asked for."""
        folder = self.home.run_folder(self.run_id)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def checkpoint_file(self) -> Path:
        """Where RL training keeps its newest checkpoint."""
        return self.folder / "checkpoint.safetensors"

    @property
    def policy_file(self) -> Path:
        """Weights of the trained policy."""
        return self.folder / "policy.safetensors"

    # --- record -------------------------------------------------------------------------

    def emit(self, *events: Event) -> None:
        """Append events to the run's history; written together every tenth of a second."""
        self._buffer.extend(events)
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting."""
        if self._buffer:
            events, self._buffer = self._buffer, []
            self.journal.append(self.run_id, [encode(event) for event in events])
        self._flushed = time.monotonic()

    def log(self, text: str, level: str = "info") -> None:
        """A line for the log."""
        self.emit(LogLine(level=level, text=text))

    def save(self, *events: Event, **changes: Any) -> None:
        """Store progress and the events that tell of it in one transaction.

        Whatever is saved is the consequence of an answer, so an open question is closed by it.
        """
        changes.setdefault("asked", None)
        seconds = time.monotonic() - self._started
        self.progress = self.progress.with_(seconds=seconds, **changes)
        waiting, self._buffer = self._buffer, []
        self.journal.save_progress(
            self.run_id,
            self.progress.model_dump(mode="json"),
            [encode(event) for event in (*waiting, *events)],
        )
        self._flushed = time.monotonic()

    def enter(
        self, state: RunState, detail: str = "", result: dict[str, Any] | None = None
    ) -> None:
        """Tell that the run is in another state; `result` comes with the last one."""
        if (state, detail) != self._state:
            self._state = (state, detail)
            self.emit(StateChanged(state=state.value, detail=detail))
            self.flush()
            self.journal.set_state(self.run_id, state, detail, result=result)

    @property
    def state(self) -> tuple[RunState, str] | None:
        """The state that was told last, with its detail."""
        return self._state

    # --- commands -----------------------------------------------------------------------

    def control(self) -> Control:
        """What the person wants now; asks the database at most four times a second."""
        now = time.monotonic()
        if self._stop_signal():
            self._control = "abort"
        if now - self._polled >= COMMAND_SECONDS:
            self._polled = now
            for command in self.journal.take_commands(self.run_id):
                self._obey(command)
        return self._control

    def _obey(self, command: str) -> None:
        if command == "approve_all":
            self.save(approve_all=True, asked=self.progress.asked)  # an answer stays to be read
        elif self._control == "abort":
            return
        elif command == "continue":
            self._control = "go"
        elif command in ("pause", "stop_and_keep", "abort"):
            self._control = command  # type: ignore[assignment]

    def checkpoint_stop(self) -> None:
        """Stand still while paused; end the run when told to.

        Raises:
            RunStopped: on *abort*, and on *stop and keep* outside of training.
        """
        self.wait_while_paused()
        if self.control() != "go":
            raise RunStopped

    def shown_control(self) -> Control:
        """The wish, with a pause told as the state that it is."""
        wish = self.control()
        if wish == "pause":
            self._pause_shown = self._pause_shown or self._state
            self.enter(RunState.PAUSED)
        elif self._pause_shown is not None:
            before, self._pause_shown = self._pause_shown, None
            self.enter(*before)
        return wish

    def training_stopped(self) -> None:
        """*Stop and keep* was obeyed by ending the training; the run goes on to evaluation."""
        if self._control == "stop_and_keep":
            self._control = "go"

    def wait_while_paused(self) -> None:
        """Stand still while paused, whatever else is wished."""
        before = self._state
        while self.control() == "pause":
            self.enter(RunState.PAUSED)
            time.sleep(COMMAND_SECONDS)
        if before is not None and self._state != before:
            self.enter(*before)

    # --- the eye ------------------------------------------------------------------------

    def watched(self) -> bool:
        """Whether a studio looks at the frames; asked twice a second at most."""
        now = time.monotonic()
        if now - self._watch_asked >= WATCH_SECONDS:
            self._watch_asked = now
            self._watched = self.journal.is_watched(self.run_id)
        return self._watched

    def show(self, env: Picture, caption: str) -> None:
        """Draw the frame if somebody watches and the last one is old enough."""
        self._eye.show(env, caption)

    def draw(self, rgb: NDArray[np.uint8], caption: str) -> None:
        """Put a frame where the studio finds it."""
        height, width = rgb.shape[:2]
        self.journal.put_frame(self.run_id, width, height, rgb.tobytes(), caption)

    def show_paced(self, env: Picture, caption: str, frames_per_second: float) -> None:
        """Draw every frame at a pace the eye can follow, while somebody watches."""
        self.show(env, caption)
        if self._watched:
            time.sleep(1.0 / frames_per_second)
