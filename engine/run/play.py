"""Watching a saved skill play: a run of kind `play`, followed like any other run."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.events import Event, LogLine, RunFinished, StateChanged, encode
from engine.rl.evaluate import evaluate
from engine.run.players import of_skill
from engine.sandbox.pool import Sandbox
from engine.worlds.base import WorldEnv
from engine.worlds.registry import get_world
from skills_db.database import Database
from skills_db.records import RunRecord, RunState

FRAMES_PER_SECOND = 12.0
FRAME_SIZE = 63
COMMAND_SECONDS = 0.25


def play(run: RunRecord, database: Database, stopped: Callable[[], bool]) -> None:
    """Play one episode of a skill, drawing every frame at a pace the eye can follow."""
    config = dict(run.config)
    version = database.library.version(str(config["skill"]), config.get("version"))
    world = get_world(version.world)
    seed = int(config.get("seed", 0))
    stage = _Stage(run.id, database, stopped)
    stage.enter(RunState.PLAYING, f"{version.skill} version {version.version}, seed {seed}")
    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        player = of_skill(version, database.library, world)
        played = evaluate(
            world,
            player.policy,
            player.actions,
            sandbox,
            seeds=range(seed, seed + 1),
            task_success=player.task_success,
            goals={},
            episode_length=config.get("episode_length"),
            on_frame=stage.show,
            should_stop=stage.should_stop,
        )
    outcome = {"skill": version.skill, "version": version.version, **played.model_dump(mode="json")}
    final = RunState.STOPPED if stage.should_stop() else RunState.FINISHED
    stage.tell(RunFinished(result=outcome))
    stage.enter(final)
    database.journal.set_state(run.id, final, result=outcome)


class _Stage:
    """Shows frames at a steady pace and obeys pause, continue and stop."""

    def __init__(self, run_id: str, database: Database, stopped: Callable[[], bool]) -> None:
        self._run_id = run_id
        self._journal = database.journal
        self._stopped = stopped
        self._paused = False
        self._over = False
        self._polled = 0.0
        self._caption = ""

    def tell(self, event: Event) -> None:
        """Append one event to the history."""
        self._journal.append(self._run_id, [encode(event)])

    def enter(self, state: RunState, detail: str = "") -> None:
        """Tell that the run is in another state."""
        self.tell(StateChanged(state=state.value, detail=detail))
        self._journal.set_state(self._run_id, state, detail)

    def should_stop(self) -> bool:
        """Whether the person or the system wants the play to end."""
        now = time.monotonic()
        if now - self._polled > COMMAND_SECONDS:
            self._polled = now
            for command in self._journal.take_commands(self._run_id):
                self._paused = command == "pause"
                self._over = self._over or command in ("abort", "stop_and_keep")
        return self._over or self._stopped()

    def show(self, env: WorldEnv, caption: str) -> None:
        """Draw one frame, then wait as long as the pace (or a pause) asks."""
        rgb = env.frame(FRAME_SIZE)
        height, width = rgb.shape[:2]
        self._journal.put_frame(self._run_id, width, height, rgb.tobytes(), caption)
        if caption != self._caption:
            self._caption = caption
            self.tell(LogLine(level="info", text=f"frame {env.episode_frames}: {caption}"))
        time.sleep(1.0 / FRAMES_PER_SECOND)
        while self._paused and not self.should_stop():
            time.sleep(COMMAND_SECONDS)
