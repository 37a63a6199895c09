"""What is wanted now, in one sentence: worked out from the run alone, shown in the notice line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from studio.run_model import RunModel
from studio.words import Tone, percent, plural, shorten

if TYPE_CHECKING:
    from engine.agents.plan import CodeProposal, Plan
    from skills_db.records import RunRecord


@dataclass(frozen=True, slots=True)
class Said:
    """What the notice line shows."""

    tone: Tone
    title: str
    text: str


def plan_asked(plan: Plan, changed: bool, problems: tuple[str, ...]) -> Said:
    """The plan waits for the person."""
    from studio.widgets.plan_rows import summary

    if problems:
        more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
        return Said("bad", "✗ The plan cannot stand yet", problems[0] + more)
    what = "a approves your edits" if changed else "a approves, e edits"
    return Said("warn", "◆ Your turn", f"{summary(plan)}. {what}.")


def code_asked(proposal: CodeProposal, edited: bool, versions: bool) -> Said:
    """Code waits for the person."""
    name = f"{proposal.sub_action} version {proposal.version}"
    if edited:
        return Said("warn", "◆ Your turn", f"{name} with your edit: a approves it.")
    if proposal.diagnostics:
        count = plural(len(proposal.diagnostics), "finding")
        text = f"{name} does not pass the check ({count}). Edit it with e, or send it back with r."
        return Said("bad", "◆ Your turn", text)
    rest = ", d shows the diff" if versions else ""
    return Said("warn", "◆ Your turn", f"{name}: read it, a approves{rest}.")


def save_asked(count: int, kept: int) -> Said:
    """The save question waits for the person."""
    if kept == 0:
        text = "Nothing is ticked: a goes on without saving."
    else:
        text = f"a saves {kept} of {plural(count, 'skill')}; space unticks."
    return Said("warn", "◆ Your turn", text)


def standing(model: RunModel, last_line: str) -> Said:
    """Nothing is asked: what the run is at, or how it ended."""
    run, failure = model.run, model.view.failure
    if run is None:
        return Said("muted", "", "Reading the run …")
    state = run.seen_state.value
    if state == "interrupted":
        text = "Its process is gone; everything until the last checkpoint is kept. R resumes it."
        return Said("bad", "! Interrupted", text)
    if state == "failed":
        why = run.detail or "the run failed"
        hint = "R tries again."
        if failure is not None:
            why, hint = failure.message, failure.hint or hint
        return Said("bad", "✗ Failed", f"{why} {hint}")
    if state == "paused":
        return Said("warn", "‖ Paused", "p lets the run go on.")
    if state == "stopped":
        return Said("muted", "■ Stopped", "What was learnt is kept. R goes on with it.")
    if state == "finished":
        return Said("good", "✔ Finished", finished_words(model))
    if state == "created":
        return _starting(run)
    return Said("muted", "", shorten(last_line, 300))


def finished_words(model: RunModel) -> str:
    """What came out, in one sentence."""
    words = []
    evaluation: Mapping[str, Any] = model.view.evaluation or {}
    success = evaluation.get("task_success")
    if isinstance(success, int | float):
        words.append(f"task success {percent(success)} on held-out seeds")
        baseline = evaluation.get("baseline")
        if isinstance(baseline, Mapping) and isinstance(baseline.get("task_success"), int | float):
            words[-1] += f" ({percent(baseline['task_success'])} untrained)"
    words.append(f"{plural(len(model.view.saved), 'skill')} saved")
    return ", ".join(words) + ". ctrl+n begins a new run."


def _starting(run: RunRecord) -> Said:
    return Said("muted", "", f"Starting the run {run.id} …")
