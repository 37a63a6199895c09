"""The iterations of a run side by side: what each plan was, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from studio import keymap
from studio.screens.base import StudioScreen
from studio.widgets.iteration_columns import columns, fitting
from studio.widgets.key_bar import KeyBar
from studio.widgets.paint import spread, toned
from studio.widgets.reader import Reader
from studio.widgets.too_small import TooSmall
from studio.words import plural

if TYPE_CHECKING:
    from studio.app import StudioApp
    from studio.screens.workspace import WorkspaceScreen

_NONE_YET = "No plan yet: the first iteration begins with one."


class IterationPage(Reader):
    """The columns. Its own scrolling sideways gives way to the keys of the screen."""

    BINDINGS = keymap.bindings("iterations")


class IterationsScreen(StudioScreen[None]):
    """Two columns at 80, three from 110 cells on; arrows move along the iterations."""

    app: StudioApp
    BINDINGS = keymap.bindings("dialog", only=frozenset({"dialog.back"}))

    def __init__(self, workspace: WorkspaceScreen) -> None:
        super().__init__()
        self._model = workspace.model
        self._first: int | None = None
        """Index of the leftmost one; None for the newest ones."""
        self._only_changes = False
        self._drawn = -1

    def compose(self) -> ComposeResult:
        """Title and page."""
        yield TooSmall()
        yield Static(markup=False, id="iterations-title", classes="screen-title")
        yield IterationPage(id="iterations-page")
        yield KeyBar()

    def on_mount(self) -> None:
        """The newest ones first; news of the run are drawn as they come."""
        self.query_one(Reader).focus()
        self.call_after_refresh(self._draw)
        self.set_interval(1.0, self._draw_news)

    def on_resize(self) -> None:
        """More or fewer fit now."""
        self.call_after_refresh(self._draw)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what there is more of can be gone to."""
        if action == "earlier":
            return self._here > 0
        if action == "later":
            return self._here < self._last
        if action == "differences":
            return len(self._model.view.iterations.all) > 1
        return True

    def action_earlier(self) -> None:
        """One iteration to the left."""
        self._go(self._here - 1)

    def action_later(self) -> None:
        """One iteration to the right."""
        self._go(self._here + 1)

    def action_differences(self) -> None:
        """Only what changed, or all."""
        self._only_changes = not self._only_changes
        self._draw()

    def action_back(self) -> None:
        """Back to the run."""
        self.dismiss()

    @property
    def _width(self) -> int:
        return max(20, self.query_one(Reader).scrollable_content_region.width)

    @property
    def _last(self) -> int:
        """The largest index the leftmost one may have."""
        return max(0, len(self._model.view.iterations.all) - fitting(self._width))

    @property
    def _here(self) -> int:
        return self._last if self._first is None else min(self._first, self._last)

    def _go(self, first: int) -> None:
        self._first = None if first >= self._last else max(0, first)
        self._draw()

    def _draw_news(self) -> None:
        if self._model.view.iterations.changes != self._drawn:
            self._draw()

    def _draw(self) -> None:
        iterations = self._model.view.iterations
        count, here = len(iterations.all), self._here
        self._drawn = iterations.changes
        title = Content.assemble(
            ("Iterations", "bold $text-accent"), f"  {plural(count, 'plan')} of this run"
        )
        numbers = [one.number for one in iterations.all[here : here + fitting(self._width)]]
        told = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else ""
        right = f"{told}, changes only" if self._only_changes else told
        self.query_one("#iterations-title", Static).update(
            spread(title, toned(right, "muted"), max(20, self.size.width - 2))
        )
        page = self.query_one(Reader)
        if not count:
            page.show_text(Content(_NONE_YET))
        else:
            text = columns(iterations, here, self._width, only_changes=self._only_changes)
            page.show_text(text, keep_place=True)
        self.refresh_bindings()
