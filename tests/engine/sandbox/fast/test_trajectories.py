"""Both executors play the official game alike, action for action and outcome for outcome."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from engine.agents.protocols import TaskContext
from engine.agents.rules.agents import rules_agents
from engine.agents.rules.programs import ProgramWriter
from engine.agents.rules.variants import Variant
from engine.sandbox.fast.code import FastCode
from engine.sandbox.fast.program import FastProgram
from engine.sandbox.fast.sandbox import FastSandbox
from engine.sandbox.pool import Sandbox
from engine.sandbox.turns import Raised, Returned, Turn, WorldCall
from engine.worlds.base import TaskSpec, WorldEnv
from engine.worlds.registry import get_world

WORLD = get_world("crafter")
FUNCTIONS = frozenset({WORLD.primitive_function, *WORLD.queries})
SEEDS = (3, 11, 27, 64)
FRAMES_PER_CODE = 45
LENGTH = 900


def codes_of(task: TaskSpec) -> dict[str, str]:
    """Everything the rules code for a task: as it comes first, and with a guard in it."""
    context = TaskContext(task, WORLD, training_frames=100_000)
    agents = rules_agents(WORLD)
    writer = ProgramWriter(WORLD, task)
    codes = {}
    for subtask in agents.planner.subtasks(context):
        for action in agents.slow.sub_actions(context, subtask, (), ()):
            if action.mode == "code":
                first = Variant.first(action)
                guarded = Variant(first.patience, prefer="mountain", defend=True)
                codes[action.name] = writer.write(action, first)
                codes[f"{action.name} guarded"] = writer.write(action, guarded)
    return codes


TASKS = {task.name: task for task in WORLD.tasks()}
DIAMOND = codes_of(TASKS["collect_diamond"])


@pytest.fixture(scope="module")
def monty() -> Iterator[Sandbox]:
    with Sandbox(WORLD.stub(), FUNCTIONS, harden=False) as made:
        yield made


@dataclass
class Player:
    """Plays programs in one episode of the official game and writes down what happens."""

    env: WorldEnv
    over: bool = False

    def __post_init__(self) -> None:
        self.indices = {name: index for index, name in enumerate(WORLD.primitives)}
        self.log: list[Any] = []
        self.asked: list[Any] = []

    def answer(self, function: str, args: tuple[Any, ...], kwargs: Any) -> Any:
        self.asked.append((function, args, dict(kwargs)))
        return self.env.player.answer(function, args, kwargs)

    def step(self, action: str) -> bool:
        _, reward, terminated, truncated, info = self.env.step(np.int64(self.indices[action]))
        self.over = bool(terminated or truncated)
        self.log.append((action, float(reward), bool(info["changed"])))
        return bool(info["changed"])

    def by_calls(self, program: Any) -> Turn | str:
        turn: Turn = program.start()
        frames = 0
        while isinstance(turn, WorldCall):
            if turn.function != WORLD.primitive_function:
                try:
                    value = self.answer(turn.function, turn.args, turn.kwargs)
                except ValueError as error:
                    turn = program.fail(str(error))
                else:
                    turn = program.answer(value)
            elif frames == FRAMES_PER_CODE or self.over:
                program.abort()
                return "cut"
            else:
                frames += 1
                turn = program.answer(self.step(turn.args[0]))
        return turn

    def by_actions(self, program: FastProgram) -> Turn | str:
        step: Any = program.begin(self.answer)
        frames = 0
        while isinstance(step, str):
            if frames == FRAMES_PER_CODE or self.over:
                program.abort()
                return "cut"
            frames += 1
            step = program.proceed(self.step(step))
        return step  # type: ignore[no-any-return]


def play(seed: int, load: Any, *, by_actions: bool) -> tuple[list[Any], list[Any], list[Any]]:
    """All codes one after another, round and round, until the episode is over."""
    env = WORLD.make_env(LENGTH)
    env.reset(seed=seed)
    player = Player(env)
    programs = {name: load(code) for name, code in DIAMOND.items()}
    ends: list[Any] = []
    for _ in range(2):
        for name, program in programs.items():
            drive = player.by_actions if by_actions else player.by_calls
            ends.append((name, drive(program), env.episode_frames))
            if player.over:
                break
    for program in programs.values():
        program.close()
    return ends, player.log, player.asked


@pytest.mark.parametrize("seed", SEEDS)
def test_all_codes_of_the_diamond_plan_play_alike(monty: Sandbox, seed: int) -> None:
    ends, log, asked = play(seed, monty.load, by_actions=False)
    assert len(log) > 100
    assert len(asked) > 500
    assert any(isinstance(end, Returned) for _, end, _ in ends)
    assert not any(isinstance(end, Raised) for _, end, _ in ends)
    with FastSandbox(monty, WORLD.primitive_function) as fast:
        assert play(seed, fast.load, by_actions=False) == (ends, log, asked)
        assert play(seed, fast.load, by_actions=True) == (ends, log, asked)


@pytest.mark.parametrize("task", TASKS)
def test_all_codes_of_the_rules_are_accepted(task: str) -> None:
    for code in codes_of(TASKS[task]).values():
        FastCode(code, FUNCTIONS, WORLD.primitive_function)


def test_the_example_shown_to_language_models_is_accepted() -> None:
    text = (files("engine.agents.prompts") / "example_crafter.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    FastCode(code, FUNCTIONS, WORLD.primitive_function)
