from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.agents.plan import Outcome
from skills_db.records import RunState
from studio import words

NOW = datetime(2026, 5, 3, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (950, "950"),
        (1534.2, "1.53k"),
        (999_600, "1M"),
        (1.5e6, "1.5M"),
        (0.6234, "0.62"),
        (0.0123, "0.0123"),
        (3e-5, "3e-05"),
        (-1234, "-1.23k"),
        (float("nan"), "-"),
    ],
)
def test_compact(value: float, text: str) -> None:
    assert words.compact(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "-"), (48, "48 s"), (384, "6 min 24 s"), (7980, "2 h 13 min"), (300_000, "3 d 11 h")],
)
def test_duration(seconds: float | None, text: str) -> None:
    assert words.duration(seconds) == text


def test_ago() -> None:
    texts = [words.ago(NOW - timedelta(seconds=s), NOW) for s in (3, 360, 11_000, 90_000, 1e6)]
    assert texts == ["just now", "6 min ago", "3 h ago", "yesterday", "11 d ago"]


def test_every_state_and_outcome_has_a_sign_of_one_cell() -> None:
    assert set(words.STATES) == {state.value for state in RunState}
    assert set(words.OUTCOMES) == {*Outcome.__args__, "not_started"}
    for sign in (*words.STATES.values(), *words.OUTCOMES.values()):
        assert len(sign.glyph) == 1
        assert sign.ascii.isascii()
        assert sign.word


def test_authors() -> None:
    assert words.author_words("rules") == "the rules agents"
    assert words.author_words("llm:gpt-5-mini+person") == (
        "the language model gpt-5-mini and a person"
    )


def test_shorten_keeps_one_line() -> None:
    assert words.shorten("a\nb  c", 10) == "a b c"
    assert words.shorten("abcdefgh", 4) == "abc…"
    assert words.shorten("abc", 0) == ""
