"""A tiny deterministic world with its own stub, and programs scripted as Python generators."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import pytest

from engine.rl.decisions import Finished
from engine.rl.episodes import ListedSeeds, TrainingSeeds
from engine.rl.option_batch import OptionBatch
from engine.rl.option_set import OptionSet
from engine.rl.options import CodedAction
from engine.sandbox.turns import Raised, Returned, Turn, WorldCall
from engine.worlds.base import Answer, TaskSpec, Vocabulary, WorldEnv
from engine.worlds.env_batch import EnvBatch

SIZE = 6
MOVES = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
PRIMITIVES = ("noop", *MOVES, "take")
STUB = '''
from typing import Literal

Action = Literal["noop", "left", "right", "up", "down", "take"]

def act(action: Action) -> bool:
    """Take one primitive action; True if it moved the player or took the gem."""

def position() -> tuple[int, int]:
    """Where the player stands."""

def gem_offset() -> tuple[int, int]:
    """From the player to the gem."""

def whistle(tune: int) -> str:
    """Refuses any tune but 1."""
'''
Start = tuple[tuple[int, int], tuple[int, int]]
"""Cells of the player and of the gem."""


class ToyPlayer:
    """What the player of the meadow knows."""

    def __init__(self, env: ToyEnv) -> None:
        self._env = env

    def term(self, name: str, argument: str | None = None) -> float:
        if name == "unlocked":
            return float(argument in self._env.achievements)
        if name == "on_gem":
            return float(self._env.at == self._env.gem)
        return self.terms()[name]

    def answer(self, function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Answer:
        env = self._env
        if function == "position":
            return env.at
        if function == "gem_offset":
            return (env.gem[0] - env.at[0], env.gem[1] - env.at[1])
        if args != (1,):
            raise ValueError(f"`whistle` knows the tune 1 only, not {args!r}")
        return "tweet"

    def terms(self) -> Mapping[str, float]:
        return {"gems": self._env.gems, "frames": self._env.count, "x": self._env.at[0]}


class ToyEnv(WorldEnv):
    """A meadow of 6 x 6 cells with one gem at a time and a pit in the corner (5, 5)."""

    def __init__(self, length: int, starts: list[Start]) -> None:
        self.length = length
        self._starts = starts
        self.observation_space = gymnasium.spaces.Box(-1, 1, (6,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(len(PRIMITIVES))
        self.at = self.gem = (0, 0)
        self.gems = self.count = 0
        self._rng = np.random.default_rng(0)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._rng = np.random.default_rng(seed)
        self.gems = self.count = 0
        self.at = (5, 5)
        self.at = self._cell()
        self.gem = self._cell()
        if self._starts:
            self.at, self.gem = self._starts.pop(0)
        return self._observation(), {}

    def step(self, action):
        self.count += 1
        name = PRIMITIVES[int(action)]
        before, reward, unlocked = (self.at, self.gem), 0.0, ()
        if name in MOVES:
            dx, dy = MOVES[name]
            self.at = (min(max(self.at[0] + dx, 0), 5), min(max(self.at[1] + dy, 0), 5))
        elif name == "take" and self.at == self.gem:
            unlocked = () if self.gems else ("take_gem",)
            self.gems += 1
            self.gem = self._cell()
            reward = 1.0
        fell = self.at == (5, 5)
        info = {"unlocked": unlocked, "changed": (self.at, self.gem) != before or reward > 0}
        return (
            self._observation(),
            reward - float(fell),
            fell,
            self.count >= self.length,
            info,
        )

    @property
    def player(self) -> ToyPlayer:
        return ToyPlayer(self)

    def snapshot(self) -> bytes:
        rng = self._rng.bit_generator.state
        return json.dumps([self.at, self.gem, self.gems, self.count, rng]).encode()

    def restore(self, snapshot: bytes):
        at, gem, self.gems, self.count, rng = json.loads(snapshot)
        self.at, self.gem = tuple(at), tuple(gem)
        self._rng.bit_generator.state = rng
        return self._observation()

    def frame(self, size: int = 64):
        return np.zeros((size, size, 3), np.uint8)

    @property
    def achievements(self) -> frozenset[str]:
        return frozenset({"take_gem"}) if self.gems else frozenset()

    @property
    def episode_frames(self) -> int:
        return self.count

    def _cell(self) -> tuple[int, int]:
        while (cell := tuple(int(v) for v in self._rng.integers(0, SIZE, 2))) in ((5, 5), self.at):
            pass
        return cell

    def _observation(self):
        dx, dy = self.gem[0] - self.at[0], self.gem[1] - self.at[1]
        seen = [np.sign(dx), np.sign(dy), dx == dy == 0, self.at[0] / 5, self.at[1] / 5, 1]
        return np.array(seen, dtype=np.float32)


class ToyWorld:
    name = "meadow"
    title = "Meadow"
    primitives = PRIMITIVES
    primitive_function = "act"
    queries = frozenset({"position", "gem_offset", "whistle"})
    achievements = ("take_gem",)
    episode_length = 30

    def __init__(self) -> None:
        self.starts: list[Start] = []
        """Where the next episodes begin; by their seeds once these are used up."""

    def make_env(self, length: int | None = None) -> ToyEnv:
        return ToyEnv(length or self.episode_length, self.starts)

    def make_batch(self, size: int, length: int | None = None, *, training: bool) -> EnvBatch:
        return EnvBatch(self, size, length)

    def stub(self) -> str:
        return STUB

    def vocabulary(self) -> Vocabulary:
        return Vocabulary(
            frozenset({"gems", "frames", "x"}),
            frozenset({"on_gem"}),
            {"unlocked": frozenset({"take_gem"})},
        )

    def facts(self) -> str:
        return "A gem lies somewhere."

    def recipes(self):
        return ()

    def tasks(self):
        return (TaskSpec("gems", "take three gems", "gems >= 3"),)

    def observation_parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"gem": (0, 1, 2), "place": (3, 4), "one": (5,)}

    def score(self, success: Mapping[str, float]) -> float:
        return 100.0 * sum(success.values()) / len(self.achievements)


Script = Callable[[], Generator[WorldCall, Any, str]]


class ScriptedProgram:
    """A program whose code is a Python generator: yields world calls, returns the text."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._running: Generator[WorldCall, Any, str] | None = None
        self.started = 0
        self.heard: list[Answer] = []
        self.aborted = 0
        """Executions that were under way when they were aborted."""
        self.closed = False

    def start(self) -> Turn:
        assert self._running is None, "started twice"
        self.started += 1
        self._running = self._script()
        return self._turn(lambda running: next(running))

    def answer(self, value: Answer) -> Turn:
        self.heard.append(value)
        return self._turn(lambda running: running.send(value))

    def fail(self, message: str) -> Turn:
        return self._turn(lambda running: running.throw(ValueError(message)))

    def abort(self) -> None:
        self.aborted += self._running is not None
        self._running = None

    def close(self) -> None:
        self._running = None
        self.closed = True

    def _turn(self, step) -> Turn:
        assert self._running is not None, "not running"
        try:
            return step(self._running)
        except StopIteration as end:
            self._running = None
            return Returned(end.value)
        except Exception as error:
            self._running = None
            return Raised(f"{type(error).__name__}: {error}", 7, "exception")


