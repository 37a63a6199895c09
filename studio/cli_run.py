"""Starting and resuming runs from the command line, and the JSON object they end with."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError, EngineError
from skills_db.records import RunRecord, RunState
from studio.cli_output import (
    BROKEN,
    FAILED,
    FINISHED,
    INTERRUPTED,
    WAITING,
    Output,
    OutputLost,
    give,
    tell,
)
from studio.cli_show import result_text, run_summary
from studio.deciders import person
from studio.recordings import with_recording
from studio.task_check import check_task

if TYPE_CHECKING:
    from skills_db.journal import Journal
    from skills_db.records import ApprovalRecord
    from studio.cli_follow import Ending
    from studio.cli_place import Place


def start(
    place: Place, task: str, changes: Mapping[str, Any], *, headless: bool, output: Output
) -> int:
    """Starts a run and follows it, here or in the studio; returns the exit code.

    Raises:
        ConfigError: a setting that cannot work.
        UnknownName: no such world, or a task it does not have.
        DatabaseError: the run could not be written.
    """
    if not headless and (code := _no_terminal()):
        return code
    folder = place.paths.config_file.parent
    config = place.settings.run_config(changes, task=task, folder=folder)
    check_task(config)
    with place.database() as database:
        config = with_recording(config, database.journal)
        created = database.journal.create_run(
            kind="task",
            task=config.task,
            world=config.world,
            agents=config.agents,
            config=config.model_dump(mode="json"),
        )
        if headless:
            tell(f"Run {created.id}")
            return _work(place, database.journal, created, output)
        _launch(place, created.id)
    return _open(created.id)


def go_on(
    place: Place,
    run_id: str,
    *,
    approve_all: bool,
    headless: bool,
    output: Output,
    changes: Mapping[str, Any],
) -> int:
    """Resumes a run (or follows it, if a process works on it); returns the exit code.

    Raises:
        NotFound: no such run.
        ConfigError: the run is finished, at work, or cannot be changed so.
    """
    with place.database() as database:
        journal = database.journal
        found = journal.run(run_id)
        if found.state is RunState.FINISHED:
            raise ConfigError(
                f"Run {found.id} is over: it finished, there is nothing to go on with.",
                f"Look at it in the studio: rlgpt-studio attach {found.id}\n"
                f"  or here: rlgpt-studio runs show {found.id}",
            )
        if not headless and (code := _no_terminal()):
            return code
        known = journal.last_seq(found.id)
        alive = found.owner is not None and found.seen_state is not RunState.INTERRUPTED
        if approve_all:
            journal.send(found.id, "approve_all")
            if headless and not alive:  # nobody is there to be asked about a model that fails
                changes = {"approve": "all", **changes}
        failing = _asks_about_model(journal, found.id) if changes.get("agents") == "rules" else None
        if changes and not (alive and failing is not None and len(changes) == 1):
            if alive:
                raise ConfigError(
                    f"A process works on run {found.id}: its settings cannot change meanwhile.",
                    "Stop it first, then resume it with the changes.",
                )
            from engine.config import RunConfig

            config = RunConfig.model_validate(found.config).changed(changes)
            config = with_recording(config, journal)
            journal.set_config(found.id, config.model_dump(mode="json"))
        if failing is not None:
            _decide_for_rules(journal, failing)
        if headless:
            if alive:
                tell(f"A process works on run {found.id} already; following it.")
            return _work(place, journal, found, output, after=known, alive=alive)
        if not alive:
            _launch(place, found.id)
    return _open(found.id)


def _asks_about_model(journal: Journal, run_id: str) -> ApprovalRecord | None:
    """The question of a run whose language model fails, if that is what it asks."""
    asked = journal.pending(run_id)
    return asked if asked is not None and asked.kind == "model" else None


def _decide_for_rules(journal: Journal, asked: ApprovalRecord) -> None:
    """The rules agents go on: as if it had been decided in the studio."""
    journal.decide(
        asked.id,
        "modify",
        by=person(),
        payload={"agents": "rules"},
        expected_hash=asked.payload_hash,
    )


def _no_terminal() -> int:
    if sys.stdin.isatty() and sys.stdout.isatty():
        return 0
    tell("The studio needs a terminal, and this is none.", "Add --headless to work without one.")
    return BROKEN


def _open(run_id: str) -> int:
    from studio.cli import open_studio

    return open_studio(attach=run_id)


def _launch(place: Place, run_id: str) -> int:
    from engine.process import launch

    try:
        return launch(run_id, db_url=place.paths.database_url, home=place.paths.home)
    except OSError as error:
        raise EngineError(
            f"The process of run {run_id} could not be started: {error}.",
            "Choose another place with RLGPT_STUDIO_HOME if its folder cannot be written.",
        ) from error


def _work(
    place: Place,
    journal: Journal,
    run: RunRecord,
    output: Output,
    *,
    after: int = 0,
    alive: bool = False,
) -> int:
    from studio.cli_follow import follow

    pid = None if alive else _launch(place, run.id)
    ending = follow(journal, run, place.paths.home, pid=pid, after=after)
    data = _ending_json(place, journal, ending)
    try:
        give(output, data, result_text(data))
    except OutputLost as error:
        # The run ended as it did, and its result is kept: the exit code tells of the run.
        tell(f"Error: {error.message}", f"See the result: rlgpt-studio runs show {run.id}")
    if ending.error:
        tell(f"Error: {ending.error}", ending.hint)
    if ending.code == INTERRUPTED:
        tell(f"Go on with it: rlgpt-studio resume {run.id}")
    return ending.code


def _ending_json(place: Place, journal: Journal, ending: Ending) -> dict[str, Any]:
    """The run's own result; what there is of it and the next step when it did not finish."""
    run = ending.run
    if ending.code == FINISHED and run.result is not None:
        return dict(run.result)
    data = run_summary(run)
    if ending.code == INTERRUPTED and run.state is RunState.STOPPED and run.result is not None:
        data |= run.result
    if ending.code == WAITING and (asked := journal.pending(run.id)) is not None:
        data["approval"] = {"id": asked.id, "kind": asked.kind, "subject": asked.subject}
        if asked.kind == "model":
            data["error"] = str(asked.payload.get("message", ""))
            data["hint"] = str(asked.payload.get("hint", ""))
            data["by_rules"] = f"rlgpt-studio resume {run.id} --set agents=rules"
        data["attach"] = f"rlgpt-studio attach {run.id}"
    if ending.code == FAILED:
        from engine.process import log_file

        data |= {"error": ending.error, "hint": ending.hint}
        data["log"] = str(log_file(run.id, place.paths.home))
    if ending.code != FINISHED:
        data["resume"] = f"rlgpt-studio resume {run.id}"
    return data
