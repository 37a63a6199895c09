"""Runs and skills as the command line shows them, in JSON and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from skills_db.records import RunRecord, RunState, SkillKind, SkillRecord, SkillVersionRecord
from studio.cli_calls import calls_json, calls_text
from studio.cli_output import Output, give, pairs, runnable, table
from studio.departure_words import LEGEND, TITLE, account_of
from studio.run_agents import agents_of
from studio.words import (
    FAST_MODE,
    ago,
    approver_words,
    duration,
    fails_by_model,
    moment,
    percent,
    policy_words,
    shorten,
)

if TYPE_CHECKING:
    from studio.cli_place import Place


def list_runs(place: Place, limit: int, output: Output) -> None:
    """`runs list`."""
    with place.database() as database:
        runs = database.journal.runs(limit=limit)
    rows = [
        (run.id, _state(run), f"{_frames(run):,}", agents_of(run), run.world, run.task)
        for run in runs
    ]
    text = table(("RUN", "STATE", "FRAMES", "AGENTS", "WORLD", "TASK"), rows)
    empty = 'There is no run yet. Start one: rlgpt-studio run "collect a diamond"'
    shown = text if runs else runnable(empty)
    give(output, {"runs": [run_summary(run) for run in runs]}, shown)


def show_run(place: Place, run_id: str, *, calls: bool, role: str | None, output: Output) -> None:
    """`runs show`; with `calls` its JSON is a file for a replay, too."""
    with place.database() as database:
        journal = database.journal
        run = journal.run(run_id)
        asked = journal.pending(run.id)
        data = run_summary(run) | {
            "events": journal.last_seq(run.id),
            "approval": None if asked is None else {"id": asked.id, "kind": asked.kind,
                                                    "subject": asked.subject},
            "config": run.config,
            "result": run.result,
        }  # fmt: skip
        if calls:
            data["calls"] = calls_json(journal, run.id, role)
    give(output, data, _run_text(run, data))


def _state(run: RunRecord) -> str:
    """One word, and why a run waits where that is not for a plain decision."""
    failing = run.seen_state is RunState.WAITING and fails_by_model(run.detail)
    return f"{run.seen_state.value} (model fails)" if failing else run.seen_state.value


def run_summary(run: RunRecord) -> dict[str, Any]:
    """What a run is and where it stands."""
    return {
        "run": run.id,
        "state": run.seen_state.value,
        "detail": run.detail,
        "task": run.task,
        "world": run.world,
        "agents": agents_of(run),
        "frames": _frames(run),
        "created_at": run.created_at,
        "updated_at": run.updated_at,
    }


def _frames(run: RunRecord) -> int:
    """Env frames of training: as the run's result has them, else as its process said last."""
    counted = (run.result or {}).get("frames")
    return counted if isinstance(counted, int) else run.frames


def _run_text(run: RunRecord, data: Mapping[str, Any]) -> str:
    asked = data["approval"]
    parts = [
        pairs(
            {
                "run": run.id,
                "state": run.seen_state.value + (f" ({run.detail})" if run.detail else ""),
                "task": f"{run.task}, in {run.world}",
                "agents": agents_of(run),
                "fast mode": FAST_MODE if run.config.get("fast_mode") else None,
                "frames": f"{_frames(run):,}",
                "started": moment(run.created_at),
                "changed": ago(run.updated_at),
                "asks": asked and f"{asked['kind']}: {asked['subject']}",
            }
        )
    ]
    if run.result is not None:
        parts.append(_result_details(run.result))
    if "calls" in data:
        parts.append(calls_text(data["calls"]))
    return "\n\n".join(part for part in parts if part)


def result_text(data: Mapping[str, Any]) -> str:
    """What a headless run ended with, in words."""
    asked = data.get("approval")
    head = {
        "run": data.get("run"),
        "state": data.get("state"),
        "task": f"{data['task']}, in {data['world']}" if "task" in data else None,
        "agents": data.get("agents"),
        "frames": f"{data.get('frames', 0):,}",
        "took": duration(data["seconds"]) if "seconds" in data else None,
        "waits for": asked and f"{asked['kind']}: {asked['subject']}",
        "decide": runnable(data.get("attach", "")),
        "resume": runnable(data.get("resume", "")),
    }
    details = _result_details(data)
    return pairs(head) + (f"\n\n{details}" if details else "")


def _result_details(result: Mapping[str, Any]) -> str:
    parts = []
    if subtasks := result.get("subtasks"):
        rows = [(item["name"], item["mode"], percent(item["success_rate"])) for item in subtasks]
        parts.append(table(("SUBTASK", "MODE", "SUCCESS"), rows))
    if evaluation := result.get("evaluation"):
        parts.append(evaluation_text(evaluation))
    if skills := result.get("skills"):
        rows = [
            (f"{item['name']} v{item['version']}", item["kind"], percent(item["success_rate"]))
            for item in skills
        ]
        parts.append(table(("SAVED SKILL", "KIND", "SUCCESS"), rows))
    return "\n\n".join(parts)


