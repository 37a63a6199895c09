"""A real database, and a stand-in for the run's process that writes through the journal."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.agents.plan import (
    CodeDiagnostic,
    CodeProposal,
    Critique,
    LearningProposal,
    Plan,
    ShapingTerm,
    SubAction,
    Subtask,
    Trial,
)
from engine.agents.plan_edit import add_action, delete_action, flip_mode
from engine.events import (
    CodeDecided,
    CodeProposed,
    CritiqueGiven,
    Event,
    IterationReviewed,
    PlanApproved,
    PlanProposed,
    StateChanged,
    TrialFinished,
    encode,
)
from skills_db.database import Database
from skills_db.journal import Journal
from skills_db.records import ApprovalRecord, LlmCallRecord, Owner, RunState
from studio.app import StudioApp
from studio.paths import Paths
from studio.run_bridge import StudioData
from studio.settings import Settings
from studio.widgets.plan_editor import PlanEditor

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
FIRST_CODE = '''\
def run() -> str:
    """Walk to the nearest tree and collect wood."""
    for _ in range(40):
        if inventory("wood") >= 2:
            return "enough wood"
        tree = nearest("tree")
        if tree is None:
            explore()
            continue
        if not go_to(tree):
            return "no way to the tree"
        act("do")
    return "out of patience"
'''
SECOND_CODE = FIRST_CODE.replace(
    '        if not go_to(tree):\n            return "no way to the tree"\n',
    "        if not go_to(tree):\n            explore()  # another tree may be nearer\n"
    "            continue\n",
)


def make_plan() -> Plan:
    """A small plan of the world crafter with both modes."""

    def action(name: str, mode: str, success: str, budget: int, **more: str) -> SubAction:
        return SubAction(
            name=name,
            mode=mode,
            reason=more.pop("reason", "A fixed recipe: code says it exactly."),
            instruction=more.pop("instruction", f"Do what {name} says and return."),
            success=success,
            budget=budget,
            **more,
        )

    return Plan(
        task="collect a diamond",
        world="crafter",
        author="rules",
        subtasks=(
            Subtask(
                name="wood",
                goal="Enough wood for a table and a pickaxe.",
                success="unlocked(collect_wood)",
                sub_actions=(
                    action("gather_wood", "code", "wood >= 5", 300,
                           instruction="Walk to the nearest tree and collect wood until there "
                           "are five.", interrupt="health <= 3"),
                    action("make_table", "code", "unlocked(place_table)", 60,
                           precondition="wood >= 1"),
                ),
            ),
            Subtask(
                name="stone",
                goal="A pickaxe and stone.",
                success="unlocked(collect_stone)",
                depends_on=("wood",),
                sub_actions=(
                    action("make_pickaxe", "code", "unlocked(make_wood_pickaxe)", 60,
                           precondition="near(table) and wood >= 1"),
                    action("dig_stone", "code", "stone >= 1", 200),
                    action("stay_alive", "rl", "health >= 5 and threat >= 3", 60_000,
                           reason="When to fight and when to flee is learnt, not written."),
                ),
            ),
            Subtask(
                name="diamond",
                goal="Find a diamond and collect it.",
                success="unlocked(collect_diamond)",
                depends_on=("stone",),
                sub_actions=(
                    action("search_diamond", "rl", "unlocked(collect_diamond)", 40_000,
                           reason="Where diamonds are cannot be written down."),
                ),
            ),
        ),
    )  # fmt: skip


def make_proposal(version: int = 1, code: str | None = None, **changes: Any) -> CodeProposal:
    """A proposal for `gather_wood`."""
    fields: dict[str, Any] = {
        "sub_action": "gather_wood",
        "version": version,
        "base_version": None if version == 1 else version - 1,
        "instruction": "Walk to the nearest tree and collect wood until there are five.",
        "code": code or (FIRST_CODE if version == 1 else SECOND_CODE),
        "author": "rules",
        "comment": "" if version == 1 else "Goes on to another tree when one cannot be reached.",
    }
    return CodeProposal(**(fields | changes))


def make_learning() -> LearningProposal:
    """How the fast agent would have the plan's last sub-action learnt."""
    return LearningProposal(
        sub_action="search_diamond",
        version=1,
        actions=("gather_wood", "dig_stone"),
        observation=("view", "inventory"),
        shaping=(ShapingTerm(predicate="stone >= 1", bonus=0.5),),
        reason="Diamonds lie deep. Stone on the way is a sign of the right way.",
        author="llm:m",
    )


