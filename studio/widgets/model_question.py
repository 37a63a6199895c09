"""The question of a run whose language model fails: what happened, and what one can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from textual.content import Content
from textual.widgets import Static

from studio.event_words import role_words
from studio.widgets.charset import ascii_only
from studio.widgets.paint import MUTED, toned

_CHOICES = (
    ("decide.try_again", "try again", "asks the model once more; nothing is lost by it"),
    ("decide.use_rules", "go on with the rules agents", "no model; what was made so far stays"),
    ("run.stop", "stop the run", "it can be resumed, also with another server or model"),
)


class ModelQuestion(Static, can_focus=True):
    """There only while it is asked.

    Args:
        key: what to press, by the id in the registry of keys.
    """

    def __init__(self, key: Callable[[str], str], *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self._key = key

    def ask(self, payload: Mapping[str, Any] | None) -> None:
        """Show what failed; None when nothing is asked any more."""
        self.display = payload is not None
        if payload is not None:
            self.update(self._text(payload))

    def _text(self, payload: Mapping[str, Any]) -> Content:
        mark = "x " if ascii_only(self) else "✗ "
        asked = [str(payload[name]) for name in ("model", "base_url") if payload.get(name)]
        lines = [
            toned(f"{mark}The language model does not answer", "bad", bold=True),
            toned(f"the {role_words(str(payload.get('role', '')))} asked {' at '.join(asked)}",
                  "muted"),
            Content(str(payload.get("message", ""))),
        ]  # fmt: skip
        if payload.get("hint"):
            lines.append(Content.assemble(("Next  ", "$text-accent"), str(payload["hint"])))
        lines.append(Content())
        lines += [
            Content.assemble(
                (f" {self._key(name)} ", "bold $text-accent"), (words, "bold"), (f"  {help}", MUTED)
            )
            for name, words, help in _CHOICES
        ]
        return Content("\n").join(lines)