def evaluation_text(evaluation: Mapping[str, Any]) -> str:
    """Figures of an evaluation, beside those of the untrained policy and of code alone."""
    chance = (evaluation.get("baseline") or {}).get("policy") == "random"
    others = (
        ("random" if chance else "untrained", evaluation.get("baseline")),
        ("code only", evaluation.get("code_only")),
    )
    beside = [(name, figures) for name, figures in others if figures]
    columns = [evaluation, *(figures for _, figures in beside)]
    policy = policy_words(str(evaluation.get("policy", "policy")))
    headings = ("", policy, *(name for name, _ in beside))
    rows: list[tuple[str, ...]] = [
        ("task success", *(percent(figures.get("task_success")) for figures in columns)),
        ("score", *(_figure(figures, "score", " %") for figures in columns)),
        ("reward", *(_figure(figures, "reward_mean") for figures in columns)),
        ("length", *(_figure(figures, "length_mean", " frames") for figures in columns)),
    ]
    names = evaluation.get("success", {})
    told = "parts" in evaluation
    reached = [n for n in names if told or any(f.get("success", {}).get(n) for f in columns)]
    rows += [
        (name.replace("_", " "), *(percent(f.get("success", {}).get(name)) for f in columns))
        for name in reached
    ]
    seeds = evaluation.get("seeds", "?")
    seeds = seeds if "parts" in evaluation else f"seeds {seeds}"
    where = f"{evaluation.get('episodes', '?')} episodes, {seeds}"
    text = f"Evaluation: {where}\n{table(headings, rows)}"
    left = _departures_text(evaluation)
    return f"{text}\n\n{left}" if left else text


def _departures_text(evaluation: Mapping[str, Any]) -> str:
    """Where the policy left the plan; empty where nothing was counted."""
    account = account_of(evaluation)
    if account is None:
        return ""
    lines = [f"{TITLE[0].upper()}{TITLE[1:]}", account.summary]
    if account.note:
        lines.append(account.note)
    for habit in account.habits:
        lines.append(f"instead of {habit.code} it chose {habit.policy}")
        lines += [f"    {words}" for words in (habit.how_often, habit.when) if words]
    lines += [LEGEND] if account.habits else []
    lines += [account.rest] if account.rest else []
    return "\n".join(lines)


def _figure(figures: Mapping[str, Any], name: str, unit: str = "") -> str:
    value = figures.get(name)
    return f"{value:.1f}{unit}" if isinstance(value, int | float) else "-"


def list_skills(
    place: Place, words: str, world: str | None, kind: SkillKind | None, output: Output
) -> None:
    """`skills list` and `skills search`."""
    with place.database() as database:
        skills = database.library.skills(words=words, world=world, kind=kind, limit=1000)
    rows = [
        (s.name, s.kind, s.world, s.versions, percent(s.latest.success_rate),
         shorten(s.description, 60))
        for s in skills
    ]  # fmt: skip
    text = table(("SKILL", "KIND", "WORLD", "VERSIONS", "SUCCESS", "WHAT IT DOES"), rows)
    empty = "No skill fits." if words or world or kind else "There is no skill yet."
    give(output, {"skills": [_skill_json(s) for s in skills]}, text if skills else empty)


def show_skill(place: Place, name: str, number: int | None, output: Output) -> None:
    """`skills show`."""
    with place.database() as database:
        versions = database.library.versions(name)
        version = database.library.version(name, number)
    data = asdict(version) | {"versions": [_version_json(other) for other in versions]}
    give(output, data, _skill_text(version, versions))


def _skill_json(skill: SkillRecord) -> dict[str, Any]:
    return {
        "name": skill.name,
        "kind": skill.kind,
        "world": skill.world,
        "description": skill.description,
        "versions": skill.versions,
        "success_rate": skill.latest.success_rate,
        "updated_at": skill.latest.created_at,
    }


def _version_json(version: SkillVersionRecord) -> dict[str, Any]:
    return {
        "version": version.version,
        "code_hash": version.code_hash,
        "success_rate": version.success_rate,
        "episodes": version.episodes,
        "created_at": version.created_at,
    }


def _skill_text(version: SkillVersionRecord, versions: tuple[SkillVersionRecord, ...]) -> str:
    head = pairs(
        {
            "skill": f"{version.skill} v{version.version} of {len(versions)}",
            "kind": f"{version.kind.replace('_', ' ')} of {version.world}",
            "does": version.description,
            "success": f"{percent(version.success_rate)} of {version.episodes} episodes",
            "from run": version.run_id,
            "agents": version.agents,
            "approved": approver_words(version.approver),
            "code": version.code and f"sha256 {version.code_hash}",
            "weights": version.weights_hash and f"sha256 {version.weights_hash}",
            "saved": moment(version.created_at),
        }
    )
    evaluation = version.metadata.get("evaluation")
    figures = evaluation_text(evaluation) if isinstance(evaluation, Mapping) else ""
    return "\n\n".join(part for part in (head, figures, version.code) if part)
