"""How the studio says states, outcomes, numbers and times; no widget knows better, no import costs.

Glyphs never carry a meaning alone: each has its word beside it. The ASCII forms serve terminals
without UTF-8 and people who asked for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

Tone = Literal["plain", "good", "bad", "warn", "muted", "accent"]
"""What a piece of text is felt as; widgets map it to a theme colour."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A glyph, its ASCII form, the word that always stands beside it, and its tone."""

    glyph: str
    ascii: str
    word: str
    tone: Tone

    def mark(self, ascii_only: bool = False) -> str:
        """The glyph, or its ASCII form."""
        return self.ascii if ascii_only else self.glyph


STATES: Mapping[str, Sign] = {
    "created": Sign("○", "o", "starting", "muted"),
    "planning": Sign("●", "*", "planning", "accent"),
    "coding": Sign("●", "*", "coding", "accent"),
    "trials": Sign("●", "*", "trials", "accent"),
    "training": Sign("●", "*", "training", "accent"),
    "evaluating": Sign("●", "*", "evaluating", "accent"),
    "saving": Sign("●", "*", "saving", "accent"),
    "playing": Sign("●", "*", "playing", "accent"),
    "waiting": Sign("◆", "?", "waits for you", "warn"),
    "paused": Sign("‖", "=", "paused", "warn"),
    "finished": Sign("✔", "+", "finished", "good"),
    "stopped": Sign("■", "#", "stopped", "muted"),
    "failed": Sign("✗", "x", "failed", "bad"),
    "interrupted": Sign("!", "!", "interrupted", "bad"),
}
OUTCOMES: Mapping[str, Sign] = {
    "success": Sign("✔", "+", "success", "good"),
    "failed": Sign("✗", "x", "failed", "bad"),
    "error": Sign("✗", "x", "error", "bad"),
    "out_of_frames": Sign("◔", "~", "out of frames", "warn"),
    "stuck": Sign("↺", "~", "stuck", "warn"),
    "died": Sign("✗", "x", "died", "bad"),
    "interrupted": Sign("‖", "=", "interrupted", "warn"),
    "not_started": Sign("○", "o", "not started", "muted"),
}
KINDS: Mapping[str, str] = {"coded_action": "coded action", "policy": "policy"}
_SECONDS_A_DAY = 86_400


def state_sign(state: str) -> Sign:
    """Sign of a run state; an unknown one of a newer version is named as it is."""
    return STATES.get(state) or Sign("○", "o", state, "muted")


def outcome_sign(outcome: str) -> Sign:
    """Sign of a trial's outcome."""
    return OUTCOMES.get(outcome) or Sign("○", "o", outcome.replace("_", " "), "muted")


def compact(value: float) -> str:
    """A number in at most six cells: `950`, `12.3k`, `1.5M`, `0.62`, `3e-05`."""
    if not math.isfinite(value):
        return "-"
    size = abs(value)
    for limit, suffix in ((999.5e6, "G"), (999.5e3, "M"), (999.5, "k")):
        if size >= limit:
            scaled = value / (limit / 0.9995)
            return f"{scaled:.3g}{suffix}" if abs(scaled) < 999.5 else f"{scaled:.0f}{suffix}"
    if size >= 100 or value == int(value):
        return f"{value:.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 0.1:
        return f"{value:.2f}"
    return f"{value:.4f}".rstrip("0") if size >= 1e-3 else f"{value:.0e}"


def percent(share: float | None) -> str:
    """A share of 0..1 as percent: `62 %`; `-` where there is none."""
    if share is None or not math.isfinite(share):
        return "-"
    return f"{100 * share:.0f} %"


def plural(count: int, noun: str) -> str:
    """`1 frame`, `1,200 frames`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def duration(seconds: float | None) -> str:
    """Two units at most: `48 s`, `6 min 24 s`, `2 h 13 min`, `3 d 4 h`; `-` where unknown."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    whole = max(0, round(seconds))
    days, rest = divmod(whole, _SECONDS_A_DAY)
    hours, rest = divmod(rest, 3600)
    minutes, secs = divmod(rest, 60)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02} min"
    if minutes:
        return f"{minutes} min {secs:02} s"
    return f"{secs} s"


def moment(time: datetime, now: datetime | None = None) -> str:
    """Local time: `14:02:09` today, `3 May 14:02` this year, else the date."""
    local = time.astimezone()
    today = (now or datetime.now(UTC)).astimezone()
    if local.date() == today.date():
        return f"{local:%H:%M:%S}"
    if local.year == today.year:
        return f"{local.day} {local:%b %H:%M}"
    return f"{local:%Y-%m-%d}"


def ago(time: datetime, now: datetime | None = None) -> str:
    """How long since: `just now`, `6 min ago`, `3 h ago`, `yesterday`, `12 d ago`."""
    seconds = ((now or datetime.now(UTC)) - time).total_seconds()
    if seconds < 45:
        return "just now"
    if seconds < 3600:
        return f"{max(1, round(seconds / 60))} min ago"
    if seconds < _SECONDS_A_DAY:
        return f"{round(seconds / 3600)} h ago"
    days = int(seconds // _SECONDS_A_DAY)
    return "yesterday" if days == 1 else f"{days} d ago"


def shorten(text: str, width: int) -> str:
    """One line of at most `width` characters, cut with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    return line[: max(0, width - 1)].rstrip() + "…" if width > 0 else ""


def sentences(*texts: str) -> str:
    """Texts of any origin one after the other, each with a sentence end before the next."""
    lines = [text.strip() for text in texts if text.strip()]
    ended = [line if line[-1] in ".!?…:;" else f"{line}." for line in lines]
    return " ".join(ended)


def author_words(author: str) -> str:
    """Who wrote something: `the rules agents`, `the language model gpt-5-mini`, `... and you`."""
    base, *others = author.split("+")
    if base == "rules":
        words = "the rules agents"
    elif base.startswith("replay"):
        source = base.partition(":")[2].rpartition("/")[2]
        words = f"a replay of {source}" if source else "a replay"
    elif base.startswith("llm"):
        model = base.partition(":")[2]
        words = f"the language model {model}" if model else "a language model"
    elif base == "person":
        words = "a person"
    else:
        words = base or "unknown"
    return f"{words} and a person" if "person" in others else words


def agents_words(agents: str, model: str = "") -> str:
    """Which agents are at work: `rules agents`, `LLM gpt-5-mini`, `replay of run ...`."""
    kind, _, source = agents.partition(":")
    if kind == "replay":
        name = source.rpartition("/")[2]
        return f"replay of {name or 'a recording'}"
    if kind == "llm":
        return f"LLM {model}" if model else "LLM"
    return f"{kind} agents"


def fails_by_model(detail: str) -> bool:
    """True for a run that waits because its language model does not answer."""
    return detail.startswith("model:")


def approver_words(by: str) -> str:
    """Who decided: a person by name, or whoever said that all is to be approved."""
    who, _, what = by.partition(":")
    return f"{who} (approve all)" if what == "all" else by


def policy_words(name: str) -> str:
    """What a policy is called: `trained`, `untrained`, `code only`."""
    return name.replace("_", " ")


FAST_MODE = (
    "approved code runs inside the training process, which is faster: what keeps it in there is a "
    "small language, a bound on every step and limits of that process, not the sandbox's wall; the "
    "sandbox (Monty) still checks all code and runs what does not fit"
)
"""What a person allows with fast mode; everywhere in these words."""
