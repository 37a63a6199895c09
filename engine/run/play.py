"""Watching a saved skill play: a run of kind `play`, followed like any other run."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from engine.config import PICTURES
from engine.errors import EngineError
from engine.events import Event, LogLine, RunFinished, StateChanged, encode
from engine.rl.evaluate import evaluate
from engine.rl.watched import Watched
from engine.run.players import of_skill
from engine.sandbox.pool import Sandbox
from engine.worlds.predicate import Predicate, parse
from engine.worlds.registry import get_world
from skills_db.database import Database
from skills_db.records import CommandKind, RunRecord, RunState

FRAMES_PER_SECOND = 12.0
FRAME_SIZE = 63
COMMAND_SECONDS = 0.25
UNWATCHED_SECONDS = 20.0
"""A play that nobody watches any longer ends: it is there for the eye alone."""
FRAMES_AFTER_SUCCESS = 24
"""How long the play goes on once the task's predicate has come true."""


def play(run: RunRecord, database: Database, stopped: Callable[[], bool]) -> None:
    """Play one episode of a skill, drawing every frame at a pace the eye can follow."""
    config = dict(run.config)
    version = database.library.version(str(config["skill"]), config.get("version"))
    if version.world == PICTURES:
        raise EngineError(
            f"the skill {version.skill!r} acts in pictures and words: it cannot be watched alone",
            "Watch it in a run's Trials pane, or measure it: "
            f"rlgpt-studio eval --skill {version.skill}",
        )
    world = get_world(version.world)
    seed = int(config.get("seed", 0))
    player = of_skill(version, database.library, world)
    coded = frozenset(action.name for action in player.actions)
    stage = _Stage(run.id, database, stopped, coded, parse(player.task_success, world.vocabulary()))
    stage.enter(RunState.PLAYING, f"{version.skill} version {version.version}, seed {seed}")
    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        evaluate(
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
    outcome = {
        "skill": version.skill,
        "version": version.version,
        "seed": seed,
        "frames": stage.frames,
        "success": stage.succeeded,
    }
    final = RunState.STOPPED if stage.was_stopped else RunState.FINISHED
    stage.tell(RunFinished(result=outcome))
    stage.enter(final)
    database.journal.set_state(run.id, final, result=outcome)


class _Stage:
    """Shows frames at a steady pace and obeys pause, continue and stop."""

    def __init__(
        self,
        run_id: str,
        database: Database,
        stopped: Callable[[], bool],
        coded: Collection[str],
        success: Predicate,
    ) -> None:
        self._run_id = run_id
        self._journal = database.journal
        self._stopped = stopped
        self._coded = coded
        self._success = success
        self._frames_left: int | None = None
        self.frames = 0
        self._paused = False
        self._over = False
        self._polled = 0.0
        self._seen = time.monotonic()
        self._detail = ""
        self._caption = ""

    def tell(self, event: Event) -> None:
        """Append one event to the history."""
        self._journal.append(self._run_id, [encode(event)])

    def enter(self, state: RunState, detail: str = "") -> None:
        """Tell that the run is in another state."""
        self._detail = detail
        self.tell(StateChanged(state=state.value, detail=detail))
        self._journal.set_state(self._run_id, state, detail)

    @property
    def succeeded(self) -> bool:
        """Whether the task's predicate came true."""
        return self._frames_left is not None

    @property
    def was_stopped(self) -> bool:
        """Whether the person or the system ended the play before its time."""
        return self._over or self._stopped()

    def should_stop(self) -> bool:
        """Whether the play is over: wanted so, or the task is done and seen."""
        now = time.monotonic()
        if now - self._polled > COMMAND_SECONDS:
            self._polled = now
            if self._journal.is_watched(self._run_id):
                self._seen = now
            for command in self._journal.take_commands(self._run_id):
                self._obey(command)
            self._over = self._over or now - self._seen > UNWATCHED_SECONDS
        return self.was_stopped or self._frames_left == 0

    def _obey(self, command: CommandKind) -> None:
        if command in ("abort", "stop_and_keep"):
            self._over = True
        elif command in ("pause", "continue") and self._paused != (command == "pause"):
            self._paused = command == "pause"
            self.enter(RunState.PAUSED if self._paused else RunState.PLAYING, self._detail)

    def show(self, env: Watched, caption: str) -> None:
        """Draw one frame, then wait as long as the pace (or a pause) asks."""
        rgb = env.frame(FRAME_SIZE)
        height, width = rgb.shape[:2]
        self._journal.put_frame(self._run_id, width, height, rgb.tobytes(), caption)
        self.frames = env.episode_frames
        self._note(env, caption if caption in self._coded else "primitive actions")
        time.sleep(1.0 / FRAMES_PER_SECOND)
        while self._paused and not self.should_stop():
            time.sleep(COMMAND_SECONDS)

    def _note(self, env: Watched, doing: str) -> None:
        """A line when the policy does something else, and one when the task is done."""
        if doing != self._caption:
            self._caption = doing
            self.tell(LogLine(level="info", text=f"frame {env.episode_frames}: {doing}"))
        if self._frames_left is not None:
            self._frames_left = max(0, self._frames_left - 1)
        elif self._success.holds(env.player):
            self._frames_left = FRAMES_AFTER_SUCCESS
            done = f"frame {env.episode_frames}: done, `{self._success.text}` holds"
            self.tell(LogLine(level="info", text=done))
