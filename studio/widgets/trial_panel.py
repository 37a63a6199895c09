"""Trials of approved code: the world at the left, outcomes and verdicts at the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Resize

from studio.event_words import caption_words, gained_words
from studio.widgets.charset import ascii_only
from studio.widgets.follow_lines import Entry, FollowLines
from studio.widgets.frame_view import FrameView
from studio.widgets.paint import STYLES, toned
from studio.words import Sign, author_words, outcome_sign, percent, plural

if TYPE_CHECKING:
    from engine.agents.plan import Critique, Trial
    from engine.events import CritiqueGiven, TrialFinished
    from skills_db.records import FrameRecord

_WORKS = Sign("✔", "+", "works", "good")
_FAILS = Sign("✗", "x", "does not work yet", "bad")
_FEWEST_ACTION_WORDS = 44
_TIMES = "\u00d7"
_SIDE_BY_SIDE = 64
"""Below this width the picture goes above the list."""


class TrialPanel(Container):
    """Trials grouped by sub-action and version, the newest in view unless scrolled up."""

    DEFAULT_CSS = """
    TrialPanel {
        layout: horizontal;
        height: 1fr;
        min-height: 6;
        & > FrameView { width: 2fr; max-width: 66; margin: 0 2 0 0; content-align: center top; }
        & > FollowLines { width: 3fr; }
        &.-stacked {
            layout: vertical;
            & > FrameView { width: 1fr; max-width: 100%; height: 2fr; margin: 0; }
            & > FollowLines { width: 1fr; height: 3fr; }
        }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._frame_view = FrameView(empty="no trial yet")
        self._lines = FollowLines(max_entries=1000)
        self._group: tuple[str, int] | None = None
        self._note = ""

    def compose(self) -> ComposeResult:
        """The picture, then the list."""
        yield self._frame_view
        yield self._lines

    @property
    def lines(self) -> FollowLines:
        """The list of trials and verdicts."""
        return self._lines

    @property
    def frame_view(self) -> FrameView:
        """The picture."""
        return self._frame_view

    def frame(self, frame: FrameRecord) -> None:
        """Show the newest picture of the world; what goes on before the first trial is over."""
        words = caption_words(frame.caption)
        self._frame_view.show(replace(frame, caption=words))
        if self._group is None:
            self._tell(f"no trial is over yet; {words}" if words else "no trial is over yet")

    def trial(self, event: TrialFinished) -> None:
        """Append a trial to its group."""
        trial = event.trial
        entries = self._heading(trial.sub_action, trial.version)
        self._add([*entries, self._trial(trial)])

    def critique(self, event: CritiqueGiven) -> None:
        """Append the critic's verdict under its group."""
        critique = event.critique
        entries = self._heading(critique.sub_action, critique.version)
        self._add([*entries, self._critique(critique)])

    def clear(self) -> None:
        """Forget everything."""
        self._group = None
        self._note = ""
        self._lines.clear()
        self._frame_view.clear()

    def on_resize(self, event: Resize) -> None:
        """A narrow place stacks the picture above the list."""
        self.set_class(event.size.width < _SIDE_BY_SIDE, "-stacked")

    def _add(self, entries: list[Entry]) -> None:
        self._lines.append(entries, replace_last=bool(self._note))
        self._note = ""

    def _tell(self, note: str) -> None:
        """A line that stands where the first trial will be."""
        if note != self._note:
            entry = Entry(Content(), toned(note, "muted"))
            self._lines.append([entry], replace_last=bool(self._note))
            self._note = note

    def _heading(self, sub_action: str, version: int) -> list[Entry]:
        if self._group == (sub_action, version):
            return []
        blank = [] if self._group is None else [Entry(Content(), Content(" "))]
        self._group = (sub_action, version)
        title = Content.assemble((sub_action, "bold"), "  ", toned(f"version {version}", "muted"))
        return [*blank, Entry(Content(), title)]

    def _trial(self, trial: Trial) -> Entry:
        sign = outcome_sign(trial.outcome if trial.started else "not_started")
        # Fixed columns, so that seeds and frames can be compared down the list.
        head = Content.assemble(
            (f"{sign.word:<14}", STYLES[sign.tone]),
            toned("seed ", "muted"),
            f"{trial.seed:<7}",
            f"{trial.frames:>5}",
            toned(" frames" if trial.frames != 1 else " frame ", "muted"),
        )
        lines = [head]
        gained = gained_words(trial.gained)
        said = [part for part in (gained, trial.detail) if part]
        if said:
            lines.append(Content("; ".join(said)))
        if trial.actions:
            width = max(_FEWEST_ACTION_WORDS, self._lines.size.width - 4)
            lines.append(toned(action_words(trial.actions, width), "muted"))
        return Entry(self._lead(sign), Content("\n").join(lines))

    def _critique(self, critique: Critique) -> Entry:
        sign = _WORKS if critique.works else _FAILS
        rate = f", {percent(critique.success_rate)} of {plural(critique.trials, 'trial')}"
        lines = [Content.assemble((sign.word, f"bold {STYLES[sign.tone]}"), rate)]
        if critique.text:
            lines.append(Content(critique.text))
        if critique.typical_failure and not critique.works:
            lines.append(_labelled("typical failure", critique.typical_failure))
        if critique.suggestion:
            lines.append(_labelled("next", critique.suggestion))
        lines.append(toned(f"critic: {author_words(critique.author)}", "muted"))
        return Entry(self._lead(sign), Content("\n").join(lines))

    def _lead(self, sign: Sign) -> Content:
        mark = sign.mark(ascii_only(self)) if self.is_attached else sign.glyph
        return toned(f"{mark} ", sign.tone)


def _labelled(label: str, text: str) -> Content:
    return Content.assemble(toned(f"{label}: ", "muted"), text)


def action_words(actions: Sequence[tuple[str, int]], width: int) -> str:
    """Run-length coded actions in about `width` characters: how it began and how it ended.

    `move_left` is written `left`; what is left out in the middle is counted in env frames.
    """
    words = [
        name.removeprefix("move_") + (f"\u00d7{count}" if count > 1 else "")
        for name, count in actions
    ]
    if sum(map(len, words)) + len(words) - 1 <= width:
        return " ".join(words)
    budget = width - len("… 1,000 more …") - 2
    head, tail, used = 0, 0, 0
    while head + tail < len(words):
        from_front = head <= tail
        word = words[head] if from_front else words[-1 - tail]
        used += len(word) + 1
        if used > budget and head + tail >= 2:
            break
        head, tail = (head + 1, tail) if from_front else (head, tail + 1)
    left_out = sum(count for _, count in actions[head : len(actions) - tail])
    middle = [f"… {left_out:,} more …"] if left_out else []
    return " ".join([*words[:head], *middle, *(words[-tail:] if tail else [])])
