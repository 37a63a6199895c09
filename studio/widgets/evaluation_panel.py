"""The trained policy beside the untrained one and code alone, on held-out seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from textual.content import Content

from studio import keymap
from studio.departure_words import LEGEND, TITLE, Account, account_of, share_left
from studio.widgets.charset import ascii_only
from studio.widgets.paint import STYLES, toned
from studio.widgets.reader import Reader
from studio.words import Tone, author_words, percent, plural, policy_words

_EMPTY = "No evaluation yet. It follows the training, on seeds the training never saw."
_NUMBER, _OTHER, _GAIN, _INTERVAL = 8, 11, 12, 10
"""Widths of the columns."""
_SECTIONS = (("achievements", "success"), ("subtasks and sub-actions", "goals"))
_LONGEST_BAR = 40
_SHORTEST_BAR = 6


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something was reached: by the policy, the untrained one, and by code alone."""

    name: str
    trained: float
    untrained: float | None
    code_only: float | None = None

    @property
    def gain(self) -> float:
        """Difference of the two rates; the rate itself where there is no baseline."""
        return self.trained - (self.untrained or 0.0)


@dataclass(frozen=True, slots=True)
class Others:
    """What the trained policy is compared with, as far as it was evaluated."""

    untrained: Mapping[str, Any] | None
    code_only: Mapping[str, Any] | None

    def rate(self, name: str, trained: float) -> Rate:
        """A figure of the evaluation itself, beside the others' own."""
        return Rate(name, trained, _of(self.untrained, name), _of(self.code_only, name))

    def within(self, field: str) -> Others:
        """The same for the rates in one part of the evaluation."""
        return Others(_inside(self.untrained, field), _inside(self.code_only, field))


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
                `baseline` and that of the plan's code, without anything learnt, under `code_only`.
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
        others = Others(_table(evaluation, "baseline"), _table(evaluation, "code_only"))
        sections = [
            (_part(evaluation, field, title), rates)
            for title, field in _SECTIONS
            if (rates := _rates(evaluation, others, field))
        ]
        longest = max((len(rate.name) for _, rates in sections for rate in rates), default=0)
        label = min(max(longest, len("frames per episode")) + 1, max(12, width // 3))
        lines = [*_heading(evaluation, self._agents), Content()]
        lines += _figures(evaluation, others, label)
        order = "largest difference first" if self._by_gain else "in the world's order"
        for title, rates in sections:
            if self._by_gain:
                rates.sort(key=lambda rate: (-rate.gain, -rate.trained))
            head = Content.assemble((title, "bold"), toned(f"  {order}", "muted"))
            lines += [Content(), head, *(self._rate(rate, label, width) for rate in rates)]
        account = account_of(evaluation)
        return lines if account is None else [*lines, Content(), *_account(account)]

    def _rate(self, rate: Rate, label: int, width: int) -> Content:
        row = _padded(rate.name, label) + _numbers(percent(rate.trained), rate, points=True)
        row += _interval(self._evaluation or {}, rate.name)
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
        (policy_words(str(evaluation.get("policy", "policy"))), "bold"),
        f"  {plural(count, 'episode')}, {_where(evaluation)}",
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


def _figures(evaluation: Mapping[str, Any], others: Others, label: int) -> list[Content]:
    head = f"{'':<{label}}{_first(evaluation):>{_NUMBER}}"
    if others.untrained is not None:
        head += f"{_baseline_name(others.untrained):>{_OTHER}}{'difference':>{_GAIN}}"
    if others.code_only is not None:
        head += f"{'code only':>{_OTHER}}"
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
        rate = others.rate(field, value)
        if field == "task_success":
            row = _numbers(percent(value), rate, points=True)
        else:
            row = _numbers(_figure(value), rate, points=False)
        strong = "bold" if field == "task_success" else ""
        lines.append(_padded(name, label, strong) + row)
    left = share_left(evaluation)
    if left is not None:
        beside = Rate("", left, share_left(others.untrained), share_left(others.code_only))
        row = _numbers(percent(left), beside, points=True, judged=False)
        lines.append(_padded("leaves the plan", label) + row)
    return lines


def _account(account: Account) -> list[Content]:
    """Where the policy left the plan, in sentences that wrap."""
    lines = [Content.styled(TITLE, "bold"), Content(account.summary)]
    if account.note:
        lines.append(toned(account.note, "muted"))
    for habit in account.habits:
        head = Content.assemble(
            toned("instead of ", "muted"),
            (habit.code, "bold"),
            toned(" it chose ", "muted"),
            (habit.policy, f"bold {STYLES['accent']}"),
        )
        lines += [Content(), head, Content(habit.how_often)]
        if habit.when:
            lines.append(Content(habit.when))
    below = [text for text in (LEGEND if account.habits else "", account.rest) if text]
    return [*lines, Content(), *(toned(text, "muted") for text in below)] if below else lines


def _numbers(trained: str, rate: Rate, *, points: bool, judged: bool = True) -> Content:
    """Trained, untrained and their difference, then code alone, in columns.

    Args:
        judged: more is better.
    """
    parts = [Content(f"{trained:>{_NUMBER}}")]
    if rate.untrained is not None:
        other = percent(rate.untrained) if points else _figure(rate.untrained)
        parts.append(toned(f"{other:>{_OTHER}}", "muted"))
        gain = 100 * rate.gain if points else rate.gain
        text = f"{gain:+.0f}" if points else f"{'+' if gain >= 0 else ''}{_figure(gain)}"
        if text.strip("+-") in ("0", "0.00"):
            text = "0"
        plain = text == "0" or not points or not judged
        tone: Tone = "muted" if plain else "good" if gain > 0 else "bad"
        parts.append(toned(f"{text:>{_GAIN}}", tone))
    if rate.code_only is not None:
        code_only = percent(rate.code_only) if points else _figure(rate.code_only)
        parts.append(toned(f"{code_only:>{_OTHER}}", "muted"))
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


def _rates(evaluation: Mapping[str, Any], others: Others, field: str) -> list[Rate]:
    trained = evaluation.get(field)
    if not isinstance(trained, Mapping):
        return []
    beside = others.within(field)
    return [
        beside.rate(str(name), float(value))
        for name, value in trained.items()
        if isinstance(value, int | float)
    ]


def _interval(evaluation: Mapping[str, Any], name: str) -> Content:
    """The 95 % interval of a rate, where the evaluation has it."""
    bounds = (_table(evaluation, "intervals") or {}).get(name)
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        return Content()
    low, high = (round(100 * float(bound)) for bound in bounds)
    return toned(f"{f'[{low}, {high}]':>{_INTERVAL}}", "muted")


def _part(evaluation: Mapping[str, Any], field: str, title: str) -> str:
    """What a part of the figures is called in this world."""
    return str((_table(evaluation, "parts") or {}).get(field, title))


def _where(evaluation: Mapping[str, Any]) -> str:
    seeds = str(evaluation.get("seeds", "?"))
    return seeds if "parts" in evaluation else f"held-out seeds {seeds}"


def _baseline_name(baseline: Mapping[str, Any]) -> str:
    """What the evaluated policy is held against: itself untrained, or chance."""
    return "random" if baseline.get("policy") == "random" else "untrained"


def _first(evaluation: Mapping[str, Any]) -> str:
    """Name of the first column: what was evaluated need not have been trained."""
    return "trained" if evaluation.get("policy") == "trained" else "rate"


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    value = data.get(name)
    return value if isinstance(value, Mapping) else None


def _inside(data: Mapping[str, Any] | None, name: str) -> Mapping[str, Any] | None:
    return None if data is None else _table(data, name)


def _of(data: Mapping[str, Any] | None, name: str) -> float | None:
    return None if data is None else _number(data, name)


def _number(data: Mapping[str, Any], name: str) -> float | None:
    value = data.get(name)
    return float(value) if isinstance(value, int | float) else None


def _figure(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 50 else f"{value:.0f}"