def iterate(run: FakeRun, count: int = 3) -> None:
    """Some iterations of the outer loop, each with another plan and better code."""
    plan = make_plan().model_copy(update={"author": "llm:m"})
    for number in range(count):
        plan = plan.model_copy(update={"iteration": number})
        if number == 1:
            plan = flip_mode(plan, "dig_stone")
        if number == 2:
            plan = add_action(
                delete_action(plan, "dig_stone"),
                "stone",
                SubAction(
                    name="dig_down", mode="code", reason="A shaft is a fixed recipe.",
                    instruction="Dig down where one stands.", success="stone >= 1", budget=90,
                ),
            )  # fmt: skip
        run.emit(PlanProposed(plan=plan), PlanApproved(plan=plan, by="ada@studio"))
        run.emit(CodeProposed(proposal=make_proposal(2 * number + 1)))
        run.try_code(2 * number + 1, good=number, bad=5 - number)
        run.emit(CodeProposed(proposal=make_proposal(2 * number + 2)))
        run.try_code(2 * number + 2, good=2 + number, bad=3 - number)
        last = number == count - 1
        run.emit(
            IterationReviewed(
                iteration=number,
                code={"gather_wood": (2 + number) / 5, "make_table": None},
                given_up=() if number else ("make_table",),
                frames=20_000 * number,
                task_success=0.04 * number if number else None,
                goals={"search_diamond": 0.1 * number} if number else {},
                verdict="Training goes on." if last else "The slow agent plans anew.",
            )
        )


def record_calls(journal: Journal, run_id: str) -> None:
    """What a small run asks a model, one call of which failed."""
    asked = [
        ("planner", "Task: collect a diamond", '{"subtasks": [{"name": "wood", "goal": "get"}]}'),
        ("slow", "Subtask `wood`: enough wood for a table", '{"sub_actions": []}'),
        ("fast", "Write the program of one sub-action.\n\nSub-action `gather_wood`: walk", ""),
        ("fast", "Write the program of one sub-action.\n\nSub-action `gather_wood`: walk",
         json.dumps({"code": FIRST_CODE, "comment": "It goes to [/b] the nearest tree."})),
    ]  # fmt: skip
    for number, (role, prompt, reply) in enumerate(asked):
        journal.record_call(LlmCallRecord(
            run_id=run_id, role=role, model="qwen3-coder", mode="json_schema",
            prompt=f"## system\nYou are the {role} agent.\n\n## user\n{prompt}", reply=reply,
            prompt_tokens=1200 + number, completion_tokens=80 if reply else 0,
            seconds=2.5, cost_usd=0.0031, error="" if reply else "503: overloaded", time=NOON,
        ))  # fmt: skip


FAILING = {
    "message": "The server at 'http://127.0.0.1:8080/v1' refuses the connection.",
    "hint": "Start it again, or choose another with `llm.base_url`.",
    "role": "fast",
    "model": "qwen3-coder",
    "base_url": "http://127.0.0.1:8080/v1",
}


