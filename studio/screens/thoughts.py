"""Watching a language model write: read only while it would be on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from studio.messages import CompletionArrived
from studio.run_agents import run_agents
from studio.screens.run_screen import RunScreen
from studio.screens.steering import is_pausable
from studio.widgets.thinking import Thinking

if TYPE_CHECKING:
    from skills_db.records import CompletionRecord


class Thoughts(RunScreen):
    """What is written stands above the panes while it is written, and folds away after."""

    completion: CompletionRecord | None = None

    def on_screen_resume(self) -> None:
        """Now it would be seen."""
        self.app.bridge.wants_text = True

    def on_screen_suspend(self) -> None:
        """Another screen is in front."""
        self.app.bridge.wants_text = False

    @on(CompletionArrived)
    def _wrote(self, message: CompletionArrived) -> None:
        self.completion = message.completion
        self.draw_thoughts()

    def draw_thoughts(self) -> None:
        """Show what is written, as long as somebody can be writing it."""
        run = self.model.run
        busy = run is not None and is_pausable(run) and self.model.approval is None
        who = "" if run is None else run_agents(run)
        self.query_one(Thinking).show(self.completion if busy else None, who)
