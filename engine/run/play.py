"""Watching a saved skill play: a run of kind `play`, followed like any other run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from engine.agents.executive import PlanExecutive
from engine.agents.plan import Plan, SubAction
from engine.errors import ConfigError
from engine.events import LogLine, RunFinished, StateChanged, encode
from engine.rl.evaluate import Evaluation, evaluate
from engine.rl.options import CodedAction
from engine.rl.policies import ExecutivePolicy, Policy
from engine.sandbox.pool import Sandbox
from engine.worlds.base import World, WorldEnv
from engine.worlds.registry import get_world
from skills_db.database import Database
from skills_db.records import RunRecord, RunState, SkillVersionRecord

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
        policy, actions, success = policy_of_skill(version, database, world)
        played: Evaluation = evaluate(
            world,
            policy,
            actions,
            sandbox,
            seeds=range(seed, seed + 1),
            task_success=success,
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


def policy_of_skill(
    version: SkillVersionRecord, database: Database, world: World
) -> tuple[Policy, Sequence[CodedAction], str]:
    """How a skill acts: policy, its coded actions, and the predicate that says it succeeded.

    A coded action alone can rarely start from nothing (iron wants a pickaxe first), so it plays
    after the coded actions it was learnt with, in plan order.
    """
    if version.kind == "policy":
        from engine.rl.policy_file import NetworkPolicy, PolicySpec

        spec = PolicySpec.model_validate(version.metadata["spec"])
        weights = database.library.weights(version)
        if weights is None:
            raise ConfigError(
                f"the policy of skill {version.skill!r} version {version.version} has no weights",
                "Train the task again and save the skill anew.",
            )
        return NetworkPolicy.load(spec, weights), spec.actions, spec.task_success
    sub_action = SubAction.model_validate(version.metadata["sub_action"])
    plan = Plan.model_validate(version.metadata["plan"])
    actions = _companions(version, plan)
    return (
        ExecutivePolicy(PlanExecutive(plan, actions, world), actions, world),
        actions,
        sub_action.success,
    )


def _companions(version: SkillVersionRecord, plan: Plan) -> tuple[CodedAction, ...]:
    known: dict[str, dict[str, Any]] = {
        str(item["sub_action"]): dict(item) for item in version.metadata["actions"]
    }
    known[version.skill] = {"code": version.code, "version": version.version, "works": True}
    return tuple(
        CodedAction(
            name=action.name,
            code=str(known[action.name]["code"]),
            success=action.success,
            precondition=action.precondition,
            interrupt=action.interrupt,
            max_frames=action.budget,
            version=int(known[action.name]["version"]),
        )
        for action in plan.sub_actions("code")
        if action.name in known and known[action.name]["works"]
    )
