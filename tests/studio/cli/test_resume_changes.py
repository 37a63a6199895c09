"""`resume --set`: a run whose budget is spent goes on with a larger one."""

from __future__ import annotations

from engine.config import RunConfig
from skills_db.records import RunState

STOP = "leave(RunState.STOPPED, result={'run': run_id, 'state': 'stopped'})"


def _stopped(database):
    config = RunConfig(task="collect wood", agents="llm")
    run = database.journal.create_run(
        kind="task", task=config.task, world="crafter", agents="llm",
        config=config.model_dump(mode="json"),
    )  # fmt: skip
    database.journal.set_state(run.id, RunState.STOPPED)
    return run


def test_a_larger_budget_is_stored_with_the_run(cli, process, database):
    process(STOP)
    run = _stopped(database)
    cli("resume", run.id, "--headless", "--set", "llm.max_tokens_total=1000000")
    config = database.journal.run(run.id).config
    assert config["llm"]["max_tokens_total"] == 1_000_000
    assert config["task"] == "collect wood"


def test_what_a_run_is_cannot_be_changed(cli, process, database):
    process(STOP)
    run = _stopped(database)
    answer = cli("resume", run.id, "--headless", "--set", "frames=5000000")
    assert answer.code == 2
    assert "`frames` of a run cannot be changed" in answer.err
    assert database.journal.run(run.id).config["frames"] == 100_000


def test_fast_mode_may_be_allowed_and_forbidden_again(cli, process, database):
    process(STOP)
    run = _stopped(database)
    for option, allowed in (("--fast-mode", True), ("--no-fast-mode", False)):
        assert cli("resume", run.id, "--headless", option).code == 130
        assert database.journal.run(run.id).config["fast_mode"] is allowed
