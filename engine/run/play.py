"""Watching a saved skill play: a run of kind `play`, followed like any other run."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.events import LogLine, RunFinished, StateChanged, encode
from engine.rl.evaluate import Evaluation, evaluate
from engine.run.players import of_skill
from engine.sandbox.pool import Sandbox
from engine.worlds.base import WorldEnv
from engine.worlds.registry import get_world
from skills_db.database import Database
from skills_db.records import RunRecord, RunState

FRAMES_PER_SECOND = 12.0
FRAME_SIZE = 63


def play(run: RunRecord, database: Database, stopped: Callable[[], bool]) -> None:
    """Play one episode of a skill, drawing every frame at a pace the eye can follow."""
    journal = database.journal
    config = dict(run.config)
    version = database.library.version(str(config["skill"]), config.get("version"))
    world = get_world(version.world)
    seed = int(config.get("seed", 0))
    state = {"told": "", "command": "go", "polled": 0.0}

    def should_stop() -> bool:
        now = time.monotonic()
        if now - float(state["polled"]) > 0.25:
            state["polled"] = now
            for command in journal.take_commands(run.id):
                state["command"] = "go" if command == "continue" else command
        return stopped() or state["command"] in ("abort", "stop_and_keep")

    def show(env: WorldEnv, caption: str) -> None:
        rgb = env.frame(FRAME_SIZE)
        journal.put_frame(run.id, rgb.shape[1], rgb.shape[0], rgb.tobytes(), caption)
        if caption != state["told"]:
            state["told"] = caption
            line = LogLine(level="info", text=f"frame {env.episode_frames}: {caption}")
            journal.append(run.id, [encode(line)])
        time.sleep(1.0 / FRAMES_PER_SECOND)
        while not should_stop() and state["command"] == "pause":
            time.sleep(0.1)

    changed = StateChanged(state=RunState.PLAYING.value, detail=f"{version.skill}, seed {seed}")
    journal.append(run.id, [encode(changed)])
    journal.set_state(run.id, RunState.PLAYING, changed.detail)
    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        player = of_skill(version, database.library, world)
        played: Evaluation = evaluate(
            world,
            player.policy,
            player.actions,
            sandbox,
            seeds=range(seed, seed + 1),
            task_success=player.task_success,
            goals={},
            episode_length=config.get("episode_length"),
            on_frame=show,
            should_stop=should_stop,
        )
    outcome = {"skill": version.skill, "version": version.version, **played.model_dump(mode="json")}
    journal.append(run.id, [encode(RunFinished(result=outcome))])
    final = RunState.STOPPED if should_stop() else RunState.FINISHED
    journal.append(run.id, [encode(StateChanged(state=final.value))])
    journal.set_state(run.id, final, result=outcome)
