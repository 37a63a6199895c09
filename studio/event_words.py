"""One human line for every event of a run; shared by the log and the headless command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from studio.words import (
    Tone,
    author_words,
    compact,
    duration,
    outcome_sign,
    percent,
    plural,
    shorten,
    state_sign,
)

if TYPE_CHECKING:
    from engine import events
    from engine.agents.plan import Plan
    from skills_db.records import EventRecord

FREQUENT_KINDS = frozenset({"metrics", "device", "tokens"})
"""Kinds that come many times a minute; a log shows only the newest of them."""
_MAX_UNKNOWN = 200
_TONES: Mapping[str, Tone] = {
    "agent": "plain",
    "plan_approved": "good",
    "checkpoint": "muted",
    "device": "muted",
    "metrics": "muted",
    "tokens": "muted",
    "resumed": "warn",
    "skill_saved": "good",
    "evaluation": "good",
    "failed": "bad",
    "finished": "good",
    "plan_proposed": "accent",
    "code_proposed": "accent",
    "training_started": "accent",
}


def describe(record: EventRecord) -> str:
    """The event in words, one line. A kind or payload of another version is shown as it is."""
    # engine.events brings pydantic along; a studio that shows no log yet must not pay for it.
    from pydantic import ValidationError

    from engine.events import decode

    try:
        event = decode(record.kind, record.payload)
    except ValidationError:
        event = None
    if event is None:
        payload = json.dumps(record.payload, ensure_ascii=False, default=str)
        return shorten(f"{record.kind}: {payload}", _MAX_UNKNOWN)
    words: Callable[[Any], str] = _WORDS[record.kind]
    return " ".join(words(event).split())


def tone(record: EventRecord) -> Tone:
    """How the line feels, for its colour; the words say the same."""
    payload = record.payload
    if record.kind == "state":
        return state_sign(str(payload.get("state", ""))).tone
    if record.kind == "trial":
        trial = payload.get("trial")
        return _trial_tone(trial) if isinstance(trial, Mapping) else "plain"
    if record.kind == "critique":
        critique = payload.get("critique")
        works = isinstance(critique, Mapping) and critique.get("works")
        return "good" if works else "warn"
    if record.kind == "code_decided":
        return "warn" if payload.get("decision") in ("reject", "stop") else "good"
    if record.kind == "log":
        levels: dict[str, Tone] = {"warning": "warn", "error": "bad", "critical": "bad"}
        return levels.get(str(payload.get("level", "")).lower(), "muted")
    return _TONES.get(record.kind, "plain")


def _trial_tone(trial: Mapping[str, Any]) -> Tone:
    return outcome_sign(str(trial.get("outcome", "")) if trial.get("started", True) else "").tone


def _state(event: events.StateChanged) -> str:
    word = state_sign(event.state).word
    return f"state: {word}" + (f" ({event.detail})" if event.detail else "")


def _agent(event: events.AgentSaid) -> str:
    role = {"slow": "slow agent", "fast": "fast agent"}.get(event.role, event.role)
    return f"{role}: {event.text}"


def _plan(plan: Plan) -> str:
    coded, learnt = len(plan.sub_actions("code")), len(plan.sub_actions("rl"))
    return (
        f"{plural(len(plan.subtasks), 'subtask')}, {coded} to code, {learnt} to learn, "
        f"{plan.training_frames:,} frames of training"
    )


def _plan_proposed(event: events.PlanProposed) -> str:
    return f"plan proposed by {author_words(event.plan.author)}: {_plan(event.plan)}"


def _plan_approved(event: events.PlanApproved) -> str:
    return f"plan approved by {event.by}: {_plan(event.plan)}"


def _code_proposed(event: events.CodeProposed) -> str:
    proposal = event.proposal
    lines = proposal.code.count("\n") + (not proposal.code.endswith("\n"))
    check = "check passed"
    if proposal.diagnostics:
        first = proposal.diagnostics[0]
        where = f"line {first.line}: " if first.line else ""
        check = f"{plural(len(proposal.diagnostics), 'finding')}, first {where}{first.message}"
    return (
        f"code for {proposal.sub_action} v{proposal.version} by {author_words(proposal.author)}, "
        f"{plural(lines, 'line')}, {check}"
    )


def _code_decided(event: events.CodeDecided) -> str:
    said = {
        "approve": "approved",
        "modify": "approved with changes",
        "reject": "rejected",
        "stop": "stopped at",
    }.get(event.decision, event.decision)
    comment = f": {event.comment}" if event.comment else ""
    return (
        f"{event.by} {said} {event.sub_action} v{event.version} "
        f"(sha256 {event.code_hash[:10]}){comment}"
    )


def _trial(event: events.TrialFinished) -> str:
    trial = event.trial
    name = f"trial {trial.index + 1} of {trial.sub_action} v{trial.version}, seed {trial.seed}"
    if not trial.started:
        return f"{name}: not started, its precondition did not come about"
    gained = gained_words(trial.gained)
    return (
        f"{name}: {outcome_sign(trial.outcome).word} after {plural(trial.frames, 'frame')}"
        + (f", {gained}" if gained else "")
        + (f" ({trial.detail})" if trial.detail else "")
    )


def gained_words(gained: Mapping[str, float]) -> str:
    """What a trial changed: `+3 wood, -1 drink`; gains first."""
    order = sorted(gained.items(), key=lambda item: (item[1] < 0, item[0]))
    return ", ".join(f"{value:+g} {name.replace('_', ' ')}" for name, value in order if value)


def _critique(event: events.CritiqueGiven) -> str:
    critique = event.critique
    verdict = "works" if critique.works else "does not work yet"
    rest = critique.text or critique.typical_failure
    return (
        f"critic: {critique.sub_action} v{critique.version} {verdict}, "
        f"{percent(critique.success_rate)} of {plural(critique.trials, 'trial')}"
        + (f": {rest}" if rest else "")
    )


def _training_started(event: events.TrainingStarted) -> str:
    goes_on = f" from frame {event.frames_done:,}" if event.frames_done else ""
    return (
        f"training on {event.device}{goes_on} to {event.frames_total:,} frames; "
        f"{plural(len(event.actions), 'action')}, {event.coded_actions} of them coded; "
        f"{compact(event.parameters)} parameters"
    )


def _metrics(event: events.TrainingMetrics) -> str:
    value = "-" if event.episodic_return is None else f"{event.episodic_return:.2f}"
    return (
        f"frame {event.frames:,} of {event.frames_total:,}: "
        f"success {percent(event.success_rate)}, return {value}, "
        f"{compact(event.sps)} frames/s, ETA {duration(event.eta_seconds)}"
    )


def _device(event: events.DeviceSampled) -> str:
    parts = [event.name]
    if event.utilisation is not None:
        what = "GPU" if event.is_gpu else "run"
        parts.append(f"{what} {event.utilisation:.0f} %")
    if event.memory_used_gb is not None and event.memory_total_gb is not None:
        parts.append(f"memory {event.memory_used_gb:.1f} of {event.memory_total_gb:.1f} GB")
    if event.temperature_c is not None:
        parts.append(f"{event.temperature_c:.0f} °C")
    return ", ".join([*parts, f"CPU {event.cpu_percent:.0f} %"])


def _checkpoint(event: events.CheckpointSaved) -> str:
    return f"checkpoint at frame {event.frames:,} (sha256 {event.sha256[:10]})"


def _resumed(event: events.Resumed) -> str:
    lost = f"; done again: {event.lost}" if event.lost else ""
    return f"resumed in phase {event.phase} at frame {event.frames:,}{lost}"


def _evaluated(event: events.Evaluated) -> str:
    data = event.evaluation
    baseline = data.get("baseline")
    words = f"evaluated {data.get('policy', 'the policy')}"
    if "episodes" in data:
        words += f" on {data['episodes']} episodes, seeds {data.get('seeds', '?')}"
    words += f": task success {_share(data, 'task_success')}, score {_number(data, 'score')}"
    if isinstance(baseline, Mapping):
        words += (
            f" (untrained {_share(baseline, 'task_success')}, score {_number(baseline, 'score')})"
        )
    return words


def _share(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return percent(value) if isinstance(value, int | float) else "-"


def _number(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return f"{value:.1f}" if isinstance(value, int | float) else "-"


def _skill_saved(event: events.SkillSaved) -> str:
    kind = event.skill_kind.replace("_", " ")
    return f"saved {kind} {event.name} v{event.version}, success rate {percent(event.success_rate)}"


def _tokens(event: events.TokensUsed) -> str:
    return f"{event.tokens:,} tokens, ${event.cost_usd:.2f} so far"


def _log(event: events.LogLine) -> str:
    return event.text if event.level.lower() == "info" else f"{event.level.lower()}: {event.text}"


def _failed(event: events.RunFailed) -> str:
    return f"failed: {event.message}" + (f" Next: {event.hint}" if event.hint else "")


def _finished(event: events.RunFinished) -> str:
    result = event.result
    words = f"finished: {result.get('state', 'done')}"
    frames, seconds = result.get("frames"), result.get("seconds")
    if isinstance(frames, int):
        words += f", {plural(frames, 'frame')}"
    if isinstance(seconds, int | float):
        words += f" in {duration(seconds)}"
    skills = result.get("skills")
    if isinstance(skills, list | tuple):
        words += f", {plural(len(skills), 'skill')} saved"
    return words


_WORDS: Mapping[str, Callable[[Any], str]] = {
    "state": _state,
    "agent": _agent,
    "plan_proposed": _plan_proposed,
    "plan_approved": _plan_approved,
    "code_proposed": _code_proposed,
    "code_decided": _code_decided,
    "trial": _trial,
    "critique": _critique,
    "training_started": _training_started,
    "metrics": _metrics,
    "device": _device,
    "checkpoint": _checkpoint,
    "resumed": _resumed,
    "evaluation": _evaluated,
    "skill_saved": _skill_saved,
    "tokens": _tokens,
    "log": _log,
    "failed": _failed,
    "finished": _finished,
}
