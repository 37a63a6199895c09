"""Which skills should be saved: everything ticked, the person may untick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import SelectionList, Static
from textual.widgets.selection_list import Selection

from studio import keymap
from studio.widgets.paint import MUTED
from studio.words import KINDS, percent


class SkillChoices(SelectionList[str]):
    """The candidates; space ticks and unticks."""

    BINDINGS = keymap.bindings("list")


class SaveQuestion(Vertical):
    """The candidates of a *save* approval."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """Title and list."""
        yield Static("Save as skills   space ticks and unticks", classes="section", markup=False)
        yield SkillChoices()

    def ask(self, skills: Sequence[Mapping[str, Any]]) -> None:
        """Show candidates, all ticked."""
        listed = self.query_one(SkillChoices)
        listed.clear_options()
        self._names = tuple(str(skill.get("name", "")) for skill in skills)
        width = max((len(str(skill.get("name", ""))) for skill in skills), default=0)
        listed.add_options(
            [Selection(_line(skill, width), str(skill.get("name", "")), True) for skill in skills]
        )
        if skills:
            listed.highlighted = 0

    @property
    def kept(self) -> tuple[str, ...]:
        """Names still ticked, in the order they were listed."""
        ticked = set(self.query_one(SkillChoices).selected)
        return tuple(name for name in self._names if name in ticked)


def _line(skill: Mapping[str, Any], width: int) -> Content:
    kind = str(skill.get("kind", ""))
    rate = skill.get("success_rate")
    share = percent(rate) if isinstance(rate, int | float) else "-"
    return Content.assemble(
        (f"{skill.get('name', '')!s:<{width}}", "bold"),
        (f"  {KINDS.get(kind, kind):<12}", MUTED),
        f"  {share:>5}  ",
        (str(skill.get("description", "")), MUTED),
    )
