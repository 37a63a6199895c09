"""Where a policy left the plan, in plain words; only what an evaluation measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from studio.words import percent, plural

if TYPE_CHECKING:
    from engine.rl.departures import Departure, Departures

TITLE = "what it does that code does not"
LEGEND = (
    "Of the situation is told what clearly differs from where it followed that step; in brackets "
    "the mean there and over all decisions. Percent: how often a word holds."
)
_FEWEST_DECISIONS, _FEWEST_EPISODES = 5, 2
"""What came up less often is chance rather than a habit."""
_MOST_HABITS, _MOST_WORDS = 6, 4
_CLEAR, _ERRORS = 0.3, 3.0
"""A word is told when it differs by so many standard deviations and so many standard errors."""
_NO_MEAN = frozenset({"threat"})
"""99 cells stand for none, so its mean says nothing; the flag `danger` tells of the same."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How often another policy did the same, per episode."""

    policy: str
    per_episode: float
    is_bound: bool
    """It is not among the pairs that were kept: at most this often."""

    @property
    def words(self) -> str:
        """`untrained 0.4`, `code only at most 0.2`."""
        return f"{self.policy} {'at most ' if self.is_bound else ''}{_number(self.per_episode)}"


@dataclass(frozen=True, slots=True)
class Habit:
    """One thing the policy did instead of what code alone would have run."""

    code: str
    policy: str
    how_often: str
    when: str
    """In what situation; empty where it is no special one."""


@dataclass(frozen=True, slots=True)
class Account:
    """All that is to be said of an evaluation."""

    summary: str
    note: str
    """What is to be known of the comparison; empty for nothing."""
    habits: tuple[Habit, ...]
    rest: str
    """What is not told; empty when everything is."""


def departures_of(figures: Mapping[str, Any] | None) -> Departures | None:
    """The record in an evaluation; None where it has none, or one of another version."""
    found = None if figures is None else figures.get("departures")
    if not isinstance(found, Mapping):
        return None
    # Only results need the record, and pydantic with it.
    from pydantic import ValidationError

    from engine.rl.departures import Departures

    try:
        return Departures.model_validate(found)
    except ValidationError:
        return None


def account_of(evaluation: Mapping[str, Any]) -> Account | None:
    """What a policy did that code does not; None where nothing was counted, and for code itself."""
    found = departures_of(evaluation)
    if found is None or evaluation.get("policy") == "code_only":
        return None
    others = {
        name: record
        for name, field in (("untrained", "baseline"), ("code only", "code_only"))
        if isinstance(figures := evaluation.get(field), Mapping)
        and (record := departures_of(figures)) is not None
    }
    if not found.decisions:
        return Account("The plan had nothing to say at any of its decisions.", "", (), "")
    if not found.departed:
        summary = (
            f"It followed the plan exactly: at all {plural(found.decisions, 'decision')} at which "
            "code alone would have run something it chose the same."
        )
        return Account(summary, "", (), "")
    habits = _habits(found, others)
    return Account(
        _summary(found, others), _note(others), habits, _rest(found, others, len(habits))
    )


def share_left(figures: Mapping[str, Any] | None) -> float | None:
    """Share of decisions at which a policy left the plan; None where nothing was counted."""
    found = departures_of(figures)
    return None if found is None or not found.decisions else found.departed / found.decisions


def _summary(found: Departures, others: Mapping[str, Departures]) -> str:
    beside = [
        f"{name} {percent(record.departed / record.decisions)}"
        for name, record in others.items()
        if record.decisions
    ]
    return (
        f"It left the plan at {percent(found.departed / found.decisions)} of "
        f"{plural(found.decisions, 'decision')} at which code alone would have run something, "
        f"{_number(found.departed / found.episodes)} times per episode"
        + (f" ({', '.join(beside)})." if beside else ".")
    )


def _note(others: Mapping[str, Departures]) -> str:
    code = others.get("code only")
    if code is None or not code.departed:
        return ""
    return "Code itself leaves it too: it rests a step for some frames when that got nowhere."


def _habits(found: Departures, others: Mapping[str, Departures]) -> tuple[Habit, ...]:
    """What it did more often than the others, by how much more often."""
    told: list[tuple[float, Habit]] = []
    for pair in found.pairs:
        rare = pair.decisions < _FEWEST_DECISIONS
        if rare or pair.episodes < min(_FEWEST_EPISODES, found.episodes):
            continue
        rates = [_rate(name, record, pair) for name, record in others.items()]
        own = pair.decisions / found.episodes
        more = own - max((rate.per_episode for rate in rates), default=0.0)
        if more > 0:
            how_often = _how_often(found, pair, rates)
            told.append((more, Habit(pair.code, pair.policy, how_often, _when(found, pair))))
    # More of it first; of equals the more frequent, as they come.
    told.sort(key=lambda item: -item[0])
    return tuple(habit for _, habit in told[:_MOST_HABITS])


def _rate(name: str, record: Departures, pair: Departure) -> Rate:
    for other in record.pairs:
        if (other.code, other.policy) == (pair.code, pair.policy):
            return Rate(name, other.decisions / record.episodes, False)
    bound = record.pairs[-1].decisions / record.episodes if record.rarer_pairs else 0.0
    return Rate(name, bound, bool(bound))


def _how_often(found: Departures, pair: Departure, rates: list[Rate]) -> str:
    step = found.steps[pair.code]
    beside = f" ({', '.join(rate.words for rate in rates)})" if rates else ""
    return (
        f"{_number(pair.decisions / found.episodes)} times per episode{beside}, in "
        f"{pair.episodes} of {plural(found.episodes, 'episode')}, "
        f"{percent(pair.decisions / step.decisions)} of the {pair.code} decisions"
    )


def _when(found: Departures, pair: Departure) -> str:
    """The words that differ most from where the same step was followed."""
    followed = found.steps[pair.code].situation
    usual = followed or found.situation
    least = max(_CLEAR, _ERRORS / math.sqrt(pair.decisions))
    differences = {
        word: abs(value - usual[word]) / found.spread[word]
        for word, value in pair.situation.items()
        if found.spread.get(word) and word in usual and word not in _NO_MEAN
    }
    clear = [word for word, difference in differences.items() if difference >= least]
    clear.sort(key=lambda word: -differences[word])
    return ", ".join(_word(found, word, pair, followed) for word in clear[:_MOST_WORDS])


def _word(found: Departures, word: str, pair: Departure, followed: Mapping[str, float]) -> str:
    def say(value: float) -> str:
        if word in found.flags:
            return percent(value)
        return f"{value:.2f}" if found.spread[word] < 1 else _number(value)

    beside = [f"followed {say(followed[word])}"] if followed else []
    beside.append(f"all {say(found.situation[word])}")
    return f"{word.replace('_', ' ')} {say(pair.situation[word])} ({', '.join(beside)})"


def _rest(found: Departures, others: Mapping[str, Departures], told: int) -> str:
    left = len(found.pairs) + found.rarer_pairs - told
    if not left:
        return ""
    what = f"{left:,} {'other kind' if left == 1 else 'other kinds'}" if told else f"All {left:,}"
    kinds = "of departure" if told else "kinds of departure"
    were = "was" if left == 1 and told else "were"
    unless = ", or no more frequent than with the others" if others else ""
    return f"{what} {kinds} {were} rare{unless}."


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.1f}"
