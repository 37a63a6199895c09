"""One human line for every event of a run; shared by the log and the headless command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from studio.words import (
    Tone,
    agents_words,
    approver_words,
    author_words,
    compact,
    duration,
    outcome_sign,
    percent,
    plural,
    policy_words,
    shorten,
    state_sign,
)

if TYPE_CHECKING:
    from engine import events
    from engine.agents.plan import LearningProposal, Plan
    from skills_db.records import EventRecord

FREQUENT_KINDS = frozenset({"metrics", "device", "tokens"})
"""Kinds that come many times a minute; a log shows only the newest of them."""
_MAX_UNKNOWN = 200
_SMALL_CHANGE = 0.05
"""A fraction that changed by less (daylight does with every frame) is no news."""
_NO_NEWS = frozenset({"threat", "daylight"})
"""Terms of the world around the player: 99 cells to the next threat stand for none at all."""
_DECIDED: Mapping[str, str] = {
    "approve": "approved",
    "modify": "approved with changes",
    "reject": "rejected",
    "stop": "stopped at",
}
_TONES: Mapping[str, Tone] = {
    "agents": "warn",
    "checkpoint": "muted",
    "device": "muted",
    "metrics": "muted",
    "tokens": "muted",
    "failed": "bad",
    "finished": "good",
}
"""Only what asks for attention has a colour; what is not named here is plain."""


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
    """How the line feels, for its colour; the words say the same. Routine is muted."""
    payload = record.payload
    if record.kind == "state":
        felt = state_sign(str(payload.get("state", ""))).tone
        return "muted" if felt == "accent" else felt
    if record.kind == "trial":
        trial = payload.get("trial")
        return _trial_tone(trial) if isinstance(trial, Mapping) else "plain"
    if record.kind == "critique":
        critique = payload.get("critique")
        works = isinstance(critique, Mapping) and critique.get("works")
        return "plain" if works else "warn"
    if record.kind in ("code_decided", "learning_decided", "plan_approved"):
        if payload.get("decision") in ("reject", "stop"):
            return "warn"
        return "muted" if str(payload.get("by", "")).endswith(":all") else "plain"
    if record.kind == "log":
        levels: dict[str, Tone] = {"warning": "warn", "error": "bad", "critical": "bad"}
        return levels.get(str(payload.get("level", "")).lower(), "muted")
    return _TONES.get(record.kind, "plain")


def line_of(record: EventRecord) -> str | None:
    """Name of the one line that events of this sort share: the newest replaces the one before.

    None for an event that has a line of its own.
    """
    if record.kind in FREQUENT_KINDS:
        return record.kind
    if record.kind == "state" and record.payload.get("state") == "evaluating":
        policy = str(record.payload.get("detail", "")).partition(":")[0]
        return f"evaluating {policy}" if policy else None
    return None


def _trial_tone(trial: Mapping[str, Any]) -> Tone:
    felt = outcome_sign(str(trial.get("outcome", "")) if trial.get("started", True) else "").tone
    return "muted" if felt == "good" else felt


def _state(event: events.StateChanged) -> str:
    word, detail = state_sign(event.state).word, event.detail
    if event.state == "evaluating":
        policy, *rest = detail.split(":", 1)
        detail = ":".join([policy_words(policy), *rest])
    return f"state: {word}" + (f" ({detail})" if detail else "")


def _agent(event: events.AgentSaid) -> str:
    return f"{role_words(event.role)}: {event.text}"


def role_words(role: str) -> str:
    """An agent as people call it: `slow agent`, `fast agent`, `planner`, `critic`."""
    return {"slow": "slow agent", "fast": "fast agent"}.get(role, role)


def _plan(plan: Plan) -> str:
    coded, learnt = len(plan.sub_actions("code")), len(plan.sub_actions("rl"))
    return (
        f"{plural(len(plan.subtasks), 'subtask')}, {coded} to code, {learnt} to learn, "
        f"{plan.training_frames:,} frames of training"
    )


def _plan_proposed(event: events.PlanProposed) -> str:
    return f"plan proposed by {author_words(event.plan.author)}: {_plan(event.plan)}"


def _plan_approved(event: events.PlanApproved) -> str:
    return f"plan approved by {approver_words(event.by)}: {_plan(event.plan)}"


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
    said = _DECIDED.get(event.decision, event.decision)
    comment = f": {event.comment}" if event.comment else ""
    return (
        f"{approver_words(event.by)} {said} {event.sub_action} v{event.version} "
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
    """What a trial changed: `+3 wood, -1 drink`; gains first, without what is no news."""
    news = {
        name: round(value, 2)
        for name, value in gained.items()
        if name not in _NO_NEWS and abs(value) >= _SMALL_CHANGE
    }
    order = sorted(news.items(), key=lambda item: (item[1] < 0, item[0]))
    return ", ".join(f"{value:+g} {name.replace('_', ' ')}" for name, value in order)


def caption_words(caption: str) -> str:
    """What a picture of the world shows: captions of the way to a trial begin with `prologue`."""
    if caption.startswith("prologue: "):
        return f"on the way to the precondition: {caption.removeprefix('prologue: ')}"
    return caption


def _critique(event: events.CritiqueGiven) -> str:
    critique = event.critique
    verdict = "works" if critique.works else "does not work yet"
    rest = critique.text or critique.typical_failure
    return (
        f"critic: {critique.sub_action} v{critique.version} {verdict}, "
        f"{percent(critique.success_rate)} of {plural(critique.trials, 'trial')}"
        + (f": {rest}" if rest else "")
    )


def _learning_proposed(event: events.LearningProposed) -> str:
    proposal = event.proposal
    why = f": {proposal.reason}" if proposal.reason else ""
    return (
        f"how to learn {proposal.sub_action} v{proposal.version} by "
        f"{author_words(proposal.author)}, {learning_words(proposal)}{why}"
    )


def learning_words(proposal: LearningProposal) -> str:
    """What it asks for, in short: `2 coded actions, all it can observe, 1 shaping term`."""
    actions = plural(len(proposal.actions), "coded action")
    parts = plural(len(proposal.observation), "part") + " of the observation"
    return ", ".join(
        (
            actions if proposal.actions else "all coded actions that work",
            parts if proposal.observation else "the whole observation",
            plural(len(proposal.shaping), "shaping term") if proposal.shaping else "no shaping",
        )
    )


def _learning_decided(event: events.LearningDecided) -> str:
    proposal = event.proposal
    comment = f": {event.comment}" if event.comment else ""
    return (
        f"{approver_words(event.by)} {_DECIDED.get(event.decision, event.decision)} how to learn "
        f"{proposal.sub_action} v{proposal.version}{comment}"
    )


def _iteration(event: events.IterationReviewed) -> str:
    works = sum(bool(rate) for name, rate in event.code.items() if name not in event.given_up)
    words = f"iteration {event.iteration} reviewed: {works} of {len(event.code)} coded works"
    if event.given_up:
        words += f", given up: {', '.join(event.given_up)}"
    if event.task_success is not None:
        words += f", task success {percent(event.task_success)} in training"
    return words + (f". {event.verdict}" if event.verdict else "")


def _agents_changed(event: events.AgentsChanged) -> str:
    return f"from here on by {agents_words(event.agents)}" + (f": {event.why}" if event.why else "")


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
    where = f" at frame {event.frames:,}" if event.frames else ""
    lost = event.lost
    if lost in ("", "nothing"):
        again = ""
    elif "again" in lost:
        again = f"; {lost}"
    else:
        again = f"; done again: {lost}"
    return f"resumed in phase {event.phase}{where}{again}"


def _evaluated(event: events.Evaluated) -> str:
    data = event.evaluation
    baseline = data.get("baseline")
    words = f"evaluated {policy_words(str(data.get('policy', 'the policy')))}"
    if "episodes" in data:
        seeds = data.get("seeds", "?")
        words += f" on {data['episodes']} episodes, "
        words += str(seeds) if "parts" in data else f"seeds {seeds}"
    words += f": task success {_share(data, 'task_success')}, score {_number(data, 'score')}"
    if isinstance(baseline, Mapping):
        words += (
            f" ({policy_words(str(baseline.get('policy', 'untrained')))} "
            f"{_share(baseline, 'task_success')}, score {_number(baseline, 'score')})"
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
    tokens = f"{event.tokens:,} tokens"
    if event.max_tokens:
        tokens = f"{event.tokens:,} of {event.max_tokens:,} tokens"
    money = f"${event.cost_usd:.2f}"
    if event.max_cost_usd is not None:
        money += f" of ${event.max_cost_usd:.2f}"
    return f"{tokens}, {money} so far"


def _log(event: events.LogLine) -> str:
    return event.text if event.level.lower() == "info" else f"{event.level.lower()}: {event.text}"


def _failed(event: events.RunFailed) -> str:
    return f"failed: {event.message}" + (f" Next: {event.hint}" if event.hint else "")


def _finished(event: events.RunFinished) -> str:
    result = event.result
    state = str(result.get("state", "finished"))
    words = "finished" if state == "finished" else f"finished: {state}"
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
    "learning_proposed": _learning_proposed,
    "learning_decided": _learning_decided,
    "iteration": _iteration,
    "agents": _agents_changed,
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
