"""Pictures, events, and a database with skills and runs, as real runs would have left them."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import random
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import crafter
import numpy as np
import pytest
from textual.pilot import Pilot
from textual.worker import WorkerCancelled, WorkerFailed

from engine import events
from engine.agents.plan import Critique, Trial
from skills_db.database import Database
from skills_db.records import EventRecord, FrameRecord, Owner, RunState, SkillDraft
from studio.app import StudioApp
from studio.paths import Paths
from studio.run_bridge import StudioData
from studio.settings import Settings

FRAME_SIZE = 63
NOW = datetime(2026, 5, 3, 14, 0, tzinfo=UTC)
GONE_PID = 2**22 + 1
"""Linux gives no process a number above 2**22."""

FIRST_CODE = '''def run() -> str:
    """Walk to the nearest tree and chop it."""
    while count("wood") < 5:
        tree = nearest("tree")
        if tree is None:
            return "no tree in sight"
        act("do")
    return "wood collected"
'''
SECOND_CODE = '''def run() -> str:
    """Walk to the nearest tree and chop it; look around when none is in sight."""
    while count("wood") < 5:
        tree = nearest("tree")
        if tree is None:
            act("move_left")
            continue
        act("do")
    return "wood collected"
'''


@pytest.fixture(scope="session")
def make() -> ModuleType:
    """This file's own functions; test modules cannot import each other."""
    return sys.modules[__name__]


@pytest.fixture(scope="session")
def crafter_rgb() -> bytes:
    """A picture by crafter's own renderer, always the same one."""
    env = crafter.Env(seed=3, size=(FRAME_SIZE, FRAME_SIZE))
    env.reset()
    return bytes(np.ascontiguousarray(env.render((FRAME_SIZE, FRAME_SIZE)), dtype=np.uint8))


@pytest.fixture
def make_frame(crafter_rgb: bytes) -> Callable[..., FrameRecord]:
    """Makes frames of the picture with a sequence number and a caption."""

    def make(seq: int = 1, caption: str = "collect_wood · seed 3 · frame 12") -> FrameRecord:
        return FrameRecord("run1", seq, FRAME_SIZE, FRAME_SIZE, crafter_rgb, caption)

    return make


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is UTC, so that times in pictures are the same everywhere."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


CODED = ("collect_wood", "find_diamond", "take_shelter", "drink")


def training_events(updates: int) -> list[events.Event]:
    """A training of crafter that learns, as far as it has come."""
    rng = random.Random(0)
    made: list[events.Event] = [
        events.TrainingStarted(
            frames_total=1_000_000,
            frames_done=0,
            actions=(*(f"action_{index}" for index in range(17)), *CODED),
            coded_actions=4,
            device="cpu",
            parameters=52_345,
        )
    ]
    for update in range(1, updates + 1):
        frames = update * 1024
        early = update < 8
        made.append(
            events.TrainingMetrics(
                frames=frames,
                frames_total=1_000_000,
                success_rate=None if early else 1 / (1 + math.exp(-(update - 200) / 50)),
                episodic_return=None if early else update / 80 + rng.gauss(0, 0.3),
                episodic_length=231.4,
                sps=1534 + rng.gauss(0, 50),
                entropy=2.8 - update / 200,
                approx_kl=abs(rng.gauss(0.01, 0.004)),
                clipfrac=0.12,
                explained_variance=0.9 - math.exp(-update / 80),
                policy_loss=-0.0123,
                value_loss=0.345,
                decisions=frames // 2,
                coded_share=0.23,
                eta_seconds=(1_000_000 - frames) / 1534,
                usage={
                    "collect_wood": 0.5 - update / 1000,
                    "find_diamond": update / 1000 + 0.01 * (update % 2),
                    "take_shelter": 0.1,
                },
                plan_share=0.95 - update / 4000,
            )
        )
    made.append(
        events.DeviceSampled(
            name="NVIDIA H200",
            is_gpu=True,
            utilisation=71,
            memory_used_gb=12.3,
            memory_total_gb=139.8,
            temperature_c=56,
            cpu_percent=38,
            rss_gb=2.4,
        )
    )
    return made


def event_record(seq: int, event: events.Event) -> EventRecord:
    """The event as the database would hand it out."""
    return EventRecord("run-1", seq, NOW + timedelta(seconds=seq), *events.encode(event))


def trial(index: int, outcome: str, version: int = 1, **changes: object) -> Trial:
    """One trial of collect_wood."""
    values: dict[str, object] = {
        "sub_action": "collect_wood",
        "version": version,
        "index": index,
        "seed": 3 + index,
        "outcome": outcome,
        "detail": "wood collected" if outcome == "success" else "",
        "frames": 30 + 41 * index,
        "actions": (("move_left", 3), ("move_up", 1), ("do", 5), ("move_right", 12), ("do", 2)),
        "gained": {"wood": 5.0, "drink": -1.0} if outcome == "success" else {"drink": -1.0},
    }
    return Trial.model_validate(values | changes)


