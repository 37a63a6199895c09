"""What came out: the evaluation beside its baseline, what may be saved, what was saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from studio.widgets.charset import ascii_only
from studio.widgets.evaluation_panel import EvaluationPanel
from studio.widgets.paint import MUTED, painted
from studio.widgets.save_question import SaveQuestion
from studio.words import plural, state_sign

if TYPE_CHECKING:
    from engine.events import SkillSaved

_EMPTY = "Results appear here after the training: the policy beside the untrained one."

_MOST_NAMES = 8
"""Names of saved skills that are told; the library has them all."""
_EVALUATING = "the trained policy and the untrained one play on held-out seeds"


class ResultsPane(VerticalScroll, can_focus=False):
    """Save question on top while it is asked, evaluation, saved skills."""

    def compose(self) -> ComposeResult:
        """Three parts, each shown once there is something in it."""
        yield Static(Content.styled(_EMPTY, MUTED), id="results-empty")
        yield SaveQuestion(id="save-question")
        yield Static(markup=False, id="saved")
        yield EvaluationPanel()

    def on_mount(self) -> None:
        """Nothing is known yet."""
        for part in ("#save-question", "#saved", EvaluationPanel):
            self.query_one(part).display = False

    def ask(self, skills: Sequence[Mapping[str, Any]]) -> None:
        """Show what may be saved."""
        question = self.query_one(SaveQuestion)
        question.ask(skills)
        question.display = True
        self._not_empty()

    def end_question(self) -> None:
        """It is decided."""
        self.query_one(SaveQuestion).display = False

    def reopen_question(self) -> None:
        """The decision was not written: ask again, with the person's ticks."""
        self.query_one(SaveQuestion).display = True

    @property
    def kept(self) -> tuple[str, ...]:
        """Names the person wants saved."""
        return self.query_one(SaveQuestion).kept

    def show_state(self, state: str, detail: str) -> None:
        """Say what the run is doing about its results, as long as there are none."""
        text = Content.styled(_EMPTY, MUTED)
        if state == "evaluating":
            text = Content.assemble(
                painted(state_sign(state), ascii_only=ascii_only(self)),
                f"  {detail or _EVALUATING}",
            )
        self.query_one("#results-empty", Static).update(text)

    def show_evaluation(self, evaluation: Mapping[str, Any], author: str) -> None:
        """Show the figures, and who wrote the plan and the code behind them."""
        panel = self.query_one(EvaluationPanel)
        panel.show(evaluation, author)
        panel.display = True
        self._not_empty()

    def show_saved(self, saved: Sequence[SkillSaved]) -> None:
        """Show what is in the library now."""
        policies = [event for event in saved if event.skill_kind == "policy"]
        coded = [event for event in saved if event.skill_kind != "policy"]
        words = "policy" if len(policies) == 1 else "policies"
        lines = [
            _saved_line(f"{len(policies)} {words}", policies),
            _saved_line(plural(len(coded), "coded action"), coded),
        ]
        text = self.query_one("#saved", Static)
        text.update(Content("\n").join(line for line in lines if line))
        text.display = bool(saved)
        self._not_empty()

    def _not_empty(self) -> None:
        self.query_one("#results-empty").display = False


def _saved_line(count: str, saved: Sequence[SkillSaved]) -> Content:
    names = ", ".join(f"{event.name} v{event.version}" for event in saved[:_MOST_NAMES])
    if len(saved) > _MOST_NAMES:
        names += f" and {len(saved) - _MOST_NAMES} more"
    if not names:
        return Content()
    return Content.assemble((f"✔ {count} saved", "$text-success"), (f"  {names}", MUTED))
