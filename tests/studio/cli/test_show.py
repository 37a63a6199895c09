"""`runs` and `skills`: what is listed, found and shown, in words and as JSON."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from skills_db.records import LlmCallRecord, RunState, SkillDraft


@pytest.fixture
def run(database):
    return database.journal.create_run(
        kind="task", task="collect \x1b[1ma diamond", world="crafter", agents="rules",
        config={"seed": 3},
    )  # fmt: skip


def save(database, name="collect_wood", **changes):
    values = {
        "name": name, "world": "crafter", "kind": "coded_action",
        "description": "takes wood [/b]", "code": "def run() -> str:\n    return 'x'\n",
        "success_rate": 0.75, "episodes": 8, "run_id": None, "agents": "rules",
        "approver": "ann",
    }  # fmt: skip
    return database.library.save(SkillDraft(**{**values, **changes}))


def test_nothing_yet_says_how_to_begin(cli):
    answer = cli("runs", "list")
    assert (answer.code, answer.err) == (0, "")
    assert "rlgpt-studio run" in answer.out
    assert cli("skills", "list").out == "There is no skill yet.\n"
    assert cli("skills", "search", "wood").out == "No skill fits.\n"


def test_runs_are_listed(cli, run):
    listed = cli("runs", "list", "--output", "json").json["runs"]
    assert [item["run"] for item in listed] == [run.id]
    assert listed[0]["state"] == "created"
    text = cli("runs", "list").out
    assert run.id in text
    assert "\x1b" not in text


def test_a_run_is_shown_with_what_it_asks_and_what_came_of_it(cli, database, run):
    journal = database.journal
    journal.request_approval(run.id, "code", "collect_wood", {"code": "x"})
    journal.append(run.id, [("log", {})] * 3)
    result = {
        "frames": 1234, "seconds": 3.0,
        "subtasks": [{"name": "wood", "mode": "code", "success_rate": 0.5}],
        "skills": [{"name": "collect_wood", "version": 2, "kind": "coded_action",
                    "success_rate": 0.5}],
        "evaluation": {"policy": "trained", "seeds": "1:3", "episodes": 2, "score": 12.34,
                       "task_success": 0.5, "reward_mean": 3.0, "length_mean": 200.0,
                       "success": {"collect_wood": 1.0, "collect_iron": 0.0},
                       "baseline": {"score": 1.0, "task_success": 0.0, "success": {}},
                       "code_only": {"score": 2.0, "task_success": 0.25, "success": {}}},
    }  # fmt: skip
    journal.set_state(run.id, RunState.FINISHED, "in phase save", result=result)
    data = cli("runs", "show", run.id[:13], "--output", "json").json
    assert (data["run"], data["state"], data["frames"], data["events"]) == (
        run.id, "finished", 1234, 3,
    )  # fmt: skip
    assert data["approval"]["subject"] == "collect_wood"
    assert data["result"] == result
    assert data["config"] == {"seed": 3}
    assert "calls" not in data
    text = cli("runs", "show", "latest").out
    for words in ("code: collect_wood", "1,234", "12.3 %", "collect wood", "collect_wood v2"):
        assert words in text
    assert "collect iron" not in text  # nobody got that far
    rows = [line.split() for line in text.splitlines()]
    assert ["trained", "untrained", "code", "only"] in rows
    assert ["task", "success", "50", "%", "0", "%", "25", "%"] in rows


def test_calls_are_shown_when_asked_for(cli, database, run):
    database.journal.record_call(
        LlmCallRecord(
            run_id=run.id, role="fast", model="m1", mode="json", prompt="[/p] write", reply="code",
            prompt_tokens=10, completion_tokens=5, seconds=1.0, cost_usd=0.25,
        )
    )  # fmt: skip
    assert "[/p] write" in cli("runs", "show", run.id, "--calls").out
    calls = cli("runs", "show", run.id, "--calls", "--output", "json").json["calls"]
    assert (calls[0]["role"], calls[0]["cost_usd"]) == ("fast", 0.25)


def test_attach_tells_where_a_run_stands_without_a_terminal(cli, run):
    data = cli("attach", run.id, "--output", "json").json
    assert (data["run"], data["state"]) == (run.id, "created")
    assert cli("attach", "nope", "--output", "json").code == 2


def test_skills_are_listed_and_found(cli, database):
    save(database)
    save(database, "dig", kind="policy", weights=b"1", code="", description="digs", world="deep")
    names = [item["name"] for item in cli("skills", "list", "--output", "json").json["skills"]]
    assert sorted(names) == ["collect_wood", "dig"]
    assert cli("skills", "list", "--world", "deep", "-o", "json").json["skills"][0]["name"] == "dig"
    assert "collect_wood" not in cli("skills", "list", "--kind", "policy").out
    found = cli("skills", "search", "TAKES", "wood", "--output", "json").json["skills"]
    assert [item["name"] for item in found] == ["collect_wood"]
    assert "takes wood [/b]" in cli("skills", "list").out


def test_a_policy_is_shown_with_its_figures_and_no_code(cli, database):
    evaluation = {
        "policy": "trained", "seeds": "1:3", "episodes": 2, "task_success": 0.5,
        "baseline": {"task_success": 0.0}, "code_only": {"task_success": 0.25},
    }  # fmt: skip
    save(
        database, "dig", kind="policy", code="", weights=b"1", approver="policy:all",
        metadata={"evaluation": evaluation},
    )  # fmt: skip
    text = cli("skills", "show", "dig").out
    rows = [line.split() for line in text.splitlines()]
    assert ["trained", "untrained", "code", "only"] in rows
    assert ["task", "success", "50", "%", "0", "%", "25", "%"] in rows
    assert "policy (approve all)" in text
    assert [line.split()[0] for line in text.splitlines() if "sha256" in line] == ["weights"]


def test_a_skill_is_shown_with_code_figures_and_origin(cli, database):
    save(database, run_id="some-run")
    save(database, code="second\x1b[31m", success_rate=0.9)
    data = cli("skills", "show", "collect_wood", "--output", "json").json
    assert (data["skill"], data["version"], data["code"]) == ("collect_wood", 2, "second\x1b[31m")
    assert [item["version"] for item in data["versions"]] == [2, 1]
    old = cli("skills", "show", "collect_wood", "--version", "1").out
    for words in ("v1 of 2", "75 % of 8 episodes", "some-run", "ann", "sha256", "return 'x'"):
        assert words in old
    assert "\x1b" not in cli("skills", "show", "collect_wood").out
    missing = cli("skills", "show", "colect_wood")
    assert missing.code == 2
    assert "'collect_wood'" in missing.err
    assert cli("skills", "show", "collect_wood", "--version", "9").code == 2


def test_a_damaged_skill_is_told_and_hides_no_other(cli, database):
    save(database, "good")
    with database.engine.begin() as connection:
        connection.execute(
            text("INSERT INTO skills SELECT 'bad', world, kind, description, 1, updated_at "
                 "FROM skills")
        )  # fmt: skip
        connection.execute(
            text("INSERT INTO skill_versions SELECT 'bad', 1, description, code, code_hash, "
                 "weights_hash, success_rate, episodes, run_id, agents, approver, 'no json', "
                 "created_at FROM skill_versions")
        )  # fmt: skip
    for arguments in (("list",), ("search", "good")):
        listed = cli("skills", *arguments, "-o", "json")
        assert [skill["name"] for skill in listed.json["skills"]] == ["good"]
    shown = cli("skills", "show", "bad")
    assert (shown.code, shown.out) == (1, "")
    assert "The skill 'bad' version 1 is damaged" in shown.err
