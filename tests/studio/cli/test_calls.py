"""Calls of a model on the command line, playing them back, and a model that fails."""

from __future__ import annotations

import pytest

from engine.config import RunConfig
from engine.errors import ConfigError
from skills_db.errors import NotFound
from skills_db.records import LlmCallRecord, RunState
from studio.recordings import with_recording

STOP = "leave(RunState.STOPPED, result={'run': run_id, 'state': 'stopped'})"
FAILING = {
    "message": "The server refuses the connection.", "hint": "Start it again.", "role": "fast",
    "model": "m", "base_url": "http://localhost:1/v1",
}  # fmt: skip


@pytest.fixture
def run(database):
    """A run that asked a model three times."""
    config = RunConfig(task="collect wood", agents="llm")
    run = database.journal.create_run(
        kind="task", task=config.task, world="crafter", agents="llm",
        config=config.model_dump(mode="json"),
    )  # fmt: skip
    for role, reply in (("planner", "{}"), ("fast", "[/b] code"), ("fast", "more")):
        database.journal.record_call(LlmCallRecord(
            run_id=run.id, role=role, model="m", mode="json_schema", prompt=f"ask {role}",
            reply=reply, prompt_tokens=10, completion_tokens=5, seconds=1.0, cost_usd=0.25,
        ))  # fmt: skip
    return run


def recorded(database, agents):
    config = RunConfig(task="collect wood", agents=agents)
    return with_recording(config, database.journal).agents


def test_calls_of_one_role(cli, run):
    calls = cli("runs", "show", run.id, "--calls", "--role", "fast", "-o", "json").json["calls"]
    assert [call["reply"] for call in calls] == ["[/b] code", "more"]
    assert "2 calls, 30 tokens, $0.5000" in cli("runs", "show", run.id, "--calls",
                                                "--role", "fast").out  # fmt: skip
    wrong = cli("runs", "show", run.id, "--calls", "--role", "boss")
    assert (wrong.code, "There is no role 'boss'" in wrong.err) == (2, True)


def test_what_runs_show_prints_is_a_recording(cli, database, run, tmp_path):
    file = tmp_path / "calls.json"
    file.write_text(cli("runs", "show", run.id, "--calls", "-o", "json").out)
    assert recorded(database, f"replay:{file}") == f"replay:{file}"


@pytest.mark.parametrize("name", ["calls.json", "calls.jsonl"])
def test_an_exported_file_is_a_recording(cli, database, run, tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = cli("runs", "export-calls", run.id, name)
    assert (answer.code, answer.out) == (0, "")
    assert "3 calls" in answer.err
    assert f"--agents replay:{name}" in answer.err
    assert recorded(database, f"replay:{name}") == f"replay:{tmp_path / name}"


def test_what_cannot_be_exported_says_why(cli, database, run, tmp_path):
    assert cli("runs", "export-calls", run.id, "calls.txt").code == 2
    empty = database.journal.create_run(kind="task", task="t", world="crafter", agents="rules",
                                        config={})  # fmt: skip
    assert "has no calls" in cli("runs", "export-calls", empty.id, str(tmp_path / "a.json")).err


def test_a_run_is_written_down_by_its_whole_id(database, run):
    assert recorded(database, f"replay:{run.id[-4:]}") == f"replay:{run.id}"
    assert recorded(database, "replay:latest") == f"replay:{run.id}"
    assert recorded(database, "rules") == "rules"


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "not JSON"), ("[]", "holds no calls"), ('{"calls": []}', "holds no calls"),
     ('[{"role": "fast", "prompt": "p"}]', "Call 1 .* has no 'reply'"), ("[3]", "has no 'role'")],
)  # fmt: skip
def test_a_file_that_is_no_recording_is_refused(database, tmp_path, text, said):
    file = tmp_path / "calls.json"
    file.write_text(text)
    with pytest.raises(ConfigError, match=said):
        recorded(database, f"replay:{file}")


def test_an_unknown_recording_is_told_before_there_is_a_run(cli, database, run):
    with pytest.raises(NotFound):
        recorded(database, "replay:nope")
    for source in ("nope", "/no/such/calls.jsonl"):
        answer = cli("run", "collect wood", "--headless", "--agents", f"replay:{source}")
        assert answer.code == 2
        assert "nope" in answer.err or "calls.jsonl" in answer.err
    assert len(database.journal.runs()) == 1
    assert cli("run", "collect wood", "--headless", "--agents", "magic").code == 2


def test_a_run_without_answers_cannot_be_played_back(database):
    empty = database.journal.create_run(kind="task", task="t", world="crafter", agents="rules",
                                        config={})  # fmt: skip
    with pytest.raises(ConfigError, match="no answer of a language model"):
        recorded(database, f"replay:{empty.id}")


def test_a_failing_model_is_told_with_the_ways_out(cli, process, database):
    process(
        f"journal.request_approval(run_id, 'model', 'fast agent', {FAILING!r})\n"
        "journal.append(run_id, [('state', {'state': 'waiting', 'detail': 'model: fast agent'})])\n"
        "leave(RunState.WAITING, detail='model: fast agent')"
    )
    answer = cli("run", "collect wood", "--headless", "--approve", "none", "-o", "json")
    assert answer.code == 4
    data = answer.json
    assert (data["error"], data["hint"]) == (FAILING["message"], FAILING["hint"])
    assert data["by_rules"].endswith(f"resume {data['run']} --set agents=rules")
    assert "or go on with the rules agents:" in answer.err
    assert "waiting (model fails)" in cli("runs", "list").out


def test_resuming_by_rules_answers_a_failing_model(cli, process, database, run):
    process(STOP)
    asked = database.journal.request_approval(run.id, "model", "fast agent", FAILING)
    database.journal.set_state(run.id, RunState.WAITING, "model: fast agent")
    cli("resume", run.id, "--headless", "--set", "agents=rules")
    decided = database.journal.approval(asked.id)
    assert (decided.decision, decided.decided_payload) == ("modify", {"agents": "rules"})
    assert database.journal.run(run.id).config["agents"] == "rules"
    assert database.journal.run(run.id).agents == "llm", "what it began with is kept"
    assert cli("runs", "show", run.id, "-o", "json").json["agents"] == "rules"


def test_other_questions_are_not_answered_so(cli, process, database, run):
    process(STOP)
    asked = database.journal.request_approval(run.id, "plan", "collect wood", {"plan": {}})
    cli("resume", run.id, "--headless", "--set", "agents=rules")
    assert database.journal.approval(asked.id).decision is None
