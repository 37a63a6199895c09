"""The report of a played run, from its calls and events; and what is kept for a replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.agents.plan import CodeProposal, Critique, Plan, SubAction, Subtask, Trial
from engine.events import CodeProposed, CritiqueGiven, Event, PlanApproved, TrialFinished, encode
from skills_db.database import Database
from skills_db.records import LlmCallRecord, RunState


def sub_action(name: str, mode: Any) -> SubAction:
    return SubAction(
        name=name, mode=mode, reason="so", instruction="Gather.", success="wood >= 1",
        precondition="true", interrupt="false", budget=100,
    )  # fmt: skip


def critique(version: int, rate: float) -> CritiqueGiven:
    judged = Critique(
        sub_action="gather_wood", version=version, success_rate=rate, trials=2, works=rate > 0.6,
        typical_failure="", text="so", suggestion="", author="llm:reader",
    )  # fmt: skip
    return CritiqueGiven(critique=judged)


def events(code: str) -> list[Event]:
    subtask = Subtask(
        name="wood",
        goal="hold wood",
        success="wood >= 1",
        sub_actions=(sub_action("gather_wood", "code"), sub_action("fight", "rl")),
    )
    plan = Plan(task="collect wood", world="crafter", author="llm:reader", subtasks=(subtask,))
    found: list[Event] = [PlanApproved(plan=plan, by="policy")]
    for version, outcome in ((1, "failed"), (2, "success")):
        proposal = CodeProposal(
            sub_action="gather_wood", version=version, instruction="Gather.", code=code, author="x"
        )
        trials = [
            Trial(
                sub_action="gather_wood", version=version, index=index, seed=index, detail="",
                outcome=outcome, frames=3, actions=(), gained={},
            )
            for index in range(2)
        ]  # fmt: skip
        found += [CodeProposed(proposal=proposal), *(TrialFinished(trial=t) for t in trials)]
        found.append(critique(version, float(version - 1)))
    return found


@pytest.fixture
def home(fake: Any, tmp_path: Path) -> Path:
    """A studio's home with one run: three programs, the first one mistyped, the second too weak."""
    with_again = "## user\nSub-action `gather_wood`: x\n\n## assistant\nsorry\n\n## user\nagain"
    asked = "## system\nplan\n\n## user\nSub-action `gather_wood`: Gather."
    replies = [
        ("planner", "## user\nCut a task", "{}", ""),
        ("fast", asked, json.dumps({"code": fake.MISTYPED_WOOD, "comment": ""}), ""),
        ("fast", asked, "sorry", ""),
        ("fast", with_again, f"Here:\n```python\n{fake.GATHER_WOOD}```", ""),
        ("fast", asked, "", "connection lost"),
        ("fast", asked, json.dumps({"code": fake.GATHER_WOOD, "comment": ""}), ""),
    ]
    with_home = tmp_path / "played"
    database = Database.open(f"sqlite:///{with_home / 'studio.db'}")
    run = database.journal.create_run(
        kind="task", task="collect wood", world="crafter", agents="llm",
        config={"task": "collect wood", "agents": "llm", "trials": 2, "llm": {"model": "reader"},
                "training": {"n_envs": 4, "gamma": 1.0}},
    )  # fmt: skip
    for role, prompt, reply, error in replies:
        database.journal.record_call(
            LlmCallRecord(run.id, role, "reader", "json_schema", prompt, reply, 100, 10, 1.0, 0.0,
                          error)
        )  # fmt: skip
    database.journal.append(run.id, [encode(event) for event in events(fake.GATHER_WOOD)])
    skills = [{"name": "gather_wood", "kind": "coded_action"}, {"name": "p", "kind": "policy"}]
    evaluation = {"policy": "policy", "task_success": 0.95, "episodes": 20}
    result = {"skills": skills, "evaluation": evaluation}
    database.journal.set_state(run.id, RunState.FINISHED, "", result=result)
    database.close()
    return with_home


def test_programs_are_checked_anew_and_counted(report: Any, home: Path) -> None:
    (figures,) = report.sub_actions(report.read(home))
    assert figures.name == "gather_wood"
    assert figures.drafts == [False, True, True]
    assert figures.first_passed is False
    assert (figures.versions, figures.trials, figures.success_rate) == (2, 2, 1.0)
    assert figures.works


def test_tokens_and_second_asking_are_summed_by_role(report: Any, home: Path) -> None:
    figures = report.roles(report.read(home).calls)
    assert figures["fast"] == report.RoleFigures(5, 1, 500, 50)
    assert figures["planner"].calls == 1


def test_the_text_tells_shares_success_and_that_tokens_are_a_guess(
    report: Any, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report.main([str(home)]) == 0
    text = capsys.readouterr().out
    assert "first programs that passed the check: 0 of 1 (0%)" in text
    assert "programs that passed the check: 2 of 3 (67%)" in text
    assert "task success (policy): 95% of 20 episodes" in text
    assert "660 tokens in 6 calls, an estimate" in text


def test_a_file_of_the_command_line_is_read_too(report: Any, home: Path, tmp_path: Path) -> None:
    story = report.read(home)
    data = {"run": story.run, "task": story.task, "world": story.world, "state": story.state,
            "config": story.config, "result": story.result, "calls": list(story.calls)}  # fmt: skip
    file = tmp_path / "run.json"
    file.write_text(json.dumps(data, default=str), encoding="utf-8")
    (figures,) = report.sub_actions(report.read(file))
    assert figures.drafts == [False, True, True]
    assert figures.success_rate is None


def test_a_transcript_is_kept_with_how_the_run_ended(
    report: Any, home: Path, tmp_path: Path
) -> None:
    story = report.read(home)
    calls, about = report.keep(story, "wood", tmp_path)
    lines = [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]
    kept = json.loads(about.read_text(encoding="utf-8"))
    assert [line["reply"] for line in lines] == [call["reply"] for call in story.calls]
    assert {"role", "prompt", "reply", "mode", "model"} <= lines[0].keys()
    assert kept["config"] == {"task": "collect wood", "trials": 2, "training": {"n_envs": 4}}
    assert kept["ended"] == {
        "state": "finished",
        "plan": [["gather_wood", "code"], ["fight", "rl"]],
        "works": {"gather_wood": True},
        "trials": {"gather_wood": 4},
        "skills": ["gather_wood"],
    }