class FakeRun:
    """Writes what a run's process would write; a real database, no process."""

    def __init__(
        self,
        database: Database,
        *,
        alive: bool = True,
        task: str = "collect a diamond",
        agents: str = "rules",
    ) -> None:
        self.database = database
        self.journal = database.journal
        self.record = self.journal.create_run(
            kind="task",
            task=task,
            world="crafter",
            agents=agents,
            config={"task": task, "agents": agents, "llm": {"model": "qwen3-coder"}},
        )
        self.id = self.record.id
        self.token = "token-1"
        if alive:
            self.claim()

    def claim(self, pid: int | None = None) -> None:
        """As a process that has just begun to work on the run."""
        owner = Owner(pid or os.getpid(), socket.gethostname(), self.token)
        self.journal.claim(self.id, owner)

    def release(self) -> None:
        """As a process that leaves on purpose."""
        self.journal.release(self.id, self.token)

    def emit(self, *events: Event) -> None:
        """Append events."""
        self.journal.append(self.id, [encode(event) for event in events])

    def enter(self, state: RunState, detail: str = "") -> None:
        """Enter a state, with its event."""
        self.emit(StateChanged(state=state.value, detail=detail))
        self.journal.set_state(self.id, state, detail)

    def ask(self, kind: Any, subject: str, payload: dict[str, Any]) -> ApprovalRecord:
        """Ask the person."""
        asked = self.journal.request_approval(self.id, kind, subject, payload)
        self.enter(RunState.WAITING, f"{kind}: {subject}")
        return asked

    def ask_plan(self, plan: Plan | None = None) -> ApprovalRecord:
        """Propose a plan and ask."""
        plan = plan or make_plan()
        self.emit(PlanProposed(plan=plan))
        return self.ask("plan", plan.task, {"plan": plan.model_dump(mode="json")})

    def approve_plan(self) -> None:
        """The plan was agreed on earlier."""
        self.emit(PlanProposed(plan=make_plan()), PlanApproved(plan=make_plan(), by="ada@studio"))

    def ask_code(
        self, proposal: CodeProposal | None = None, base: str | None = None
    ) -> ApprovalRecord:
        """Propose code and ask."""
        proposal = proposal or make_proposal()
        self.emit(CodeProposed(proposal=proposal))
        payload = {"proposal": proposal.model_dump(mode="json"), "base_code": base}
        return self.ask("code", f"{proposal.sub_action} version {proposal.version}", payload)

    def ask_save(self) -> ApprovalRecord:
        """Ask which skills to keep."""
        return self.ask("save", "skills of this run", {"skills": SKILLS})

    def try_code(self, version: int, good: int, bad: int) -> None:
        """Decision, trials and verdict of one version of `gather_wood`."""
        proposal = make_proposal(version)
        outcomes = ["success"] * good + ["stuck"] * bad
        self.emit(
            CodeDecided(
                sub_action="gather_wood", version=version, decision="approve", by="ada@studio",
                comment="", code_hash=proposal.code_hash,
            ),
            *(
                TrialFinished(trial=Trial(
                    sub_action="gather_wood", version=version, index=index, seed=500_000 + index,
                    outcome=outcome, detail="enough wood" if outcome == "success" else "no way",
                    frames=40 + index, actions=(("move_left", 3), ("do", 2)),
                    gained={"wood": 5.0} if outcome == "success" else {},
                ))
                for index, outcome in enumerate(outcomes)
            ),
            CritiqueGiven(critique=Critique(
                sub_action="gather_wood", version=version, success_rate=good / (good + bad),
                trials=good + bad, works=good > bad, typical_failure="" if good > bad else "stuck",
                text="It gathers wood." if good > bad else "It stops before water.",
                suggestion="" if good > bad else "Try another tree.", author="rules",
            )),
        )  # fmt: skip


SKILLS = [
    {"name": "gather_wood", "kind": "coded_action", "success_rate": 1.0,
     "description": "Collects five wood."},
    {"name": "make_table", "kind": "coded_action", "success_rate": 0.8,
     "description": "Places a table."},
    {"name": "collect_a_diamond", "kind": "policy", "success_rate": 0.35,
     "description": "PPO over 17 primitives and 4 coded actions."},
]  # fmt: skip


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    home = tmp_path / "home"
    return Paths(home, f"sqlite:///{home / 'studio.db'}", home / "config.toml", home / "studio.log")


