"""The critic by rules: the success rate by program, the typical failure, and a way on in words."""

from __future__ import annotations

from collections import Counter

from engine.agents.last_frame import LastFrame
from engine.agents.plan import CodeProposal, Critique, SubAction, Trial
from engine.agents.protocols import TaskContext
from engine.agents.rules.planner import AUTHOR

_WORDS = {
    "success": "succeeded",
    "failed": "returned without success",
    "error": "ended with an error",
    "out_of_frames": "ran out of frames",
    "stuck": "went round in circles",
    "died": "died",
    "interrupted": "was interrupted",
}
_SUGGESTIONS = {
    "failed": "Look at what it returned: keep trying longer, or look elsewhere.",
    "error": "Mend the line the error names, and handle the case in which no way is known.",
    "out_of_frames": "Give it more frames, or split the way there from the deed.",
    "stuck": "Change the direction of search when nothing is gained for some frames.",
    "died": "Deal with danger inside the program, or let it yield earlier.",
    "interrupted": "Deal with danger inside the program instead of yielding each time.",
}


class RulesCritic:
    """Judges by the success predicate, which the world has checked in each trial."""

    author = AUTHOR

    def judge(
        self,
        context: TaskContext,
        sub_action: SubAction,
        proposal: CodeProposal,
        trials: tuple[Trial, ...],
        pass_rate: float,
        last_frame: LastFrame | None = None,
    ) -> Critique:
        """Success rate over the trials that started, typical failure, and a suggestion."""
        del last_frame
        started = [trial for trial in trials if trial.started]
        good = sum(trial.outcome == "success" for trial in started)
        rate = good / len(started) if started else 0.0
        works = bool(started) and rate >= pass_rate
        failure = _typical(started)
        return Critique(
            sub_action=sub_action.name,
            version=proposal.version,
            success_rate=rate,
            trials=len(started),
            works=works,
            typical_failure=failure,
            text=_text(sub_action, trials, started, good, failure),
            suggestion=_suggestion(sub_action, trials, started, works),
            author=self.author,
        )


def _typical(started: list[Trial]) -> str:
    """The most frequent failure in words; empty when there was none."""
    failures = Counter(_failure(trial) for trial in started if trial.outcome != "success")
    return failures.most_common(1)[0][0] if failures else ""


def _failure(trial: Trial) -> str:
    detail = f": {trial.detail}" if trial.detail else ""
    return f"{_WORDS[trial.outcome]}{detail}"


def _text(
    sub_action: SubAction,
    trials: tuple[Trial, ...],
    started: list[Trial],
    good: int,
    failure: str,
) -> str:
    missed = len(trials) - len(started)
    if not started:
        return (
            f"It was never tried: in none of {len(trials)} worlds could its precondition "
            f"`{sub_action.precondition}` be brought about by the actions approved so far."
        )
    frames = sorted(trial.frames for trial in started)
    parts = [
        f"`{sub_action.success}` held after {good} of {len(started)} trials "
        f"(median {frames[len(frames) // 2]} frames)."
    ]
    if missed:
        parts.append(f"{missed} more could not start.")
    if failure:
        parts.append(f"Typical failure: it {failure}.")
    loops = [loop for trial in started if (loop := dead_loop(trial))]
    if loops:
        parts.append(f"Dead loop in {len(loops)} of them: {loops[0]}.")
    return " ".join(parts)


def dead_loop(trial: Trial) -> str:
    """The few primitive actions a failed trial repeated to its end; empty when it did not."""
    if trial.outcome == "success" or len(trial.actions) < 8:
        return ""
    tail = [name for name, _ in trial.actions[-12:]]
    for period in (1, 2, 3):
        cycle = tail[-period:]
        rounds = len(tail) // period
        if rounds >= 3 and tail[-rounds * period :] == cycle * rounds:
            return " -> ".join(cycle)
    return ""


def _suggestion(
    sub_action: SubAction, trials: tuple[Trial, ...], started: list[Trial], works: bool
) -> str:
    if works:
        return ""
    if not started:
        return (
            "Get the sub-actions before it to work, loosen the precondition, or let it be learnt."
        )
    outcomes = Counter(trial.outcome for trial in started if trial.outcome != "success")
    return _SUGGESTIONS[outcomes.most_common(1)[0][0]] if outcomes else ""