def critique(version: int, works: bool) -> Critique:
    """The critic's word on collect_wood."""
    return Critique(
        sub_action="collect_wood",
        version=version,
        success_rate=1.0 if works else 0.25,
        trials=4,
        works=works,
        typical_failure="" if works else "stands before the tree and looks the other way",
        text="Reaches a tree on every seed." if works else "It gives up when no tree is in sight.",
        suggestion="" if works else "Look around before giving up.",
        author="rules",
    )


EVALUATION = {
    "policy": "trained",
    "seeds": "1000000:1000020",
    "episodes": 20,
    "success": {"collect_wood": 0.95, "place_table": 0.8, "collect_diamond": 0.35, "wake_up": 0.1},
    "score": 12.34,
    "reward_mean": 5.21,
    "length_mean": 231.5,
    "task_success": 0.35,
    "goals": {"collect_wood": 0.95, "find_diamond": 0.35},
    "frames": 4630,
    "seconds": 12.0,
    "baseline": {
        "policy": "untrained",
        "success": {
            "collect_wood": 0.9,
            "place_table": 0.1,
            "collect_diamond": 0.0,
            "wake_up": 0.3,
        },
        "score": 2.5,
        "reward_mean": 1.9,
        "length_mean": 171.5,
        "task_success": 0.0,
        "goals": {"collect_wood": 0.9, "find_diamond": 0.0},
    },
}


def departures(*pairs: dict[str, object], followed: int, **changes: object) -> dict[str, object]:
    """Where a policy left the plan in ten episodes, as an evaluation has it."""
    left = sum(int(str(pair["decisions"])) for pair in pairs)
    return {
        "episodes": 10,
        "decisions": followed + left,
        "followed": followed,
        "silent": 7,
        "flags": ["sleeping"],
        "situation": {"health": 6.8, "daylight": 0.7, "threat": 60.0, "sleeping": 0.1},
        "spread": {"health": 2.0, "daylight": 0.4, "threat": 45.0, "sleeping": 0.3},
        "steps": {
            "drink": {
                "decisions": 400,
                "followed": 100,
                "situation": {"health": 6.5, "daylight": 0.72, "threat": 60.0, "sleeping": 0.0},
            }
        },
        "pairs": [*pairs],
        "rarer_pairs": 0,
    } | changes


def departure(policy: str, decisions: int, **situation: float) -> dict[str, object]:
    """So many decisions at which code would have drunk."""
    usual = {"health": 6.5, "daylight": 0.72, "threat": 60.0, "sleeping": 0.0}
    return {
        "code": "drink",
        "policy": policy,
        "decisions": decisions,
        "episodes": min(9, decisions),
        "situation": usual | situation,
    }


def compared(**changes: object) -> dict[str, object]:
    """The evaluation with departures: much shelter, some noise, and what the others do too."""
    trained = departures(
        departure("take_shelter", 140, health=4.1, daylight=0.1, threat=3.0, sleeping=0.25),
        departure("gather_wood", 60),
        departure("eat", 30, health=6.4),
        departure("noop", 4),
        followed=766,
        rarer_pairs=12,
    )
    untrained = departures(
        departure("eat", 50), departure("take_shelter", 4), followed=946, rarer_pairs=3
    )
    code_only = departures(departure("noop", 20), followed=980)
    baseline = EVALUATION["baseline"]
    assert isinstance(baseline, dict)
    return {
        **EVALUATION,
        "departures": trained,
        "baseline": {**baseline, "departures": untrained},
        "code_only": {**baseline, "policy": "code_only", "departures": code_only},
    } | changes


class Clock:
    """A clock that goes on only when it is told to."""

    def __init__(self, start: datetime) -> None:
        self.time = start

    def __call__(self) -> datetime:
        return self.time

    def go(self, **time: float) -> None:
        """Go on."""
        self.time += timedelta(**time)