@pytest.fixture
def database(paths: Paths) -> Iterator[Database]:
    with Database.open(paths.database_url) as opened:
        yield opened


@pytest.fixture
def run(database: Database) -> FakeRun:
    return FakeRun(database)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the runs whose process was launched; none is."""
    import engine.process

    ids: list[str] = []

    def launch(run_id: str, *, db_url: str, home: Path) -> int:
        ids.append(run_id)
        return 1

    monkeypatch.setattr(engine.process, "launch", launch)
    return ids


class Clock:
    """A clock that goes on only when a test says so."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds

    def advance(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make_app(paths: Paths, launched: list[str], clock: Clock) -> Callable[..., StudioApp]:
    def make(attach: str | None = None, **settings: Any) -> StudioApp:
        app = StudioApp(paths, Settings(**({"theme": "studio-dark"} | settings)), attach=attach)
        app.animation_level = "none"
        app.clock = clock
        return app

    return make


@pytest.fixture
def opened(make_app: Callable[..., StudioApp], clock: Clock) -> Any:
    """Open the studio on a run, wait until it shows what the run asks, let the grace pass."""

    @contextlib.asynccontextmanager
    async def open_run(
        run: FakeRun, size: tuple[int, int] = (120, 40), asks: bool = True
    ) -> AsyncIterator[tuple[StudioApp, Any]]:
        app = make_app(run.id)
        async with app.run_test(size=size) as pilot:
            await _until(pilot, lambda: app.workspace and app.workspace.model.run)
            if asks:
                await _until(pilot, lambda: app.workspace.model.seen_at is not None)
                editor = app.workspace.query_one(PlanEditor)
                if app.workspace.model.asks("plan"):
                    await _until(pilot, lambda: editor.editable)
            await pilot.pause()
            clock.advance(1.0)
            yield app, pilot

    return open_run


class FrozenData(StudioData):
    """Opens the database with a clock that stands still."""

    def _open(self) -> Database:
        if self._database is None:
            self._database = Database.open(self.database_url, clock=lambda: NOON)
        return self._database


@pytest.fixture
def frozen(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FakeRun, Any]]:
    """A run and an app in which no time passes and ids are the same every time."""
    import skills_db.runs

    monkeypatch.setattr(skills_db.runs, "new_run_id", lambda now: "20260504-120000-k3f9")
    monkeypatch.setattr("studio.run_bridge.person", lambda: "ada@studio")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    with Database.open(paths.database_url, clock=lambda: NOON) as database:
        fake = FakeRun(database)

        def make(attach: str | None = None) -> StudioApp:
            app = StudioApp(paths, Settings(theme="studio-dark"), attach=attach)
            app.animation_level = "none"
            app.clock = lambda: 100.0
            data = FrozenData(paths.database_url)
            app.data = app.bridge._data = data
            app.now = lambda: NOON + timedelta(minutes=12)
            return app

        yield fake, make
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def kit() -> Any:
    """The makers of this file, for tests that may not import it."""
    import types

    return types.SimpleNamespace(
        plan=make_plan, proposal=make_proposal, run=FakeRun, skills=SKILLS,
        learning=make_learning, failing=FAILING, first_code=FIRST_CODE, second_code=SECOND_CODE,
        diagnostic=CodeDiagnostic, noon=NOON, iterate=iterate, call=record_calls,
    )  # fmt: skip


async def _until(pilot: Any, condition: Callable[[], object], seconds: float = 8.0) -> None:
    """Let the app work until something is true; fail when it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"did not come true within {seconds} s")
        await pilot.pause(0.02)
    await pilot.pause()


@pytest.fixture
def until() -> Any:
    return _until
