"""A person's edit that cannot stand, and *approve all* after it: the run comes to an end."""

from __future__ import annotations

import pytest

from engine.agents.protocols import LearningDraft
from engine.agents.rules.agents import rules_agents
from engine.run.session import Session
from engine.run.work import FINISHED, WAITING
from engine.worlds.registry import get_world

TRAINING = {"n_envs": 2, "n_steps": 16, "batch_size": 16, "n_epochs": 1, "net_arch": (8,)}


@pytest.fixture(autouse=True)
def no_patience(monkeypatch):
    monkeypatch.setattr("engine.run.approval.SHORT_PATIENCE_SECONDS", 0.0)


@pytest.fixture(autouse=True)
def bounded(monkeypatch):
    """A run that turns in circles fails instead of filling the disk."""
    saved = []

    def save(self, *events, **changes):
        saved.append(events)
        assert len(saved) < 300, "the run goes round in circles"
        keep(self, *events, **changes)

    keep = Session.save
    monkeypatch.setattr(Session, "save", save)


@pytest.fixture
def proposer(monkeypatch):
    """The rules' fast agent, which also says how to learn."""
    fast = rules_agents(get_world("crafter")).fast
    comments = []

    def configure(_self, _context, _sub_action, _working, _base, comment):
        comments.append(comment)
        return LearningDraft(actions=(), observation=("body",), shaping=(), reason="r")

    monkeypatch.setattr(type(fast), "configure", configure)
    return comments


def edited_wrongly(bench, kind, edit):
    """A run whose question of a kind was answered by an edit that cannot stand."""
    run = bench.create("collect wood", approve="none", trials=1, training=TRAINING)
    journal = bench.database.journal
    while bench.work(run.id) == WAITING:
        question = journal.pending(run.id)
        if question.kind == kind:
            journal.decide(question.id, "modify", by="ada", payload=edit(question.payload))
            assert bench.work(run.id) == WAITING
            assert journal.pending(run.id).kind == kind
            journal.send(run.id, "approve_all")
            return run
        journal.decide(question.id, "approve", by="ada")
    raise AssertionError(f"nobody was asked about {kind!r}")


def events(bench, run, kind):
    return [row.payload for row in bench.database.journal.events(run.id, kinds={kind}, limit=9999)]


def test_the_plan_is_taken_as_it_was_proposed(bench):
    def edit(payload):
        subtasks = [{**subtask, "success": "gold >= 1"} for subtask in payload["plan"]["subtasks"]]
        return {"plan": {**payload["plan"], "subtasks": subtasks}}

    run = edited_wrongly(bench, "plan", edit)
    assert bench.work(run.id) == FINISHED
    assert bench.database.journal.run(run.id).state.value == "finished"
    (approved,) = events(bench, run, "plan_approved")
    assert approved["plan"] == events(bench, run, "plan_proposed")[-1]["plan"]
    assert approved["by"] == "person:all"


def test_code_is_written_again(bench):
    run = edited_wrongly(bench, "code", lambda _payload: {"code": "def run() -> str:\n    go()\n"})
    name = events(bench, run, "code_proposed")[-1]["proposal"]["sub_action"]
    assert bench.work(run.id) == FINISHED
    assert bench.database.journal.run(run.id).state.value == "finished"
    decided = [one for one in events(bench, run, "code_decided") if one["sub_action"] == name]
    good = [one["proposal"]["code"] for one in events(bench, run, "code_proposed")]
    assert not any(one["version"] == 1 for one in decided), good


def test_how_to_learn_is_proposed_again(bench, proposer):
    def edit(payload):
        return {"proposal": {**payload["proposal"], "observation": ["sonar"]}}

    run = edited_wrongly(bench, "learning", edit)
    assert bench.work(run.id) == FINISHED
    assert proposer[0] == ""
    assert "'sonar' is no part of the observation there is" in proposer[1]
    (decided,) = events(bench, run, "learning_decided")
    assert (decided["proposal"]["observation"], decided["by"]) == (["body"], "person:all")