@pytest.fixture
def clock() -> Clock:
    """Begins two days before now."""
    return Clock(NOW - timedelta(days=2))


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A home of its own."""
    home = tmp_path / "home"
    return Paths(home, f"sqlite:///{home / 'studio.db'}", home / "config.toml", home / "studio.log")


@pytest.fixture
def database(paths: Paths, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """An empty real database with that clock; runs get ids that can be foreseen."""
    numbers = itertools.count(1)
    monkeypatch.setattr("skills_db.runs.new_run_id", lambda now: f"run-{next(numbers)}")
    with Database.open(paths.database_url, clock=clock) as opened:
        yield opened


def fill_skills(database: Database, clock: Clock) -> None:
    """Three coded actions, one in two versions, and a policy."""

    def draft(name: str, code: str, rate: float, **changes: object) -> SkillDraft:
        values: dict[str, object] = {
            "name": name,
            "world": "crafter",
            "kind": "coded_action",
            "description": f"{name.replace('_', ' ').capitalize()} and stop.",
            "code": code,
            "success_rate": rate,
            "episodes": 5,
            "run_id": "run-1",
            "agents": "rules",
            "approver": "ada@lab",
        }
        return SkillDraft(**(values | changes))  # type: ignore[arg-type]

    database.library.save(draft("collect_wood", FIRST_CODE, 0.6))
    clock.go(hours=5)
    database.library.save(draft("place_table", FIRST_CODE.replace("wood", "table"), 1.0))
    clock.go(hours=20)
    database.library.save(draft("collect_wood", SECOND_CODE, 0.8))
    clock.go(hours=20)
    database.library.save(
        draft(
            "collect_a_diamond",
            "",
            0.35,
            kind="policy",
            description="Policy for: collect a diamond",
            episodes=20,
            weights=b"weights",
            metadata={
                "evaluation": EVALUATION,
                "training_frames": 1_000_000,
                "spec": {"actions": [{"name": "collect_wood"}, {"name": "place_table"}]},
            },
        )
    )


def fill_runs(database: Database, clock: Clock) -> None:
    """A finished run, a failed one, one whose process died, one that waits, one at work."""
    journal = database.journal

    def begin(task: str, agents: str = "rules", pid: int | None = None) -> str:
        config = {"frames": 100_000, "llm": {"model": "gpt-5-mini"}}
        run = journal.create_run(
            kind="task", task=task, world="crafter", agents=agents, config=config
        )
        if pid is not None:
            journal.claim(run.id, Owner(pid, socket.gethostname(), f"token-{run.id}"))
            journal.heartbeat(run.id, f"token-{run.id}", 41_000)
        return run.id

    done = begin("collect a diamond", pid=os.getpid())
    journal.heartbeat(done, f"token-{done}", 100_000)
    clock.go(minutes=12)
    skills = [{"name": "collect_wood", "version": 1, "kind": "coded_action", "success_rate": 0.6}]
    result = {"evaluation": EVALUATION, "skills": skills, "frames": 100_000}
    journal.set_state(done, RunState.FINISHED, result=result)
    journal.release(done, f"token-{done}")
    clock.go(hours=20)
    failed = begin("collect a diamond", agents="llm", pid=os.getpid())
    journal.append(
        failed,
        [
            events.encode(
                events.RunFailed(
                    message="The server at 'http://localhost:8000/v1' did not answer.",
                    hint="Start it, or choose the rules agents.",
                )
            )
        ],
    )
    journal.set_state(failed, RunState.FAILED, "The server did not answer.")
    journal.release(failed, f"token-{failed}")
    clock.go(hours=20)
    died = begin("make an iron pickaxe", pid=GONE_PID)
    journal.set_state(died, RunState.TRAINING, "PPO over 21 actions")
    clock.time = NOW - timedelta(minutes=7)
    waits = begin("place a furnace")
    journal.set_state(waits, RunState.WAITING, "plan")
    clock.time = NOW - timedelta(seconds=5)
    works = begin("survive the night", pid=os.getpid())
    journal.set_state(works, RunState.TRAINING, "PPO over 19 actions")
    clock.time = NOW


class ClockedData(StudioData):
    """Studio data whose database sees the same time as the test."""

    def __init__(self, database: Database) -> None:
        super().__init__(database.url)
        self._database = database

    def close(self) -> None:
        """The fixture closes the database."""


@pytest.fixture
def studio(paths: Paths, database: Database, clock: Clock, utc: None) -> StudioApp:
    """The real app on that database, standing at NOW."""
    app = StudioApp(paths, Settings(theme="studio-dark"))
    app.data = ClockedData(database)
    app.now = lambda: NOW
    clock.time = NOW - timedelta(days=2)
    return app


@pytest.fixture
def settle() -> Callable[[Pilot[str]], Awaitable[None]]:
    """Waits until no thread reads the database and everything is drawn."""

    async def wait(pilot: Pilot[str]) -> None:
        await pilot.pause()
        for _ in range(3):
            for worker in list(pilot.app.workers):
                if worker.group == "data":
                    with contextlib.suppress(WorkerFailed, WorkerCancelled):
                        await worker.wait()
            await pilot.pause()

    return wait


@pytest.fixture
def open_screen(
    settle: Callable[[Pilot[str]], Awaitable[None]],
) -> Callable[[Pilot[str], str], Awaitable[None]]:
    """Presses a key and waits until another screen is there with what it read."""

    async def press(pilot: Pilot[str], key: str) -> None:
        await settle(pilot)
        before = pilot.app.screen
        await pilot.press(key)
        for _ in range(200):
            if pilot.app.screen is not before:
                break
            await pilot.pause(0.02)
        assert pilot.app.screen is not before, f"{key!r} opened no screen"
        await settle(pilot)

    return press
