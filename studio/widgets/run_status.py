"""One line that says where a run stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from studio.widgets.charset import ascii_only
from studio.widgets.paint import STYLES, spread, toned
from studio.words import author_words, compact, duration, state_sign

if TYPE_CHECKING:
    from skills_db.records import RunRecord

_TICK = 1.0


def _utc_now() -> datetime:
    return datetime.now(UTC)


class RunStatus(Widget):
    """State, task, world, agents, frames, elapsed, tokens and cost; the less important goes first.

    `now` is the clock, so that a test can stop it.
    """

    DEFAULT_CSS = """
    RunStatus { height: 1; width: 1fr; }
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime] = _utc_now,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._now = now
        self._run: RunRecord | None = None

    def on_mount(self) -> None:
        """The elapsed time goes on while the run does."""
        self.set_interval(_TICK, self._tick)

    def show(self, run: RunRecord | None) -> None:
        """Show a run, or that there is none."""
        self._run = run
        self.refresh()

    def _tick(self) -> None:
        if self._run is not None and not self._run.seen_state.is_final:
            self.refresh()

    def render(self) -> RenderResult:
        """The line, laid out for the width there is."""
        run = self._run
        if run is None:
            return toned("no run", "muted")
        width = max(1, self.size.width)
        sign = state_sign(run.seen_state)
        state = Content.styled(
            f"{sign.mark(ascii_only(self))} {sign.word}", f"bold {STYLES[sign.tone]}".strip()
        )
        left = Content.assemble(state, "  ", run.task)
        right = self._right(run, width - left.cell_length)
        return spread(left, right, width)

    def _right(self, run: RunRecord, room: int) -> Content:
        """As many facts as fit, in a fixed order; who is at work is said in any width."""
        frames = Content.assemble(compact(run.frames), toned(" frames", "muted"))
        lasted = Content(duration((self._end(run) - run.created_at).total_seconds()))
        spent = _spent(run.result)
        agents = toned(run_agents(run), "muted")
        short = toned("llm" if run.agents == "llm" else run.agents, "muted")
        everything = [toned(f"{run.world}, ", "muted") + agents, frames, lasted]
        choices = [
            [*everything, toned(spent, "muted")] if spent else everything,
            everything,
            [agents, frames, lasted],
            [short, frames, lasted],
            [short, lasted],
        ]
        for facts in choices:
            if sum(fact.cell_length + 3 for fact in facts) - 1 <= room:
                return Content("   ").join(facts)
        return short

    def _end(self, run: RunRecord) -> datetime:
        return run.updated_at if run.seen_state.is_final else self._now()


def run_agents(run: RunRecord) -> str:
    """Who plans and codes: `rules agents`, or the language model by name."""
    if run.agents != "llm":
        return author_words(run.agents).removeprefix("the ")
    llm = run.config.get("llm")
    model = llm.get("model") if isinstance(llm, Mapping) else None
    return f"LLM {model}" if model else "LLM"


def _spent(result: Mapping[str, Any] | None) -> str:
    """Tokens and money, once the run has reported them."""
    tokens = (result or {}).get("tokens")
    cost = (result or {}).get("cost_usd")
    if not isinstance(tokens, int) or not tokens:
        return ""
    money = f", ${cost:.2f}" if isinstance(cost, int | float) and cost else ""
    return f"{compact(tokens)} tokens{money}"
