"""From the workspace to the other screens of its run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import work

from studio.run_agents import asks_a_model
from studio.screens.run_screen import RunScreen
from studio.screens.start import StartScreen

if TYPE_CHECKING:
    from studio.screens.workspace import WorkspaceScreen


class Ways(RunScreen):
    """Each opens on what the workspace knows of the run."""

    @work(group="new")
    async def action_new_run(self) -> None:
        """To the task line; the run goes on."""
        if await self.app.to_start() and isinstance(self.app.screen, StartScreen):
            self.app.screen.begin_anew()

    def action_review(self) -> None:
        """All code of the run, on a screen of its own."""
        from studio.screens.review import ReviewScreen

        self.app.push_screen(ReviewScreen(cast("WorkspaceScreen", self)))

    def action_iterations(self) -> None:
        """The plans of the run side by side."""
        from studio.screens.iterations import IterationsScreen

        self.app.push_screen(IterationsScreen(cast("WorkspaceScreen", self)))

    def action_calls(self) -> None:
        """What the language model was asked and what it answered."""
        from studio.screens.calls import CallsScreen

        self.app.push_screen(CallsScreen(self.app.data, self.model.run_id))

    def ways(self) -> dict[str, bool]:
        """Which of them there is something to see on."""
        run, view = self.model.run, self.model.view
        by_model = run is not None and asks_a_model(run)
        return {
            "iterations": bool(view.iterations.all) and not self.is_editing,
            "calls": (by_model or view.used is not None) and not self.is_editing,
        }
