"""The trained policy beside the untrained one, on held-out seeds: figures, and rates with bars."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from textual.content import Content

from studio import keymap
from studio.widgets.charset import ascii_only
from studio.widgets.paint import STYLES, toned
from studio.widgets.reader import Reader
from studio.words import Tone, author_words, percent, plural

_EMPTY = "No evaluation yet. It follows the training, on seeds the training never saw."
_NUMBER, _OTHER, _GAIN = 8, 11, 12
"""Widths of the columns."""
_SECTIONS = (("achievements", "success"), ("subtasks and sub-actions", "goals"))
_LONGEST_BAR = 40
_SHORTEST_BAR = 6


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something was reached: by the policy, and by the untrained one if it was asked."""

    name: str
    trained: float
    untrained: float | None

    @property
    def gain(self) -> float:
        """Difference of the two rates; the rate itself where there is no baseline."""
        return self.trained - (self.untrained or 0.0)


class EvaluationPanel(Reader):
    """Shows one evaluation; `o` changes between largest difference first and the world's order."""

    BINDINGS = keymap.bindings("results")
    DEFAULT_CSS = """
    EvaluationPanel { height: 1fr; min-height: 6; scrollbar-size-vertical: 1; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._evaluation: Mapping[str, Any] | None = None
        self._agents = ""
        self._by_gain = True

    def on_mount(self) -> None:
        """Nothing is evaluated yet."""
        self._write()

    def show(self, evaluation: Mapping[str, Any], agents: str = "") -> None:
        """Show an evaluation.

        Args:
            evaluation: JSON of `engine.rl.evaluate.Evaluation`, with the untrained policy's under
                `baseline`.
            agents: Who wrote the plan and the code (`rules`, `llm:<model>`), when known.
        """
        self._evaluation = evaluation
        self._agents = agents or str(evaluation.get("agents", ""))
        self._write()

    def clear(self) -> None:
        """Forget the evaluation."""
        self._evaluation = None
        self._write()

    def action_sort(self) -> None:
        """Sort the other way."""
        self._by_gain = not self._by_gain
        self._write()

    def _write(self) -> None:
        evaluation = self._evaluation
        if evaluation is None:
            self.show_text(toned(_EMPTY, "muted"))
            return
        self.show_drawn(lambda width: Content("\n").join(self._lines(evaluation, max(30, width))))

    def _lines(self, evaluation: Mapping[str, Any], width: int) -> list[Content]:
        baseline = evaluation.get("baseline")
        other = baseline if isinstance(baseline, Mapping) else None
        sections = [
            (title, rates)
            for title, field in _SECTIONS
            if (rates := _rates(evaluation, other, field))
        ]
        longest = max((len(rate.name) for _, rates in sections for rate in rates), default=0)
        label = min(max(longest, len("frames per episode")) + 1, max(12, width // 3))
        lines = [*_heading(evaluation, self._agents), Content()]
        lines += _figures(evaluation, other, label)
        order = "largest difference first" if self._by_gain else "in the world's order"
        for title, rates in sections:
            if self._by_gain:
                rates.sort(key=lambda rate: (-rate.gain, -rate.trained))
            head = Content.assemble((title, "bold"), toned(f"  {order}", "muted"))
            lines += [Content(), head, *(self._rate(rate, label, width) for rate in rates)]
        return lines

    def _rate(self, rate: Rate, label: int, width: int) -> Content:
        row = _padded(rate.name, label) + _numbers(percent(rate.trained), rate, points=True)
        room = min(_LONGEST_BAR, width - row.cell_length - 3)
        if room < _SHORTEST_BAR:
            return row
        return Content.assemble(row, "   ", _bar(rate, room, ascii_only(self)))


def _padded(text: str, width: int, style: str = "") -> Content:
    name = Content.styled(text, style).truncate(width - 1, ellipsis=True)
    return name.pad_right(width - name.cell_length)


def _heading(evaluation: Mapping[str, Any], agents: str) -> list[Content]:
    episodes = evaluation.get("episodes")
    count = episodes if isinstance(episodes, int) else 0
    title = Content.assemble(
        (str(evaluation.get("policy", "policy")), "bold"),
        f"  {plural(count, 'episode')}, held-out seeds {evaluation.get('seeds', '?')}",
    )
    lines = [title]
    if agents:
        lines.append(toned(f"plan and code by {author_words(agents)}", "muted"))
    if count:
        worst = 100 * 1.96 * math.sqrt(0.25 / count)
        lines.append(
            toned(
                f"a rate of {plural(count, 'episode')} is uncertain by up to "
                f"±{worst:.0f} points (95 %)",
                "muted",
            )
        )
    return lines


def _figures(
    evaluation: Mapping[str, Any], other: Mapping[str, Any] | None, label: int
) -> list[Content]:
    head = f"{'':<{label}}{'trained':>{_NUMBER}}"
    if other is not None:
        head += f"{'untrained':>{_OTHER}}{'difference':>{_GAIN}}"
    lines = [toned(head, "muted")]
    names = (
        ("task success", "task_success"),
        ("score (percent)", "score"),
        ("reward per episode", "reward_mean"),
        ("frames per episode", "length_mean"),
    )
    for name, field in names:
        value = _number(evaluation, field)
        if value is None:
            continue
        rate = Rate(name, value, None if other is None else _number(other, field))
        if field == "task_success":
            row = _numbers(percent(value), rate, points=True)
        else:
            row = _numbers(_figure(value), rate, points=False)
        strong = "bold" if field == "task_success" else ""
        lines.append(_padded(name, label, strong) + row)
    return lines


def _numbers(trained: str, rate: Rate, *, points: bool) -> Content:
    """Trained, untrained and their difference in columns."""
    parts = [Content(f"{trained:>{_NUMBER}}")]
    if rate.untrained is not None:
        other = percent(rate.untrained) if points else _figure(rate.untrained)
        parts.append(toned(f"{other:>{_OTHER}}", "muted"))
        gain = 100 * rate.gain if points else rate.gain
        text = f"{gain:+.0f}" if points else f"{'+' if gain >= 0 else ''}{_figure(gain)}"
        if text.strip("+-") in ("0", "0.00"):
            text = "0"
        tone: Tone = "muted" if text == "0" or not points else "good" if gain > 0 else "bad"
        parts.append(toned(f"{text:>{_GAIN}}", tone))
    return Content("").join(parts)


def _bar(rate: Rate, width: int, plain: bool) -> Content:
    """Shared part, then what was gained or lost, then the rest of the rail."""
    low, high = sorted((rate.trained, rate.trained if rate.untrained is None else rate.untrained))
    shared = round(min(1.0, max(0.0, low)) * width)
    differs = round(min(1.0, max(0.0, high)) * width) - shared
    won = rate.gain >= 0
    thick, gained, lost, rail = ("=", "+", "~", "-") if plain else ("━", "━", "╌", "─")
    return Content.assemble(
        (thick * shared, "$primary"),
        ((gained if won else lost) * differs, STYLES["good" if won else "bad"]),
        (rail * (width - shared - differs), "$foreground 25%"),
    )


def _rates(
    evaluation: Mapping[str, Any], other: Mapping[str, Any] | None, field: str
) -> list[Rate]:
    trained = evaluation.get(field)
    if not isinstance(trained, Mapping):
        return []
    untrained = other.get(field) if other is not None else None
    known = untrained if isinstance(untrained, Mapping) else None
    return [
        Rate(str(name), float(value), None if known is None else _number(known, str(name)))
        for name, value in trained.items()
        if isinstance(value, int | float)
    ]


def _number(data: Mapping[str, Any], name: str) -> float | None:
    value = data.get(name)
    return float(value) if isinstance(value, int | float) else None


def _figure(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 50 else f"{value:.0f}"
