"""What a language model is writing at this moment, as it writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from studio.event_words import role_words
from studio.widgets.charset import ascii_only
from studio.widgets.paint import FAINT, spread, toned
from studio.widgets.reader import Reader
from studio.words import Sign, duration, plural
from studio.written import readable

if TYPE_CHECKING:
    from skills_db.records import CompletionRecord
    from studio.written import Part

WRITING = Sign("●", "*", "writes", "accent")
MOST_CHARACTERS = 40_000
"""Of a longer text only the end is drawn: a model that never stops must not stop the studio."""
SILENT_SECONDS = 120.0
"""A text that does not grow for so long was left by a process that died; new words show it."""
_TICK = 1.0
_LABEL = 13


class WrittenText(Reader):
    """The text so far; it follows its end until the person scrolls up."""

    def show_written(self, text: str) -> None:
        """Replace the text by a longer one."""
        follows = self.scroll_offset.y >= self.max_scroll_y - 1
        place = self.scroll_offset.y
        self.show_drawn(lambda width: drawn(text, width))
        if follows:
            self.call_after_refresh(self.scroll_end, animate=False)
        else:
            self.call_after_refresh(self.scroll_to, y=place, animate=False)


class Thinking(Vertical):
    """Who writes about what, with which model, for how long; below it the text.

    Args:
        clock: seconds, so that a test can stop them.
    """

    def __init__(self, clock: Callable[[], float], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._shown: CompletionRecord | None = None
        self._since = self._grew = 0.0
        self._model = ""

    def compose(self) -> ComposeResult:
        """One line, and the text."""
        yield Static(markup=False, classes="thinking-head")
        yield WrittenText()

    def on_mount(self) -> None:
        """The seconds go on also while nothing comes."""
        self.set_interval(_TICK, self._tick)

    def show(self, completion: CompletionRecord | None, model: str) -> None:
        """Show what is written; None or a finished text folds the view away."""
        before, self._shown, self._model = self._shown, completion, model
        if completion is None or completion.finished:
            self.display = False
            return
        if before is None or before.finished or _about(before) != _about(completion):
            self._since = self._clock()
            self.query_one(WrittenText).scroll_home(animate=False)
        if before is None or before.seq != completion.seq:
            self._grew = self._clock()
            self.query_one(WrittenText).show_written(completion.text)
        self._tick()

    def _tick(self) -> None:
        shown = self._shown
        silent = self._clock() - self._grew > SILENT_SECONDS
        self.display = shown is not None and not shown.finished and not silent
        self._draw_head()

    def on_resize(self) -> None:
        """The line is laid out by hand for the width."""
        self._draw_head()

    def _draw_head(self) -> None:
        shown = self._shown
        if shown is None or not self.display:
            return
        mark = toned(f"{WRITING.mark(ascii_only(self))} ", WRITING.tone)
        who = Content.assemble(
            mark, (f"{role_words(shown.role)} {WRITING.word}", "bold"), f"  {shown.subject}"
        )
        facts = [self._model] if self._model else []
        facts += [
            duration(self._clock() - self._since),
            plural(len(shown.text), "character"),
        ]
        head = self.query_one(".thinking-head", Static)
        head.update(
            spread(who, toned("   ".join(facts), "muted"), max(20, head.content_size.width))
        )


def _about(completion: CompletionRecord) -> tuple[str, str]:
    return completion.role, completion.subject


def drawn(text: str, width: int) -> Content:
    """The readable part of a reply so far: code in colours, values beside their names."""
    rows: list[Content] = []
    for part in readable(text[-MOST_CHARACTERS:]):
        if part.begins and rows:
            rows.append(Content())
        rows.extend(_rows(part, width))
    return Content("\n").join(rows) if rows else toned("Nothing yet.", "muted")


def _rows(part: Part, width: int) -> list[Content]:
    if part.kind == "code":
        from studio.widgets.code_view import numbered  # Pygments waits until there is code

        return [numbered(part.text, width=width)]
    if part.kind == "text":
        return [*Content(part.text).wrap(max(12, width))]
    value = Content(" ".join(part.text.split()))
    name = part.name.replace("_", " ")
    style = "bold" if part.begins else ""
    lines = value.wrap(max(12, width - _LABEL)) or [Content()]
    return [
        Content.assemble((f"{name if n == 0 else '':<{_LABEL}}", FAINT), line.stylize(style))
        for n, line in enumerate(lines)
    ]
