"""The training process on its own: the same work as here, steered, kept in, and outlived."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from pydantic import ValidationError

from engine.agents.plan import Plan
from engine.config import TrainingConfig
from engine.errors import EngineError
from engine.events import CheckpointSaved, LogLine, RunFinished, TrainingMetrics, TrainingStarted
from engine.rl.options import CodedAction
from engine.run.learner import EvaluationRequest, LocalLearner, TrainingRequest
from engine.run.training_messages import REPLIES, Told
from engine.run.training_process import TrainingProcess
from engine.run.training_worker import _failed
from engine.sandbox.pool import Sandbox
from engine.worlds.registry import get_world

PATIENCE = 120.0
WALK = """
def run() -> str:
    for step in range(6):
        if not act("move_left"):
            act("move_up")
    return "walked"
"""
LOOP = """
def run() -> str:
    act("move_up")
    steps = 1
    while steps > 0:
        steps = steps + 1
    return "never"
"""
BOMB = """
def run() -> str:
    act("move_down")
    kept = [0]
    while len(kept) > 0:
        try:
            kept = kept + kept
        except Exception:
            act("noop")
    return "never"
"""


def coded(name: str, code: str) -> CodedAction:
    return CodedAction(
        name, code, success="wood >= 1", precondition="true", interrupt="false", due="false",
        max_frames=40,
    )  # fmt: skip


class Listener:
    """A supervisor that keeps what it hears; its wishes are plain attributes."""

    def __init__(self) -> None:
        self.events: list[object] = []
        self.order = "go"
        self.looks = False
        self.frames: list[tuple[float, np.ndarray, str]] = []
        self.episodes: list[tuple[int, int]] = []
        self.on_event: Callable[[object], None] = lambda event: None

    def report(self, event):
        self.events.append(event)
        self.on_event(event)

    def control(self):
        return self.order

    def watched(self):
        return self.looks

    def draw(self, rgb, caption):
        self.frames.append((time.monotonic(), rgb, caption))

    def episode_over(self, done, of):
        self.episodes.append((done, of))

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture(scope="module")
def process() -> Iterator[TrainingProcess]:
    """One for all tests: it starts anew when it has died."""
    os.environ["MY_SERVICE_API_KEY"] = os.environ["PYTHON_LLM"] = "hunter2"
    try:
        with TrainingProcess(
            world="crafter", device="cpu", next_step="Resume it.", secrets={"PYTHON_LLM"}
        ) as made:
            yield made
        assert made.pid is None
    finally:
        del os.environ["MY_SERVICE_API_KEY"], os.environ["PYTHON_LLM"]


@pytest.fixture
def request_of(tmp_path: Path) -> Callable[..., TrainingRequest]:
    def make(*actions: CodedAction, folder: str = "one", **changes) -> TrainingRequest:
        config = TrainingConfig(
            n_envs=2, n_steps=16, batch_size=16, n_epochs=1, net_arch=(16,), checkpoint_frames=64
        )
        values = {
            "world": "crafter", "actions": actions or (coded("walk", WALK),), "goals": {},
            "task_success": "wood >= 1", "config": config, "frames": 320, "seed": 3,
            "episode_length": 60, "checkpoint_file": tmp_path / folder / "checkpoint",
            "seed_limit": 1000, **changes,
        }  # fmt: skip
        return TrainingRequest(**values)

    return make


def evaluation_of(request: TrainingRequest, trained=None) -> EvaluationRequest:
    return EvaluationRequest(
        world="crafter", policy="code_only" if trained is None else "trained",
        actions=request.actions, plan=Plan(task="t", world="crafter", author="me", subtasks=()),
        spec=None if trained is None else trained.spec, first_seed=2000, episodes=3,
        task_success=request.task_success, goals={}, episode_length=60,
    )  # fmt: skip


def figures(listener: Listener) -> list[dict[str, object]]:
    clocks = {"sps", "eta_seconds"}
    return [event.model_dump(exclude=clocks) for event in listener.of(TrainingMetrics)]


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


def test_it_trains_and_plays_as_this_process_does_with_monty(process, request_of, listener):
    here, request = Listener(), request_of(folder="here")
    world = get_world("crafter")
    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        learner = LocalLearner(sandbox)
        wanted = learner.train(request, here)
        played = learner.evaluate(evaluation_of(request, wanted), wanted.weights, here)

    trained = process.train(request_of(folder="there"), listener)
    assert trained == wanted
    assert figures(listener) == figures(here)
    assert len(figures(here)) == 10
    assert listener.of(TrainingStarted) == here.of(TrainingStarted)
    assert [e.frames for e in listener.of(CheckpointSaved)] == [64, 128, 192, 256, 320]
    there = process.evaluate(evaluation_of(request, trained), trained.weights, listener)
    assert there.model_dump(exclude={"seconds"}) == played.model_dump(exclude={"seconds"})
    assert listener.episodes == here.episodes == [(1, 3), (2, 3), (3, 3)]


def test_it_is_confined_and_knows_no_keys(process, request_of, listener):
    process.train(request_of(frames=32), listener)
    told = [event.text for event in listener.of(LogLine)]
    assert told[0] == "fast mode runs `walk` in the training process"
    assert "GiB of memory" in told[1]
    assert "no core files" in told[1]
    other = psutil.Process(process.pid)
    assert other.rlimit(psutil.RLIMIT_CORE) == (0, 0)
    assert 0 < other.rlimit(psutil.RLIMIT_AS)[1] < 2**36
    environment = other.environ()
    assert "PATH" in environment
    assert "hunter2" not in environment.values()


def test_hostile_code_ends_as_an_outcome_and_the_training_goes_on(process, request_of, listener):
    actions = coded("loop", LOOP), coded("bomb", BOMB), coded("walk", WALK)
    trained = process.train(request_of(*actions, frames=128), listener)
    assert (trained.ended, trained.frames) == ("budget", 128)
    assert "fast mode runs `loop`, `bomb`, `walk`" in listener.of(LogLine)[0].text
    used = set().union(*(event.usage for event in listener.of(TrainingMetrics)))
    assert used == {"loop", "bomb", "walk"}
    assert psutil.Process(process.pid).memory_info().rss < 2**30


def test_code_that_is_not_for_fast_mode_runs_in_monty(process, request_of, listener):
    helper = "def run() -> str:\n    act('noop')\n    return '%s' % 'x'\n"
    process.train(request_of(coded("old", helper), frames=32), listener)
    texts = [event.text for event in listener.of(LogLine)]
    assert texts[0].startswith("Monty runs `old`, which fast mode does not take: line 3")


def test_code_that_fails_its_check_does_not_run(process, request_of, listener):
    with pytest.raises(EngineError, match="code of 'bad' fails its check: line 2") as raised:
        process.train(request_of(coded("bad", f"\nimport os\n{WALK}")), listener)
    assert raised.value.hint == "Leave fast mode off."


def test_errors_come_back_with_their_next_step(process, request_of, listener):
    request = request_of()
    request.checkpoint_file.parent.mkdir()
    request.checkpoint_file.write_bytes(b"rubbish")
    with pytest.raises(EngineError, match=r"checkpoint .* cannot be used") as raised:
        process.train(request, listener)
    assert "Delete" in raised.value.hint


def test_too_little_memory_is_told_as_such():
    for error in (
        MemoryError(),
        RuntimeError("[enforce] DefaultCPUAllocator: can't allocate memory"),
    ):
        failed = _failed(error)
        assert "not enough memory" in failed.message
        assert "--no-fast-mode" in failed.hint
    assert _failed(KeyError("x")).message == "KeyError: 'x'"


def test_one_that_is_killed_is_told_and_its_checkpoint_goes_on(process, request_of, listener):
    whole = Listener()
    wanted = process.train(request_of(folder="whole"), whole)

    def kill(event: object) -> None:
        if isinstance(event, CheckpointSaved):
            os.kill(process.pid, signal.SIGKILL)

    listener.on_event = kill
    with pytest.raises(EngineError, match="SIGKILL, most likely because memory") as raised:
        process.train(request_of(folder="cut"), listener)
    assert raised.value.hint == "Resume it."
    assert process.pid is None
    again = Listener()
    assert process.train(request_of(folder="cut"), again) == wanted
    assert again.of(TrainingStarted)[0].frames_done > 0
    assert figures(again) == figures(whole)[-len(figures(again)) :]


def test_it_pauses_goes_on_and_stops(process, request_of, listener):
    def pause(event: object) -> None:
        if isinstance(event, TrainingMetrics) and len(listener.of(TrainingMetrics)) == 1:
            listener.order = "pause"

    listener.on_event = pause
    ended = []
    request = request_of(frames=10_000_000)
    thread = threading.Thread(target=lambda: ended.append(process.train(request, listener)))
    thread.start()
    wait_until(lambda: listener.order == "pause")
    time.sleep(0.5)  # longer than the wish takes to arrive
    still = len(listener.events)
    time.sleep(0.5)
    assert len(listener.events) == still
    listener.order = "go"
    wait_until(lambda: len(listener.events) > still + 3)
    listener.order = "stop_and_keep"
    thread.join(PATIENCE)
    assert ended[0].ended == "stop_and_keep"
    assert 0 < ended[0].frames < 10_000_000
    assert listener.of(CheckpointSaved)[-1].frames == ended[0].frames


def test_frames_come_while_somebody_looks_and_not_too_often(process, request_of, listener):
    request = request_of(frames=10_000_000)
    thread = threading.Thread(target=process.train, args=(request, listener))
    thread.start()
    wait_until(lambda: len(listener.of(TrainingMetrics)) > 3)
    assert listener.frames == []
    listener.looks = True
    wait_until(lambda: len(listener.frames) > 8)
    listener.order = "stop_and_keep"
    thread.join(PATIENCE)
    moments = [moment for moment, _, _ in listener.frames]
    assert (moments[-1] - moments[0]) / (len(moments) - 1) > 0.1
    _, rgb, caption = listener.frames[-1]
    assert rgb.shape == (63, 63, 3)
    assert rgb.std() > 10
    assert caption in {*get_world("crafter").primitives, "walk"}


def test_an_evaluation_that_is_aborted_gives_what_was_over(process, request_of, listener):
    listener.order = "abort"
    request = evaluation_of(request_of()).model_copy(update={"episodes": 500})
    assert process.evaluate(request, b"", listener).episodes < 500


def test_a_training_cannot_tell_what_is_not_its_to_say():
    finished = Told.model_construct(kind=RunFinished.KIND, payload={"result": {}})
    with pytest.raises(ValidationError, match="a training cannot tell 'finished'"):
        REPLIES.validate_json(finished.model_dump_json())
