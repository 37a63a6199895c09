"""What the rules' programs do in the official game."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from engine.agents.draft import draft
from engine.agents.executive import PlanExecutive
from engine.agents.protocols import TaskContext
from engine.agents.rules.agents import rules_agents
from engine.rl.options import CodedAction, OptionEnd, OptionExecution
from engine.sandbox.pool import Sandbox
from engine.worlds.base import WorldEnv
from engine.worlds.predicate import parse
from engine.worlds.registry import get_world

WORLD = get_world("crafter")
TASKS = {task.name: task for task in WORLD.tasks()}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    functions = frozenset({WORLD.primitive_function, *WORLD.queries})
    with Sandbox(WORLD.stub(), functions) as made:
        yield made


def coded(task: str) -> tuple[Any, dict[str, CodedAction]]:
    plan, actions = draft(rules_agents(WORLD), TaskContext(TASKS[task], WORLD, 1_000))
    return plan, {action.name: action for action in actions}


def run(env: WorldEnv, action: CodedAction, sandbox: Sandbox) -> OptionEnd:
    """One execution in the game."""
    words = WORLD.vocabulary()
    program = sandbox.load(action.code)
    execution = OptionExecution(
        action, program, WORLD, parse(action.interrupt, words), parse(action.success, words)
    )
    following = execution.begin(env.player)
    try:
        while not isinstance(following, OptionEnd):
            _, _, terminated, _, info = env.step(np.int64(following))
            if terminated:
                return execution.cut("died", "")
            following = execution.proceed(env.player, bool(info["changed"]))
    finally:
        program.close()
    return following


def test_code_alone_gets_far_in_one_day(sandbox: Sandbox) -> None:
    plan, actions = coded("all_achievements")
    env = WORLD.make_env()
    env.reset(seed=2023)
    executive = PlanExecutive(plan, list(actions.values()), WORLD)
    chosen: set[str] = set()
    while env.episode_frames < 400 and (action := executive.choose(env.player)) is not None:
        chosen.add(action.name)
        end = run(env, action, sandbox)
        assert end.outcome not in ("error", "died"), f"{action.name}: {end}"
    assert len(env.achievements) >= 13
    assert not {name for name in chosen if actions[name].due == "false"}


@pytest.mark.parametrize(
    ("name", "held"), [("take_shelter", {}), ("go_to_water", {}), ("nap", {"energy": 3})]
)
def test_a_manoeuvre_does_what_it_says(name: str, held: dict[str, int], sandbox: Sandbox) -> None:
    _, actions = coded("all_achievements")
    env: Any = WORLD.make_env()
    env.reset(seed=2023)
    words = WORLD.vocabulary()
    action = actions[name]
    env.game.player.inventory.update({"stone": 9, "wood_pickaxe": 1, **held})
    explore = actions["look_around"]
    for _ in range(40):
        if parse(action.precondition, words).holds(env.player):
            break
        run(env, explore, sandbox)
    end = run(env, action, sandbox)
    assert end.outcome == "success", end


def test_a_planted_sapling_is_fenced(sandbox: Sandbox) -> None:
    _, actions = coded("all_achievements")
    env: Any = WORLD.make_env()
    env.reset(seed=2023)
    env.game.player.inventory.update({"stone": 9, "sapling": 1})
    env.step(np.int64(0))
    assert run(env, actions["set_up_plant"], sandbox).outcome == "success"
    assert run(env, actions["fence_plant"], sandbox).outcome == "success"
    assert env.player.term("fenced") == 1


def night_without_zombies(frame: int) -> Any:
    """A game at this frame in which nothing strikes; the player can build a room."""
    env: Any = WORLD.make_env()
    env.reset(seed=2023)
    env.game._balance_chunk = lambda *_: None
    for thing in list(env.game._world.objects):
        if thing is not env.game.player:
            env.game._world.remove(thing)
    while env.episode_frames < frame:
        env.game.player.inventory.update({"health": 9, "food": 9, "drink": 9, "energy": 5})
        env.game.player.inventory.update({"stone": 9, "wood_pickaxe": 1})
        env.step(np.int64(0))
    return env


@pytest.mark.parametrize(("name", "frame"), [("hide_until_day", 140), ("wait_for_day", 180)])
def test_a_night_is_sat_out_to_its_end(name: str, frame: int, sandbox: Sandbox) -> None:
    _, actions = coded("all_achievements")
    env = night_without_zombies(frame)
    if name == "wait_for_day":
        assert run(env, actions["take_shelter"], sandbox).outcome == "success"
    assert parse(actions[name].precondition, WORLD.vocabulary()).holds(env.player)
    end = run(env, actions[name], sandbox)
    assert end.outcome == "success", end
    assert env.player.term("enclosed") == 1
    assert env.player.term("day_frame") == 5


def test_by_day_to_hide_is_to_make_a_room(sandbox: Sandbox) -> None:
    _, actions = coded("all_achievements")
    env = night_without_zombies(60)
    end = run(env, actions["hide_until_day"], sandbox)
    assert (end.outcome, env.player.term("enclosed")) == ("success", 1)
    assert 0 < end.frames <= 90


def test_who_waits_gives_up_in_a_room_that_is_open(sandbox: Sandbox) -> None:
    _, actions = coded("all_achievements")
    end = run(night_without_zombies(160), actions["wait_for_day"], sandbox)
    assert (end.outcome, end.detail, end.frames) == ("failed", "the room is open", 0)
