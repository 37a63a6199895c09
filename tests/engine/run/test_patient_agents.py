"""A model's server that fails: asked about, tried again, done without, and nothing lost."""

from __future__ import annotations

import pytest

from engine.config import LlmConfig, RunConfig
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
