"""Recorded calls answer as the model did, and say when they cannot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from engine.errors import AgentError, ConfigError, NoValidAnswer
from engine.llm.replay import RecordedCall, Replay, calls_in_file

Make = Callable[..., Any]


class Basket(BaseModel):
    fruit: str


def reply(fruit: str) -> str:
    return json.dumps({"fruit": fruit})


def prompt(question: str) -> str:
    return f"## system\nYou count.\n\n## user\n{question}"


def ask(one: Any, question: str) -> str:
    basket: Basket = one.client.ask("slow", "You count.", question, Basket)
    return basket.fruit


@pytest.fixture
def replay() -> Callable[..., Replay]:
    def make(*pairs: tuple[str, str], **more: Any) -> Replay:
        calls = [RecordedCall("slow", prompt(question), text) for question, text in pairs]
        return Replay(calls, "r1", **more)

    return make


def test_the_same_prompt_gets_its_own_reply(asker: Make, replay: Any) -> None:
    told: list[str] = []
    source = replay(("one", reply("apple")), ("two", reply("pear")), on_warning=told.append)
    one = asker("http://127.0.0.1:9/v1", transport=source)
    assert [ask(one, "two"), ask(one, "one")] == ["pear", "apple"]
    assert told == []
    assert [call.reply for call in one.calls] == [reply("pear"), reply("apple")]
    assert (one.client.budget.tokens, one.client.budget.cost_usd) == (0, 0.0)


def test_another_prompt_gets_the_next_reply_of_the_role_with_one_warning(
    asker: Make, replay: Any
) -> None:
    told: list[str] = []
    source = replay(("one", reply("apple")), ("two", reply("pear")), on_warning=told.append)
    one = asker("http://127.0.0.1:9/v1", transport=source)
    assert [ask(one, "other"), ask(one, "another")] == ["apple", "pear"]
    assert len(told) == 1
    assert "not the recorded one of 'r1'" in told[0]


@pytest.mark.parametrize("refused", [0, 1, 2])
def test_what_was_recorded_in_another_mode_is_the_same_prompt(
    serve: Callable[..., Any], asker: Make, fake: Any, refused: int
) -> None:
    server = serve(*[fake.Reply(status=400, error="no")] * refused, reply("apple"), reply("pear"))
    recorded = asker(server.base_url)
    assert [ask(recorded, "one"), ask(recorded, "two")] == ["apple", "pear"]
    told: list[str] = []
    calls = [RecordedCall(call.role, call.prompt, call.reply) for call in recorded.calls]
    one = asker("http://127.0.0.1:9/v1", transport=Replay(calls, "r1", on_warning=told.append))
    assert [ask(one, "two"), ask(one, "one")] == ["pear", "apple"]
    assert told == []


def test_a_recording_that_is_at_its_end_says_so(asker: Make, replay: Any) -> None:
    one = asker("http://127.0.0.1:9/v1", transport=replay(("one", reply("apple"))))
    ask(one, "one")
    with pytest.raises(AgentError, match="no more answers of the slow"):
        ask(one, "one")


def test_a_bad_answer_goes_back_as_it_did(asker: Make, replay: Any) -> None:
    one = asker(
        "http://127.0.0.1:9/v1", transport=replay(("one", "no fruit"), ("later", reply("pear")))
    )
    assert ask(one, "one") == "pear"


class Weather(BaseModel):
    rain: bool


def test_a_question_of_a_kind_that_was_never_recorded_uses_nothing_up(
    asker: Make, replay: Any
) -> None:
    source = replay(("one", reply("apple")), ("two", reply("pear")))
    one = asker("http://127.0.0.1:9/v1", transport=source)
    with pytest.raises(NoValidAnswer):
        one.client.ask("slow", "You look.", "Rain?", Weather, attempts=2)
    assert ask(one, "other") == "apple"
    assert ask(one, "another") == "pear"


def test_what_an_earlier_process_was_given_is_not_given_again(asker: Make, replay: Any) -> None:
    used = [RecordedCall("slow", prompt("one"), reply("apple"))]
    source = replay(("one", reply("apple")), ("one", reply("pear")), used=used)
    assert ask(asker("http://127.0.0.1:9/v1", transport=source), "one") == "pear"


def test_what_an_earlier_process_was_given_and_lost_is_given_again_to_the_same_prompt(
    asker: Make, replay: Any
) -> None:
    used = [RecordedCall("slow", prompt("uno"), reply("apple"))]  # for want of the recorded prompt
    source = replay(("one", reply("apple")), ("two", reply("pear")), used=used)
    one = asker("http://127.0.0.1:9/v1", transport=source)
    assert [ask(one, "uno"), ask(one, "two")] == ["apple", "pear"]
    with pytest.raises(AgentError, match="no more answers"):
        ask(one, "uno")


def test_what_was_given_again_after_every_death_counts_once(asker: Make, replay: Any) -> None:
    used = [RecordedCall("slow", prompt("one"), reply("apple"))] * 3
    source = replay(("one", reply("apple")), ("two", reply("apple")), used=used)
    one = asker("http://127.0.0.1:9/v1", transport=source)
    assert [ask(one, "one"), ask(one, "two")] == ["apple", "apple"]


CALL = {"role": "slow", "prompt": "p", "reply": "r", "error": ""}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"run": "x", "calls": [CALL]}),
        json.dumps([CALL, {**CALL, "error": "timeout"}]),
        f"{json.dumps(CALL)}\n{json.dumps({**CALL, 'error': 'timeout'})}\n",
    ],
)
def test_files_of_three_forms_are_read(tmp_path: Path, text: str) -> None:
    file = tmp_path / "calls.json"
    file.write_text(text)
    assert calls_in_file(file) == (RecordedCall("slow", "p", "r"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read"),
        ("hello", "not JSON"),
        ("[]", "holds no calls"),
        (json.dumps([{"role": "slow", "prompt": "p"}]), "has no 'reply'"),
    ],
)
def test_a_file_that_is_no_recording_is_refused(
    tmp_path: Path, text: str | None, message: str
) -> None:
    file = tmp_path / "calls.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        calls_in_file(file)
    assert "export-calls" in caught.value.hint
