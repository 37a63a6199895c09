"""A run as text: one row of the list of runs, and its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from studio.run_agents import run_agents
from studio.widgets.paint import STYLES, painted, spread, toned
from studio.words import (
    FAST_MODE,
    KINDS,
    Sign,
    ago,
    compact,
    duration,
    fails_by_model,
    moment,
    percent,
    plural,
    state_sign,
)

if TYPE_CHECKING:
    from skills_db.records import RunRecord

MODEL_FAILS = Sign("◆", "?", "model fails", "bad")
_STATE = 17
_AGENTS_FROM = 92
"""Rows narrower than this leave out who planned."""


def row(run: RunRecord, width: int, now: datetime, ascii_only: bool) -> Content:
    """State, task, and at the right result, frames and when."""
    sign = painted(_sign(run), ascii_only=ascii_only)
    left = Content.assemble(sign.pad_right(max(1, _STATE - sign.cell_length)), run.task)
    parts = [
        Content(f"{short_result(run):>14}"),
        toned(f"{compact(run.frames):>7} frames", "muted"),
    ]
    if width >= _AGENTS_FROM:
        parts.insert(0, toned(run_agents(run), "muted"))
    parts.append(toned(f"{ago(run.created_at, now):>10}", "muted"))
    return spread(left, Content("  ").join(parts), width)


def _sign(run: RunRecord) -> Sign:
    """Of its state; a run whose model does not answer waits for another kind of decision."""
    if run.seen_state == "waiting" and fails_by_model(run.detail):
        return MODEL_FAILS
    return state_sign(run.seen_state)


def short_result(run: RunRecord) -> str:
    """What came out of it, in two words: `35 % success`; empty while nothing did."""
    evaluation = _mapping(run.result, "evaluation")
    success = evaluation.get("task_success")
    if isinstance(success, int | float):
        return f"{percent(success)} success"
    return ""


def page(
    run: RunRecord,
    width: int,
    now: datetime,
    failure: tuple[str, str] | None = None,
    log_tail: Sequence[str] = (),
) -> Content:
    """Everything about a run: where it stands, what it gave, and why it ended badly.

    Args:
        failure: message and hint of its last failure.
        log_tail: the last lines its process wrote, for one that died without a word.
    """
    sign = _sign(run)
    title = Content.styled(run.task, "bold")
    lines = [spread(title, painted(sign), width), toned(run.id, "muted")]
    if run.detail:
        lines.append(Content(run.detail))
    lines.append(Content())
    last_sign = max(run.updated_at, run.heartbeat_at or run.updated_at)
    facts = [
        ("world", run.world),
        ("agents", run_agents(run)),
        ("frames", f"{run.frames:,} of {run.config.get('frames', 0):,}"),
        ("started", moment(run.created_at, now)),
        ("last sign", moment(last_sign, now)),
        ("lasted", duration((last_sign - run.created_at).total_seconds())),
    ]
    if run.config.get("fast_mode"):
        facts.append(("fast mode", FAST_MODE))
    lines += [Content.assemble(toned(f"{name:<12}", "muted"), text) for name, text in facts]
    lines += _advice(run, failure, log_tail)
    lines += _gave(run.result)
    return Content("\n").join(lines)


def _advice(
    run: RunRecord, failure: tuple[str, str] | None, log_tail: Sequence[str]
) -> list[Content]:
    lines: list[Content] = []
    if run.seen_state == "waiting" and fails_by_model(run.detail):
        text = "Enter goes to the run: try again, go on with the rules agents, or stop."
        lines += [Content(), Content.styled("Its language model does not answer.", STYLES["bad"])]
        lines.append(Content(text))
    if run.seen_state == "interrupted":
        lines += [
            Content(),
            Content.styled("Its process is gone although the run was not over.", STYLES["bad"]),
            Content("R goes on from the last checkpoint."),
        ]
    if failure is not None and run.seen_state in ("failed", "interrupted"):
        message, hint = failure
        lines += [Content(), Content.styled(message, STYLES["bad"])]
        if hint:
            lines.append(Content.assemble(("Next  ", "$text-accent"), hint))
    if run.seen_state in ("failed", "interrupted") and log_tail:
        lines += [Content(), toned("last lines of its process", "muted")]
        lines += [toned(line, "muted") for line in log_tail]
    return lines


def _gave(result: Mapping[str, Any] | None) -> list[Content]:
    lines: list[Content] = []
    evaluation = _mapping(result, "evaluation")
    if evaluation:
        before = _mapping(evaluation, "baseline").get("task_success")
        text = f"{percent(evaluation.get('task_success'))} success"
        text += f" over {plural(int(evaluation.get('episodes', 0)), 'episode')}"
        if isinstance(before, int | float):
            text += f"; untrained {percent(before)}"
        lines += [Content(), Content.assemble(toned(f"{'evaluation':<12}", "muted"), text)]
    skills = (result or {}).get("skills")
    for index, skill in enumerate(skills if isinstance(skills, list | tuple) else ()):
        label = "skills" if index == 0 else ""
        name = f"{skill.get('name')} v{skill.get('version')}"
        kind = KINDS.get(str(skill.get("kind")), str(skill.get("kind")))
        rate = percent(skill.get("success_rate"))
        words = toned(f"  {kind}, {rate}", "muted")
        lines.append(Content.assemble(toned(f"{label:<12}", "muted"), name, words))
    return lines


def _mapping(data: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    value = (data or {}).get(name)
    return value if isinstance(value, Mapping) else {}
