"""Which skills should be saved: everything ticked, the person may untick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from studio import keymap
from studio.widgets.paint import MUTED
from studio.widgets.pick_list import PickList
from studio.words import KINDS, percent


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill that may be saved."""

    name: str
    kind: str
    success: str
    description: str


class SkillChoices(PickList):
    """The candidates; space ticks and unticks, and so does a click."""

    BINDINGS = keymap.bindings("save")

    def action_tick(self) -> None:
        """As a click does."""
        self.action_select()


class SaveQuestion(Vertical):
    """The candidates of a *save* approval."""

    class Ticked(Message):
        """The person ticked or unticked one."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._candidates: tuple[Candidate, ...] = ()
        self._unticked: frozenset[str] = frozenset()

    def compose(self) -> ComposeResult:
        """Title and list."""
        yield Static("Save as skills", classes="section", markup=False)
        yield SkillChoices()

    def ask(self, skills: Sequence[Mapping[str, Any]]) -> None:
        """Show candidates, all ticked."""
        self._candidates = tuple(_candidate(skill) for skill in skills)
        self._unticked = frozenset()
        self._draw()

    @property
    def kept(self) -> tuple[str, ...]:
        """Names still ticked, in the order they were listed."""
        names = (candidate.name for candidate in self._candidates)
        return tuple(name for name in names if name not in self._unticked)

    def on_option_list_option_selected(self, event: SkillChoices.OptionSelected) -> None:
        """Tick or untick."""
        event.stop()
        if event.option_id is not None:
            self._unticked ^= {event.option_id}
            self._draw()
            self.post_message(self.Ticked())

    def _draw(self) -> None:
        listed = self.query_one(SkillChoices)
        listed.show_rows(self._candidates, lambda candidate: candidate.name, self._row)

    def _row(self, candidate: Candidate, width: int) -> Content:
        longest = max(len(other.name) for other in self._candidates)
        ticked = candidate.name not in self._unticked
        left = Content.assemble(
            ("[x] " if ticked else "[ ] ", "$text-accent" if ticked else MUTED),
            (f"{candidate.name:<{longest}}", "bold" if ticked else MUTED),
            (f"  {candidate.kind:<12}", MUTED),
            f"  {candidate.success:>5}  ",
            (candidate.description, MUTED),
        )
        return left.truncate(width, ellipsis=True)


def _candidate(skill: Mapping[str, Any]) -> Candidate:
    kind, rate = str(skill.get("kind", "")), skill.get("success_rate")
    return Candidate(
        name=str(skill.get("name", "")),
        kind=KINDS.get(kind, kind),
        success=percent(rate) if isinstance(rate, int | float) else "-",
        description=" ".join(str(skill.get("description", "")).split()),
    )
