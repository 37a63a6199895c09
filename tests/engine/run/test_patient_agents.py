"""A model's server that fails: asked about, tried again, done without, and nothing lost."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from engine.config import LlmConfig, RunConfig
from engine.errors import LlmError
from engine.run.work import FAILED, FINISHED, INTERRUPTED, WAITING
from skills_db.records import RunState

NOBODY = LlmConfig(base_url="http://127.0.0.1:9/v1", model="m", api_key_env="NO_SUCH_KEY")


@pytest.fixture(autouse=True)
def no_waits(monkeypatch):
    monkeypatch.setattr("engine.llm.client.FIRST_WAIT_SECONDS", 0.0)


@pytest.fixture
def asked(bench):
    """A run that waits for what to do without its model."""
    run = bench.create(agents="llm", approve="none", llm=NOBODY)
    assert bench.work(run.id) == WAITING
    return run


def test_what_failed_is_asked_with_all_that_is_needed_to_decide(bench, asked):
    question = bench.database.journal.pending(asked.id)
    assert question.kind == "model"
    assert question.payload["role"] == "planner"
    assert question.payload["model"] == "m"
    assert "no connection to 'http://127.0.0.1:9/v1'" in question.payload["message"]
    assert question.payload["hint"]
    assert bench.database.journal.run(asked.id).state is RunState.WAITING


def test_the_rules_agents_go_on_where_the_model_failed(bench, asked):
    journal = bench.database.journal
    journal.decide(journal.pending(asked.id).id, "modify", by="ada", payload={"agents": "rules"})
    journal.send(asked.id, "approve_all")
    assert bench.work(asked.id) == FINISHED
    run = journal.run(asked.id)
    assert RunConfig.model_validate(run.config).agents == "rules"
    assert "agents" in bench.kinds(asked.id)
    assert run.result["agents"] == "rules"


def test_trying_again_asks_again_while_the_server_is_dead(bench, asked):
    journal = bench.database.journal
    first = journal.pending(asked.id)
    journal.decide(first.id, "approve", by="ada")
    assert bench.work(asked.id) == WAITING
    second = journal.pending(asked.id)
    assert second.kind == "model"
    assert second.id != first.id


def test_trying_again_goes_on_once_the_server_is_back(bench, asked, monkeypatch):
    from engine.agents.rules.agents import rules_agents

    monkeypatch.setattr(
        "engine.agents.llm.agents.llm_agents", lambda world, *_: rules_agents(world)
    )
    journal = bench.database.journal
    journal.decide(journal.pending(asked.id).id, "approve", by="ada")
    assert bench.work(asked.id) == WAITING
    assert journal.pending(asked.id).kind == "plan"


def test_a_person_may_stop_there(bench, asked):
    journal = bench.database.journal
    journal.decide(journal.pending(asked.id).id, "stop", by="ada")
    assert bench.work(asked.id) == INTERRUPTED
    assert journal.run(asked.id).state is RunState.STOPPED


def test_a_run_that_asks_nobody_fails_with_both_ways_on(bench):
    run = bench.create(agents="llm", approve="all", llm=NOBODY)
    assert bench.work(run.id) == FAILED
    (failed,) = bench.database.journal.events(run.id, kinds={"failed"})
    assert f"resume {run.id} --set agents=rules" in failed.payload["hint"]
    assert bench.database.journal.pending(run.id) is None


def test_who_approved_all_is_asked_about_a_model_that_fails_all_the_same(bench, asked):
    journal = bench.database.journal
    journal.decide(journal.pending(asked.id).id, "approve", by="ada")
    journal.send(asked.id, "approve_all")
    assert bench.work(asked.id) == WAITING
    question = journal.pending(asked.id)
    assert question.kind == "model"
    assert bench.work(asked.id) == WAITING  # and it stays open
    assert journal.pending(asked.id) == question
    journal.decide(question.id, "stop", by="ada")
    assert bench.work(asked.id) == INTERRUPTED


def test_approving_all_while_asked_about_the_model_does_not_answer(bench, asked, monkeypatch):
    journal = bench.database.journal
    monkeypatch.setattr("engine.run.approval._patience", lambda _session: 0.1)
    monkeypatch.setattr("engine.run.approval.POLL_SECONDS", 0.0)
    sent = []

    def passed():  # the wait has begun when it looks at the time
        if not sent:
            sent.append(journal.send(asked.id, "approve_all"))
        return next(seconds)

    seconds = iter(n / 100 for n in range(1000))
    monkeypatch.setattr("engine.run.approval.time", SimpleNamespace(
        monotonic=passed, sleep=lambda _seconds: None))  # fmt: skip
    monkeypatch.setattr("engine.run.session.COMMAND_SECONDS", 0.0)
    assert bench.work(asked.id) == WAITING
    assert sent
    assert journal.pending(asked.id).kind == "model"
    assert journal.take_commands(asked.id) == ()  # it was heard


class DeadSlowAgent:
    """Plans while its server lives: at first, or never."""

    author = "m"

    def __init__(self, slow, *, plans_once):
        self.slow, self.plans_once = slow, plans_once

    def divide(self, context, subtasks):
        return self.slow.divide(context, subtasks)

    def sub_actions(self, context, subtask, earlier, critiques, record):
        if critiques or not self.plans_once:
            raise LlmError("the server is dead", "wait")
        return self.slow.sub_actions(context, subtask, earlier, critiques, record)


@pytest.fixture
def slow_dies(monkeypatch):
    """A model of which only the slow agent's server fails."""
    from engine.agents.rules.agents import rules_agents

    def use(*, plans_once):
        def agents(world, *_):
            slow = DeadSlowAgent(rules_agents(world).slow, plans_once=plans_once)
            return replace(rules_agents(world), slow=slow)

        monkeypatch.setattr("engine.agents.llm.agents.llm_agents", agents)

    return use


def test_a_rejected_plan_stays_rejected_while_the_server_is_dead(bench, slow_dies):
    slow_dies(plans_once=True)
    journal = bench.database.journal
    run = bench.create("collect wood", agents="llm", approve="none", llm=NOBODY)
    assert bench.work(run.id) == WAITING
    first = journal.pending(run.id)
    journal.decide(first.id, "reject", by="ada", comment="use fewer steps")
    assert bench.work(run.id) == WAITING
    question = journal.pending(run.id)
    assert question.kind == "model"
    journal.decide(question.id, "modify", by="ada", payload={"agents": "rules"})
    assert bench.work(run.id) == WAITING
    assert journal.pending(run.id).kind == "plan"
    assert journal.pending(run.id).id != first.id
    assert journal.run(run.id).config["agents"] == "rules"
    assert bench.kinds(run.id).count("plan_proposed") == 2


def test_approving_all_does_not_undo_an_answer(bench, slow_dies):
    slow_dies(plans_once=False)
    journal = bench.database.journal
    run = bench.create("collect wood", agents="llm", approve="none", llm=NOBODY, trials=1)
    assert bench.work(run.id) == WAITING
    journal.decide(journal.pending(run.id).id, "modify", by="ada", payload={"agents": "rules"})
    journal.send(run.id, "approve_all")
    assert bench.work(run.id) == FINISHED
    assert journal.run(run.id).config["agents"] == "rules"
