"""One line that says where a run stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from studio.run_agents import agents_of, run_agents
from studio.widgets.charset import ascii_only
from studio.widgets.paint import STYLES, spread, toned
from studio.words import compact, duration, state_sign

if TYPE_CHECKING:
    from engine.events import TokensUsed
    from skills_db.records import RunRecord

WARN_AT = 0.8
"""From this share of a budget on, what is spent is always on the screen."""
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
        self._used: TokensUsed | None = None

    def on_mount(self) -> None:
        """The elapsed time goes on while the run does."""
        self.set_interval(_TICK, self._tick)

    def show(self, run: RunRecord | None) -> None:
        """Show a run, or that there is none."""
        self._run = run
        self.refresh()

    def show_used(self, used: TokensUsed | None) -> None:
        """What the language model has cost so far, while the run still goes on."""
        self._used = used
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
        spent, brief = self._spent(run)
        agents = toned(run_agents(run), "muted")
        short = toned(agents_of(run).partition(":")[0], "muted")
        everything = [toned(f"{run.world}, ", "muted") + agents, frames, lasted]
        choices = [
            [*everything, spent] if spent.plain else everything,
            [agents, spent, lasted] if brief else everything,
            [short, spent] if brief else everything,
            everything,
            [agents, frames, lasted],
            [short, frames, lasted],
            [short, lasted],
        ]
        for facts in choices:
            if sum(fact.cell_length + 3 for fact in facts) - 1 <= room:
                return Content("   ").join(facts)
        return short

    def _spent(self, run: RunRecord) -> tuple[Content, bool]:
        """Tokens and money; true when they are too near to the limit to be left out."""
        used = self._used
        if used is None or not used.tokens:
            return toned(_spent(run.result), "muted"), False
        share = share_used(used)
        if share < WARN_AT:
            return toned(_used_words(used), "muted"), False
        return toned(f"! {_used_words(used)}", "warn" if share < 1 else "bad"), True

    def _end(self, run: RunRecord) -> datetime:
        return run.updated_at if run.seen_state.is_final else self._now()


def _used_words(used: TokensUsed) -> str:
    """Against the limits where there are any: `412k of 500k tokens, $0.61 of $5.00`."""
    tokens = compact(used.tokens)
    if used.max_tokens:
        tokens += f" of {compact(used.max_tokens)}"
    words = f"{tokens} tokens"
    if used.max_cost_usd is not None:
        return f"{words}, ${used.cost_usd:.2f} of ${used.max_cost_usd:.2f}"
    return f"{words}, ${used.cost_usd:.2f}" if used.cost_usd else words


def share_used(used: TokensUsed) -> float:
    """The larger share of the two budgets that is spent; 0 where there is no limit."""
    tokens = used.tokens / used.max_tokens if used.max_tokens else 0.0
    return max(tokens, used.cost_usd / used.max_cost_usd if used.max_cost_usd else 0.0)


def _spent(result: Mapping[str, Any] | None) -> str:
    """Tokens and money, once the run has reported them."""
    tokens = (result or {}).get("tokens")
    cost = (result or {}).get("cost_usd")
    if not isinstance(tokens, int) or not tokens:
        return ""
    money = f", ${cost:.2f}" if isinstance(cost, int | float) and cost else ""
    return f"{compact(tokens)} tokens{money}"