class ScriptedSandbox:
    """Loads scripts by the text that stands for their code."""

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self.scripts = dict(scripts)
        self.programs: list[ScriptedProgram] = []

    def load(self, code: str) -> ScriptedProgram:
        self.programs.append(ScriptedProgram(self.scripts[code]))
        return self.programs[-1]


def call(function: str, *args: Any, **kwargs: Any) -> WorldCall:
    return WorldCall(function, args, kwargs, 1)


def fetch() -> Generator[WorldCall, Any, str]:
    """Walk to the gem and take it."""
    while True:
        dx, dy = yield call("gem_offset")
        if dx:
            yield call("act", "left" if dx < 0 else "right")
        elif dy:
            yield call("act", "up" if dy < 0 else "down")
        else:
            yield call("act", "take")
            return "took it"


def again(*names: str) -> Script:
    """These primitives over and over."""

    def script() -> Generator[WorldCall, Any, str]:
        while True:
            for name in names:
                yield call("act", name)

    return script


def nothing() -> Generator[WorldCall, Any, str]:
    yield call("position")
    return "nothing to do"


def hop() -> Generator[WorldCall, Any, str]:
    for _ in range(3):
        yield call("act", "right")
    return "three cells further"


SCRIPTS: Mapping[str, Script] = {
    "fetch": fetch,
    "idle": again("noop"),
    "nothing": nothing,
    "east": again("right"),
    "hop": hop,
    "pace": again("right", "right", "left", "left"),
}


def coded(name: str = "fetch_gem", code: str = "fetch", **changes: Any) -> CodedAction:
    fields = {
        "success": "gems >= 1",
        "precondition": "true",
        "interrupt": "false",
        "max_frames": 20,
    }
    return CodedAction(name, code, **{**fields, **changes})


@pytest.fixture
def world() -> ToyWorld:
    return ToyWorld()


@pytest.fixture
def sandbox() -> ScriptedSandbox:
    return ScriptedSandbox(SCRIPTS)


@pytest.fixture
def make_action() -> Callable[..., CodedAction]:
    return coded


@pytest.fixture
def world_call() -> Callable[..., WorldCall]:
    return call


@pytest.fixture
def scripted_program() -> type[ScriptedProgram]:
    return ScriptedProgram


@pytest.fixture
def make_batch(world: ToyWorld, sandbox: ScriptedSandbox) -> Callable[..., OptionBatch]:
    """An `OptionBatch` of the meadow over the given coded actions, not begun."""

    def make(
        *actions: CodedAction,
        size: int = 1,
        length: int | None = None,
        seeds: Any = None,
        **changes: Any,
    ) -> OptionBatch:
        settings = {"gamma": 0.5, "goals": {}, "task_success": "gems >= 3", **changes}
        return OptionBatch(
            world.make_batch(size, length, training=True),
            OptionSet(world, actions, sandbox),
            TrainingSeeds(0, size) if seeds is None else ListedSeeds(seeds),
            **settings,
        )

    return make


@pytest.fixture
def begun(world: ToyWorld, make_batch: Callable[..., OptionBatch]) -> Callable[..., OptionBatch]:
    """An `OptionBatch` whose first episodes begin with the player and the gem at these cells."""

    def make(
        *actions: CodedAction,
        at: tuple[int, int] = (0, 0),
        gem: tuple[int, int] = (5, 0),
        starts: Sequence[Start] = (),
        **settings: Any,
    ) -> OptionBatch:
        world.starts = list(starts) or [(at, gem)]
        batch = make_batch(*actions, size=len(world.starts), **settings)
        batch.begin()
        return batch

    return make


@pytest.fixture
def decide() -> Callable[[OptionBatch, int], Finished]:
    """Take one decision at the only place, to its end."""

    def take(batch: OptionBatch, action: int) -> Finished:
        assert not batch.choose(np.array([0]), np.array([action])).size, "it took no frame"
        for _ in range(500):
            finished = batch.advance()
            if finished.places.size:
                return finished
        raise AssertionError("it does not end")

    return take
