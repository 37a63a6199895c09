"""What is wanted now, in one sentence: worked out from the run alone, shown in the notice line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from studio.words import Sign, percent, plural, sentences, shorten

if TYPE_CHECKING:
    from engine.agents.plan import CodeProposal, Plan
    from studio.run_model import RunModel
    from studio.syntax import SyntaxProblem

YOUR_TURN = Sign("◆", "?", "Your turn", "warn")
CANNOT_STAND = Sign("✗", "x", "The plan cannot stand yet", "bad")
NOT_PASSED = Sign("◆", "?", "Your turn", "bad")
NO_ANSWER = Sign("◆", "?", "The model does not answer", "bad")
EDITING = Sign("✎", "*", "Editing", "accent")
INTERRUPTED = Sign("!", "!", "Interrupted", "bad")
FAILED = Sign("✗", "x", "Failed", "bad")
PAUSED = Sign("‖", "=", "Paused", "warn")
STOPPED = Sign("■", "#", "Stopped", "muted")
FINISHED = Sign("✔", "+", "Finished", "good")


@dataclass(frozen=True, slots=True)
class Said:
    """What the notice line shows; without a sign it is a remark by the way."""

    sign: Sign | None
    text: str


@dataclass(frozen=True, slots=True)
class Notices:
    """The sentences, with the keys as the person has them.

    Args:
        key: what to press, by the id in the registry of keys.
    """

    key: Callable[[str], str]

    def plan_asked(self, plan: Plan, changed: bool, problems: tuple[str, ...]) -> Said:
        """The plan waits for the person."""
        from studio.widgets.plan_rows import summary

        if problems:
            more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
            return Said(CANNOT_STAND, problems[0] + more)
        approve, edit = self.key("decide.approve"), self.key("decide.edit")
        what = f"{approve} approves your edits" if changed else f"{approve} approves, {edit} edits"
        return Said(YOUR_TURN, f"{summary(plan)}. {what}.")

    def code_asked(
        self,
        proposal: CodeProposal,
        edited: bool,
        has_base: bool,
        problem: SyntaxProblem | None = None,
    ) -> Said:
        """Code waits for the person; `problem` is what keeps their edit from being Python."""
        approve, name = self.key("decide.approve"), _version(proposal)
        if problem is not None:
            edit = self.key("decide.edit")
            text = f"{name}: your edit is not valid Python, {problem}. {edit} edits it there."
            return Said(NOT_PASSED, text)
        if edited:
            return Said(YOUR_TURN, f"{name} with your edit: {approve} approves it.")
        if proposal.diagnostics:
            count = plural(len(proposal.diagnostics), "finding")
            edit, reject = self.key("decide.edit"), self.key("decide.reject")
            text = f"{name} does not pass the check ({count}). {edit} edits, {reject} sends back."
            return Said(NOT_PASSED, text)
        rest = f", {self.key('code.diff')} shows the diff" if has_base else ""
        return Said(YOUR_TURN, f"{name}: read it, {approve} approves{rest}.")

    def learning_asked(self, name: str, edited: bool, problem: SyntaxProblem | None = None) -> Said:
        """How to learn a sub-action waits for the person."""
        approve, edit = self.key("decide.approve"), self.key("decide.edit")
        if problem is not None:
            return Said(NOT_PASSED, f"Your edit cannot stand, {problem}. {edit} edits it there.")
        if edited:
            return Said(YOUR_TURN, f"How to learn {name}, with your edit: {approve} approves it.")
        reject = self.key("decide.reject")
        text = f"How to learn {name}: {approve} approves, {edit} edits, {reject} sends back."
        return Said(YOUR_TURN, text)

    def model_asked(self) -> Said:
        """The language model does not answer, and the person says what then."""
        again, rules, stop = map(self.key, ("decide.try_again", "decide.use_rules", "run.stop"))
        text = f"{again} tries again, {rules} goes on with the rules agents, {stop} stops."
        return Said(NO_ANSWER, text)

    def save_asked(self, count: int, kept: int) -> Said:
        """The save question waits for the person."""
        approve = self.key("decide.approve")
        if kept == 0:
            return Said(YOUR_TURN, f"Nothing is ticked: {approve} goes on without saving.")
        text = f"{approve} saves {kept} of {plural(count, 'skill')}"
        return Said(YOUR_TURN, f"{text}; {self.key('save.tick')} unticks.")

    def asked_elsewhere(self, subject: str) -> Said:
        """What is asked is not what is looked at."""
        return Said(YOUR_TURN, f"{subject} waits. {self.key('decide.approve')} brings it up.")

    def editing(self) -> Said:
        """The code is being edited in place."""
        keep, back, own = map(self.key, ("code.keep", "dialog.back", "code.editor"))
        text = f"{keep} keeps, {back} gives up, {own} goes to your editor; none approves."
        return Said(EDITING, text)

    def standing(self, model: RunModel, last_line: str) -> Said:
        """Nothing is asked: what the run is at, or how it ended."""
        run, resume = model.run, self.key("run.resume")
        if run is None:
            return Said(None, "Reading the run …")
        match run.seen_state.value:
            case "interrupted":
                text = "Its process is gone; all until the last checkpoint is kept."
                return Said(INTERRUPTED, f"{text} {resume} resumes it.")
            case "failed":
                return Said(FAILED, self._failure(model))
            case "paused":
                return Said(PAUSED, f"{self.key('run.continue')} lets the run go on.")
            case "stopped":
                return Said(STOPPED, f"What was learnt is kept. {resume} goes on with it.")
            case "finished":
                text = finished_words(model)
                return Said(FINISHED, f"{text} {self.key('run.new')} begins a new run.")
            case "created":
                return Said(None, f"Starting the run {run.id} …")
            case _:
                return Said(None, shorten(last_line, 300))

    def _failure(self, model: RunModel) -> str:
        failure, again = model.view.failure, f"{self.key('run.resume')} tries again."
        if model.is_hopeless:
            again = f"{self.key('run.new')} begins a new run."
        if failure is not None:
            return sentences(failure.message, failure.hint or again)
        detail = "" if model.run is None else model.run.detail
        return sentences(detail or "The run failed", again)


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
    return ", ".join(words) + "."


def _version(proposal: CodeProposal) -> str:
    return f"{proposal.sub_action} version {proposal.version}"
