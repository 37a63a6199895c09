"""A first plan by one question, and what the slow agent hears in later iterations."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine.agents.plan import Critique, Plan, SubAction, Subtask, Trial
from engine.agents.plan_record import Attempt, TrainingResult
from engine.agents.protocols import Agents, CodeDraft
from engine.agents.rules.agents import rules_agents
from engine.errors import NoValidAnswer
from engine.events import (
    CodeDecided,
    CritiqueGiven,
    IterationReviewed,
    PlanApproved,
    TrialFinished,
    encode,
)
from engine.run.plan_record import record_of
from engine.run.work import FINISHED

USELESS = 'def run() -> str:\n    act("noop")\n    return "waited"\n'


def action(name, mode="code"):
    return SubAction(
        name=name, mode=mode, reason="", instruction="do", success="wood >= 1", budget=20
    )


def plan(iteration, **subtasks):
    parts = tuple(
        Subtask(name=name, goal="", success="wood >= 1", sub_actions=tuple(map(action, names)))
        for name, names in subtasks.items()
    )
    return Plan(task="t", world="crafter", author="llm", iteration=iteration, subtasks=parts)


def trial(name, version, index, outcome, frames, **more):
    return TrialFinished(
        trial=Trial(
            sub_action=name, version=version, index=index, seed=index, outcome=outcome, detail="",
            frames=frames, actions=(), gained={}, **more,
        )
    )  # fmt: skip


def critique(name, version, rate, trials, failure):
    return CritiqueGiven(
        critique=Critique(
            sub_action=name, version=version, success_rate=rate, trials=trials, works=False,
            typical_failure=failure, text="", suggestion="", author="rules",
        )
    )  # fmt: skip


def rejection(name, version):
    return CodeDecided(
        sub_action=name, version=version, decision="reject", by="ada", comment="No.", code_hash=""
    )


@pytest.fixture
def told(bench):
    """What is recorded of the subtask `wood` after some events."""

    def record(after, *events):
        run = bench.create()
        journal = bench.database.journal
        journal.append(run.id, [encode(event) for event in events])
        session = SimpleNamespace(run_id=run.id, journal=journal, flush=lambda: None)
        (wood,) = (part for part in after.subtasks if part.name == "wood")
        return record_of(session, wood, after.subtasks)

    return record


def test_every_version_of_a_subtask_is_told_with_its_trials(told):
    first, second = plan(0, wood=["walk"], eat=["cow"]), plan(1, wood=["walk", "chop"], eat=["cow"])
    record = told(
        second,
        PlanApproved(plan=first, by="ada"),
        trial("walk", 1, 0, "died", 999),  # a process died here; its trials are run again
        trial("walk", 1, 0, "success", 10),
        trial("walk", 1, 1, "failed", 20),
        trial("walk", 1, 2, "failed", 0, started=False),
        critique("walk", 1, 0.5, 2, "stops"),
        rejection("walk", 2),
        critique("cow", 1, 0.0, 2, "of another subtask"),
        IterationReviewed(iteration=0, code={}),
        PlanApproved(plan=second, by="ada"),
        trial("chop", 1, 0, "stuck", 30),
        critique("chop", 1, 0.0, 1, "turns in circles"),
        IterationReviewed(iteration=1, code={}, frames=2000, task_success=0.1, goals={"a": 0.2}),
        IterationReviewed(iteration=1, code={}, frames=2000, verdict="the same training"),
    )
    ends = {"success": 1, "failed": 1, "not started": 1}
    assert record.attempts == (
        Attempt(0, "walk", 1, 2, 0.5, ends, 15.0, "stops"),
        Attempt(0, "walk", 2, 0, 0.0, failure="rejected by a person: No."),
        Attempt(1, "chop", 1, 1, 0.0, {"stuck": 1}, 30.0, "turns in circles"),
    )
    assert record.trainings == (TrainingResult(1, 2000, 0.1, {"a": 0.2}),)
    assert {name: [a.name for a in acts] for name, acts in record.others.items()} == {
        "eat": ["cow"]
    }


def test_a_subtask_without_sub_actions_has_no_past_but_neighbours(told):
    record = told(plan(0, eat=["cow"], wood=[]), rejection("walk", 1))
    assert (list(record.others), record.attempts) == (["eat"], ())


class Planner:
    """Two subtasks."""

    author = "llm:whole"

    def subtasks(self, _context):
        return (
            Subtask(name="wait", goal="wait", success="frames >= 1"),
            Subtask(name="wood", goal="hold wood", success="unlocked(collect_wood)"),
        )


class Whole:
    """Divides everything at once, if it can, and keeps what it heard."""

    author = "llm:whole"

    def __init__(self, *, can=True):
        self.can = can
        self.divided = 0
        self.heard = []

    def divide(self, _context, subtasks):
        self.divided += 1
        if not self.can:
            raise NoValidAnswer("llm:whole gave no valid answer as slow", "Choose another.")
        return {subtask.name: (action(f"do_{subtask.name}"),) for subtask in subtasks}

    def sub_actions(self, _context, subtask, earlier, critiques, record):
        self.heard.append((subtask.name, earlier, critiques, record))
        if earlier:
            return (action(f"learn_{subtask.name}", "rl").model_copy(update={"budget": 500}),)
        return (action(f"do_{subtask.name}"),)


class Useless:
    """Writes code that waits."""

    author = "llm:whole"

    def __init__(self):
        self.asked = 0

    def write(self, _context, _sub_action, _base, _feedback):
        self.asked += 1
        return CodeDraft(USELESS.replace("waited", f"waited {self.asked}"), "waits")

    def configure(self, *_about):
        return None


def _use(monkeypatch, slow):
    def agents(world):
        rules = rules_agents(world)
        return Agents(planner=Planner(), slow=slow, fast=Useless(), critic=rules.critic)

    monkeypatch.setattr("engine.run.setup.rules_agents", agents)


@pytest.mark.parametrize("can", [True, False])
def test_the_first_plan_is_asked_for_at_once_and_a_later_one_with_all_that_came_of_it(
    bench, monkeypatch, can
):
    slow = Whole(can=can)
    _use(monkeypatch, slow)
    run = bench.create(
        "collect wood", approve="all", trials=1, code_retries=1, plan_iterations=2, eval_episodes=1
    )
    assert bench.work(run.id) == FINISHED
    said = [e.payload["text"] for e in bench.database.journal.events(run.id, kinds={"agent"})]
    assert "wait: do_wait (code)" in said
    assert "wood: do_wood (code)" in said
    assert any("It is asked for one subtask at a time." in text for text in said) != can
    assert slow.divided == 1
    first = [name for name, earlier, *_ in slow.heard if not earlier]
    assert first == ([] if can else ["wait", "wood"])
    again = {name: record for name, earlier, _, record in slow.heard if earlier}
    for name, record in again.items():
        assert [a.version for a in record.attempts] == [1, 2]
        assert {a.sub_action for a in record.attempts} == {f"do_{name}"}
        assert all(a.failure and a.frames for a in record.attempts)
    assert list(again["wood"].others) == ["wait"]
