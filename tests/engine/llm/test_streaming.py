"""Replies in pieces: followed as they come, and every way in which a stream can go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from engine.config import LlmConfig
from engine.errors import LlmError, NoValidAnswer, ReplyEndless
from engine.llm.failures import Failure
from engine.llm.messages import Message, Question
from engine.llm.server import Server
from engine.llm.stream import Draft, read_stream

KEY = "sk-very-secret-0123456789"
GOOD = '{"fruit": "apple"}'
Serve = Callable[..., Any]
Make = Callable[..., Any]


class Basket(BaseModel):
    fruit: str


class Heard(list[tuple[str, str, str, bool]]):
    """What was told of a reply on its way."""

    def __call__(self, role: str, subject: str, text: str, *, finished: bool) -> None:
        self.append((role, subject, text, finished))


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    monkeypatch.setattr("engine.llm.stream.TELL_SECONDS", 0.0)
    return Heard()


def chunk(content: str | None) -> Any:
    choice = SimpleNamespace(delta=SimpleNamespace(content=content), finish_reason=None)
    return SimpleNamespace(choices=[choice], usage=None)


def ask(one: Any) -> Basket:
    basket: Basket = one.client.ask("slow", "You count.", "How many?", Basket, subject="fruit")
    return basket


def test_a_reply_is_followed_as_it_is_written(serve: Serve, asker: Make, heard: Heard) -> None:
    one = asker(serve(GOOD).base_url, on_text=heard)
    assert ask(one) == Basket(fruit="apple")
    assert [text for *_, text, finished in heard if not finished] == [
        GOOD[:end] for end in (7, 14, 18)
    ]
    assert heard[-1] == ("slow", "fruit", GOOD, True)
    assert (one.calls[0].prompt_tokens, one.calls[0].completion_tokens) == (10, 5)


def test_a_stream_without_usage_is_an_answer(serve: Serve, asker: Make, fake: Any) -> None:
    one = asker(serve(fake.Reply(GOOD, usage=None)).base_url)
    assert ask(one).fruit == "apple"
    assert (one.calls[0].prompt_tokens, one.client.budget.tokens) == (0, 0)


def test_a_stream_that_ends_at_the_limit_goes_back_to_the_model(
    serve: Serve, asker: Make, fake: Any
) -> None:
    server = serve(fake.Reply(GOOD[:9], finish="length"), GOOD)
    assert ask(asker(server.base_url)).fruit == "apple"
    assert "cut off at the limit of tokens" in server.requests[1].text


@pytest.mark.parametrize("after", ["drop", "garbage"])
def test_a_stream_that_breaks_off_is_asked_for_again(
    serve: Serve, asker: Make, fake: Any, heard: Heard, after: str
) -> None:
    server = serve(fake.Reply(GOOD[:9], after=after), GOOD)
    one = asker(server.base_url, on_text=heard)
    assert ask(one).fruit == "apple"
    assert len(server.requests) == 2
    assert [bool(call.error) for call in one.calls] == [True, False]
    assert [call.reply for call in one.calls] == [GOOD[:9], GOOD]
    assert one.client.budget.tokens == 15  # what broke off is not counted twice


def test_a_stream_that_always_breaks_off_is_told(serve: Serve, asker: Make, fake: Any) -> None:
    one = asker(serve(fake.Reply(GOOD[:9], after="drop")).base_url)
    with pytest.raises(LlmError, match="broke off in mid-reply") as caught:
        ask(one)
    assert "resumed" in caught.value.hint
    assert one.calls[0].reply == GOOD[:9]


def test_silence_in_mid_reply_ends_the_call(serve: Serve, asker: Make, fake: Any) -> None:
    one = asker(serve(fake.Reply(GOOD[:9], after="silence")).base_url, timeout_seconds=0.2)
    with pytest.raises(LlmError, match=r"did not answer within 0\.2 s"):
        ask(one)


def test_a_server_that_falls_silent_is_asked_once_more(
    serve: Serve, asker: Make, fake: Any
) -> None:
    silent = fake.Reply(GOOD[:9], after="silence")
    one = asker(serve(silent, GOOD).base_url, silence_seconds=0.1)
    assert ask(one).fruit == "apple"
    assert "fell silent in mid-reply for more than 0.1 s" in one.calls[0].error
    assert [call.reply for call in one.calls] == [GOOD[:9], GOOD]
    other = asker(serve(silent).base_url, silence_seconds=0.1)
    with pytest.raises(LlmError, match="fell silent") as caught:
        ask(other)
    assert "llm.silence_seconds" in caught.value.hint
    assert len(other.calls) == 2


@pytest.mark.parametrize(("text", "after"), [(GOOD[:9], "endless"), ("", "pings")])
def test_a_reply_without_an_end_is_ended(
    serve: Serve, asker: Make, fake: Any, heard: Heard, text: str, after: str
) -> None:
    passed = 0.0

    def between() -> None:
        nonlocal passed
        is_written = bool(heard) and not heard[-1][-1] and heard[-1][-2].startswith(text)
        if is_written or not text:  # a busy machine may be late with the beginning
            passed += 500.0

    server = serve(fake.Reply(text, after=after))
    config = LlmConfig(base_url=server.base_url, model="test-model", silence_seconds=86_400)
    patient = Server(config, None, between, clock=lambda: passed)
    one = asker(server.base_url, transport=patient, on_text=heard)
    with pytest.raises(LlmError, match="came to no end of its reply within 900 s") as caught:
        ask(one)
    assert "llm.reply_seconds" in caught.value.hint
    assert passed == 2 * 1000.0  # asked for once more
    assert len(one.calls) == 2
    assert all(call.reply.startswith(text) for call in one.calls)


@pytest.mark.parametrize("streamed", [True, False])
def test_a_reply_beyond_all_length_is_not_read_to_its_end(
    serve: Serve, asker: Make, fake: Any, streamed: bool
) -> None:
    flood = "no " * 1_000_000
    if streamed:
        reply = fake.Reply(flood, piece=100_000, after="endless")
    else:
        body = {"choices": [{"message": {"content": flood}, "finish_reason": "stop"}]}
        reply = fake.Reply(body=json.dumps(body).encode())
    one = asker(serve(reply).base_url)
    with pytest.raises(ReplyEndless, match="no end of its reply within 1,000,000 characters"):
        ask(one)
    assert [len(call.reply) for call in one.calls if call.reply] == [1_000_000] * 2


def test_where_a_long_answer_may_be_done_without_an_endless_one_is_no_answer(
    serve: Serve, asker: Make, fake: Any
) -> None:
    passed = 0.0

    def between() -> None:
        nonlocal passed
        passed += 500.0

    server = serve(fake.Reply("", after="pings"))
    config = LlmConfig(base_url=server.base_url, model="test-model", silence_seconds=86_400)
    patient = Server(config, None, between, clock=lambda: passed)
    one = asker(server.base_url, transport=patient)
    with pytest.raises(NoValidAnswer, match=r"in 1 attempt; .* came to no end of its reply"):
        one.client.ask("slow", "You plan.", "All?", Basket, again_if_cut_off=False)
    assert len(one.calls) == 1


def test_who_waits_long_for_a_reply_waits_so_long_for_all_of_it(serve: Serve, fake: Any) -> None:
    passed = 0.0

    def between() -> None:
        nonlocal passed
        passed += 2_500.0

    server = serve(fake.Reply("", after="pings"))
    config = LlmConfig(base_url=server.base_url, model="test-model", timeout_seconds=3_600)
    patient = Server(config, None, between, clock=lambda: passed)
    question = Question("slow", "prompt", (Message("user", "?"),), Basket, may_change_mode=False)
    outcome = patient.complete(question, lambda _text: None)
    patient.close()
    assert isinstance(outcome, Failure)
    assert "within 3600 s" in outcome.message
    assert passed == 5_000.0


def test_silence_counts_from_the_first_text() -> None:
    draft = Draft()
    assert not draft.is_silent(60.0, now=1e9)
    role, text = chunk(None), chunk("a")
    read_stream([role, text, role], lambda _text: None, draft, clock=iter(range(9)).__next__)
    assert draft.heard == 2  # the last chunk, though it brought no text
    assert not draft.is_silent(60.0, now=62.0)
    assert draft.is_silent(60.0, now=62.1)


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_refuses_streaming_is_asked_for_whole_replies(
    serve: Serve, asker: Make, fake: Any, heard: Heard, status: int
) -> None:
    server = serve(fake.Reply(status=status, error="stream is not supported"), GOOD)
    one = asker(server.base_url, on_text=heard)
    assert ask(one) == ask(one) == Basket(fruit="apple")
    assert [request.body.get("stream") for request in server.requests] == [True, None, None]
    assert one.client.mode == "json_schema"
    assert heard[-1] == ("slow", "fruit", GOOD, True)


def test_a_proxy_that_speaks_of_its_upstream_does_not_end_streaming(
    serve: Serve, asker: Make, fake: Any
) -> None:
    refused = fake.Reply(status=500, error="upstream request failed")
    server = serve(refused, refused, GOOD)
    ask(asker(server.base_url))
    assert [request.body.get("stream") for request in server.requests] == [True, True, True]


def test_a_person_may_stop_a_model_in_mid_reply(serve: Serve, asker: Make, fake: Any) -> None:
    class Enough(Exception):
        pass

    def between() -> None:
        raise Enough

    one = asker(serve(fake.Reply(GOOD[:9], after="silence")).base_url, between=between)
    with pytest.raises(Enough):
        ask(one)


def test_a_key_that_the_stream_repeats_is_shown_nowhere(
    serve: Serve, asker: Make, heard: Heard
) -> None:
    one = asker(serve(f'{{"fruit": "{KEY}"}}').base_url, on_text=heard)
    ask(one)
    assert KEY not in repr(heard)
    assert KEY[:20] not in repr(heard)  # nor the most of it, between two pieces
    assert KEY not in repr(one.calls)
    assert "[key]" in one.calls[0].reply


def test_most_of_the_budget_spent_is_told_once(serve: Serve, asker: Make) -> None:
    one = asker(serve(GOOD).base_url, max_tokens_total=36)
    ask(one)
    assert one.warnings == []
    ask(one)
    ask(one)
    assert one.warnings == ["83% of the budget for language models is spent: 30 of 36 tokens"]
