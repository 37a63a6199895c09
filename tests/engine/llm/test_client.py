"""The client against a server that behaves, and one that misbehaves in every way we know."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from engine.errors import AgentError, BudgetSpent, ContextFull, LlmError, NoValidAnswer

KEY = "sk-very-secret-0123456789"
GOOD = '{"fruit": "apple", "count": 3}'


class Basket(BaseModel):
    fruit: Literal["apple", "pear"]
    count: int = Field(gt=0)


class Note(BaseModel):
    words: str


def ask(asker: Any, **more: Any) -> Basket:
    basket: Basket = asker.client.ask("planner", "You count fruit.", "How many?", Basket, **more)
    return basket


Serve = Callable[..., Any]
Make = Callable[..., Any]


def test_a_valid_answer_is_typed_recorded_and_paid_for(serve: Serve, asker: Make) -> None:
    server = serve(GOOD)
    one = asker(server.base_url, usd_per_million_prompt=2.0, usd_per_million_completion=10.0)
    assert ask(one) == Basket(fruit="apple", count=3)
    (call,) = one.calls
    assert (call.run_id, call.role, call.model, call.mode) == (
        "r1",
        "planner",
        "test-model",
        "json_schema",
    )
    assert call.prompt == "## system\nYou count fruit.\n\n## user\nHow many?"
    assert (call.reply, call.error) == (GOOD, "")
    assert (call.prompt_tokens, call.completion_tokens) == (10, 5)
    assert call.cost_usd == pytest.approx((10 * 2 + 5 * 10) / 1e6)
    assert call.seconds > 0
    assert (one.client.budget.tokens, one.client.budget.cost_usd) == (15, call.cost_usd)


def test_the_request_is_what_every_server_understands(serve: Serve, asker: Make) -> None:
    server = serve(GOOD)
    ask(asker(server.base_url))
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert set(request.body) == {
        "model", "messages", "response_format", "stream", "stream_options",
    }  # fmt: skip
    schema = request.body["response_format"]["json_schema"]
    assert schema == {
        "name": "Basket",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "fruit": {"type": "string", "enum": ["apple", "pear"]},
                "count": {"type": "integer"},
            },
            "required": ["fruit", "count"],
            "additionalProperties": False,
        },
    }


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ("I have three apples.", "no JSON object"),
        ('{"fruit": "apple", "count": ', "no JSON object"),
        ('{"fruit": "plum", "count": 3}', "`fruit`: Input should be 'apple' or 'pear'"),
        ('{"fruit": "apple"}', "`count`: Field required"),
        ('{"fruit": "apple", "count": 0}', "greater than 0"),
        ("", "no JSON object"),
    ],
)
def test_a_bad_answer_goes_back_with_what_is_wrong(
    serve: Serve, asker: Make, bad: str, complaint: str
) -> None:
    server = serve(bad, GOOD)
    one = asker(server.base_url)
    assert ask(one) == Basket(fruit="apple", count=3)
    messages = server.requests[1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[2]["content"] == bad
    assert complaint in messages[3]["content"]
    assert one.client.budget.tokens == 30
    assert len(one.calls) == 2


def test_problems_found_by_the_caller_go_back_too(serve: Serve, asker: Make) -> None:
    server = serve('{"fruit": "pear", "count": 9}', GOOD)
    answer = ask(
        asker(server.base_url),
        check=lambda basket: ["there are only 5 fruits"] if basket.count > 5 else [],
    )
    assert answer.count == 3
    assert "there are only 5 fruits" in server.requests[1].text


def test_a_cut_off_answer_is_told_to_be_shorter(serve: Serve, asker: Make, fake: Any) -> None:
    server = serve(fake.Reply('{"fruit": "app', finish="length"), GOOD)
    ask(asker(server.base_url))
    assert "cut off" in server.requests[1].text


def test_an_endless_repetition_is_not_shown_again_whole(
    serve: Serve, asker: Make, fake: Any
) -> None:
    server = serve(fake.Reply('{"name": "' + "wood_" * 500, finish="length"), GOOD)
    ask(asker(server.base_url))
    assert "wood_wood_" in server.requests[1].text
    assert server.requests[1].text.count("wood_") < 100


def test_a_refusal_without_text_goes_back(serve: Serve, asker: Make, fake: Any) -> None:
    server = serve(fake.Reply(None), GOOD)
    assert ask(asker(server.base_url)).count == 3


def test_after_four_bad_answers_the_agent_gives_up(serve: Serve, asker: Make) -> None:
    server = serve("no", "no", "no", "still no", GOOD)
    one = asker(server.base_url)
    with pytest.raises(AgentError, match=r"llm:test-model .* planner in 4 attempts.*no JSON"):
        ask(one)
    assert len(server.requests) == len(one.calls) == 4
    assert len(server.requests[3].body["messages"]) == 4


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_server_without_schemas_gets_the_next_mode(
    serve: Serve, asker: Make, fake: Any, status: int
) -> None:
    server = serve(fake.Reply(status=status, error="json_schema is not supported"), GOOD, GOOD)
    one = asker(server.base_url)
    assert ask(one).count == 3
    assert ask(one).count == 3
    assert [request.mode for request in server.requests] == [
        "json_schema",
        "json_object",
        "json_object",
    ]
    assert '"additionalProperties": false' in server.requests[1].text
    assert "not supported" in one.calls[0].error
    assert one.waits == []


def test_a_server_without_any_mode_is_asked_in_words(serve: Serve, asker: Make, fake: Any) -> None:
    refused = fake.Reply(status=400, error="response_format?")
    server = serve(refused, refused, f"Here you are:\n```json\n{GOOD}\n```\nEnjoy {{them}}!")
    one = asker(server.base_url)
    assert ask(one).count == 3
    assert [call.mode for call in one.calls] == ["json_schema", "json_object", "prompt"]


def test_a_400_in_every_mode_says_what_the_server_said(
    serve: Serve, asker: Make, fake: Any
) -> None:
    server = serve(fake.Reply(status=400, error="context length exceeded"))
    with pytest.raises(LlmError, match="context length exceeded"):
        ask(asker(server.base_url))
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [408, 409, 429, 503])
def test_a_busy_server_is_tried_again(serve: Serve, asker: Make, fake: Any, status: int) -> None:
    server = serve(fake.Reply(status=status, error="busy"), fake.Reply(status=status), GOOD)
    one = asker(server.base_url)
    assert ask(one).count == 3
    assert one.waits == [0.5, 1.0]
    assert [bool(call.error) for call in one.calls] == [True, True, False]


def test_a_500_of_a_mode_that_worked_is_tried_again(serve: Serve, asker: Make, fake: Any) -> None:
    server = serve(GOOD, fake.Reply(status=500), GOOD)
    one = asker(server.base_url)
    ask(one)
    ask(one)
    assert [request.mode for request in server.requests] == ["json_schema"] * 3


def test_the_wait_a_server_asks_for_is_kept_but_not_for_ever(
    serve: Serve, asker: Make, fake: Any
) -> None:
    def busy(seconds: str) -> Any:
        return fake.Reply(status=429, headers={"Retry-After": seconds})

    one = asker(serve(busy("7"), busy("4000"), busy("soon"), GOOD).base_url)
    ask(one)
    assert one.waits == [7.0, 30.0, 2.0]


def test_a_server_that_stays_busy_is_given_up(serve: Serve, asker: Make, fake: Any) -> None:
    server = serve(fake.Reply(status=429, error="slow down"))
    one = asker(server.base_url)
    with pytest.raises(LlmError, match=r"keeps answering with status 429: .*slow down"):
        ask(one)
    assert len(server.requests) == 4
    assert one.waits == [0.5, 1.0, 2.0]


def test_an_empty_account_is_not_tried_again(serve: Serve, asker: Make, fake: Any) -> None:
    server = serve(fake.Reply(status=429, headers={"x-code": "insufficient_quota"}))
    with pytest.raises(LlmError, match="no credit"):
        ask(asker(server.base_url))
    assert len(server.requests) == 1


def test_a_dropped_connection_is_tried_again(serve: Serve, asker: Make, fake: Any) -> None:
    server = serve(fake.Reply(raw=b""), GOOD)
    one = asker(server.base_url)
    assert ask(one).count == 3
    assert one.waits == [0.5]
    assert "no connection" in one.calls[0].error


def test_no_usage_counts_no_tokens_but_guards_the_budget(
    serve: Serve, asker: Make, fake: Any
) -> None:
    one = asker(serve(fake.Reply(GOOD, usage=None)).base_url, max_tokens_total=30)
    ask(one)
    assert (one.calls[0].prompt_tokens, one.client.budget.tokens) == (0, 0)
    ask(one)
    with pytest.raises(BudgetSpent, match="token budget"):
        ask(one)


def test_silence_ends_in_a_timeout(serve: Serve, asker: Make, fake: Any) -> None:
    server = serve(fake.Reply(silent=True))
    one = asker(server.base_url, timeout_seconds=0.2)
    with pytest.raises(LlmError, match=r"did not answer within 0\.2 s") as caught:
        ask(one)
    assert "timeout_seconds" in caught.value.hint
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "message", "hint"),
    [
        (401, "refused the key", "TEST_KEY"),
        (403, "refused the key", "TEST_KEY"),
        (404, "does not know the model 'test-model'", "llm.model"),
        (418, "refused the call", "llm"),
    ],
)
def test_what_cannot_be_mended_ends_at_once(
    serve: Serve, asker: Make, fake: Any, status: int, message: str, hint: str
) -> None:
    server = serve(fake.Reply(status=status, error="no"))
    one = asker(server.base_url)
    with pytest.raises(LlmError, match=message) as caught:
        ask(one)
    assert hint in caught.value.hint
    assert len(server.requests) == 1
    assert one.waits == []


def garbage(fake: Any) -> dict[str, Any]:
    return {
        "bytes": fake.Reply(raw=b"\x00\xff\x13 no HTTP at all \r\n\r\n"),
        "page": fake.Reply(body=b"<html>hello</html>", headers={"Content-Type": "text/html"}),
        "broken json": fake.Reply(body=b'{"choices": [{"mess'),
        "other json": fake.Reply(body=b'{"hello": 1}'),
        "a list": fake.Reply(body=b"[1, 2]"),
        "no choices": fake.Reply(body=b'{"choices": []}'),
        "odd choices": fake.Reply(body=b'{"choices": 5}'),
        "odd message": fake.Reply(body=b'{"choices": [{"message": "hi"}]}'),
        "odd usage": fake.Reply(
            body=b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": "a"}}'
        ),
        "not utf-8": fake.Reply(body=b'{"choices": "\xff\xfe"}'),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "bytes", "page", "broken json", "other json", "a list", "no choices", "odd choices",
        "odd message", "not utf-8",
    ],
)  # fmt: skip
def test_garbage_is_tried_again_then_named(serve: Serve, asker: Make, fake: Any, kind: str) -> None:
    one = asker(serve(garbage(fake)[kind], GOOD).base_url)
    assert ask(one).count == 3
    other = asker(serve(garbage(fake)[kind]).base_url)
    with pytest.raises(LlmError, match=r"not a chat completion|no connection") as caught:
        ask(other)
    assert "base_url" in caught.value.hint


def test_odd_usage_is_no_usage(serve: Serve, asker: Make, fake: Any) -> None:
    odd = garbage(fake)["odd usage"]
    one = asker(serve(odd, odd, GOOD).base_url)  # it ignores streaming, so it is asked twice
    assert ask(one).count == 3
    assert [call.prompt_tokens for call in one.calls] == [0, 10]
    assert one.client.budget.tokens == 15


def test_problems_without_end_are_told_in_part(serve: Serve, asker: Make) -> None:
    server = serve(GOOD, GOOD)
    one = asker(server.base_url)
    endless = ("first " + "x" * 100_000 + " is no name", *["another"] * 500)
    with pytest.raises(NoValidAnswer) as caught:
        ask(one, check=lambda _answer: endless, attempts=2)
    told = server.requests[1].text
    for text in (caught.value.message, told):
        assert len(text) < 10_000
        assert "first xxx" in text
        assert "x is no name" in text
    assert "... and 461 more" in told
    assert "and 38 more" in caught.value.message


@pytest.mark.parametrize("usage", [(10**30, 5), (5, 2**63), (0, 0), (-7, -7)])
def test_a_usage_beyond_all_sense_is_no_usage(
    serve: Serve, asker: Make, fake: Any, usage: tuple[int, int]
) -> None:
    one = asker(serve(fake.Reply(GOOD, usage=usage)).base_url, max_tokens_total=30)
    assert [ask(one).count, ask(one).count] == [3, 3]
    assert (one.calls[-1].prompt_tokens, one.calls[-1].completion_tokens) == (0, 0)
    with pytest.raises(BudgetSpent):  # guarded by a guess all the same
        ask(one)


def test_a_server_that_is_down(asker: Make) -> None:
    one = asker("http://127.0.0.1:9/v1")
    with pytest.raises(LlmError, match=r"no connection to 'http://127\.0\.0\.1:9/v1'") as caught:
        ask(one)
    assert "Is the server up" in caught.value.hint
    assert len(one.calls) == 4


def test_the_token_budget_stops_before_the_next_call(serve: Serve, asker: Make) -> None:
    server = serve("bad", GOOD)
    one = asker(server.base_url, max_tokens_total=15)
    with pytest.raises(BudgetSpent, match="15 of 15 tokens"):
        ask(one)
    assert len(server.requests) == 1


def test_tokens_of_earlier_processes_count(serve: Serve, asker: Make) -> None:
    server = serve(GOOD)
    with pytest.raises(BudgetSpent, match="500 of 400"):
        ask(asker(server.base_url, tokens_spent=500, max_tokens_total=400))
    assert server.requests == []


def test_the_money_budget_stops_before_the_next_call(serve: Serve, asker: Make) -> None:
    one = asker(serve(GOOD).base_url, max_cost_usd=1e-5, usd_per_million_prompt=1.0)
    ask(one)
    with pytest.raises(BudgetSpent, match="money budget"):
        ask(one)


@pytest.mark.parametrize("status", [401, 400, 429, 500])
def test_the_key_is_nowhere_even_if_the_server_repeats_it(
    serve: Serve, asker: Make, fake: Any, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("openai").setLevel(logging.DEBUG)
    one = asker(serve(fake.Reply(status=status, error=f"bad key {KEY}!")).base_url)
    with pytest.raises(LlmError) as caught:
        ask(one)
    chain: BaseException | None = caught.value
    while chain is not None:
        assert KEY not in f"{chain!r} {chain}"
        chain = chain.__cause__ or chain.__context__
    assert KEY not in repr(one.calls) + repr(one.client) + caught.value.hint
    assert KEY not in caplog.text
    if status != 401:
        assert "bad key [key]!" in one.calls[0].error


def test_a_reply_that_repeats_the_key_is_recorded_without_it(serve: Serve, asker: Make) -> None:
    one = asker(serve(f"{KEY} {GOOD}").base_url)
    ask(one)
    assert one.calls[0].reply == f"[key] {GOOD}"


def test_an_answer_that_repeats_the_key_is_given_without_it(serve: Serve, asker: Make) -> None:
    """What agents make of an answer is stored: plans, code, skills that others are given."""
    one = asker(serve(f'{{"words": "apple {KEY}"}}').base_url)
    given: Note = one.client.ask("planner", "You write.", "What?", Note)
    assert given.words == "apple [key]"
    with pytest.raises(NoValidAnswer) as caught:
        ask(one, attempts=1)
    assert KEY not in caught.value.message


def test_what_a_database_cannot_hold_is_left_out(serve: Serve, asker: Make) -> None:
    one = asker(serve(f"\x00\ud800{GOOD}").base_url)
    ask(one)
    assert one.calls[0].reply == f"?{GOOD}"


def test_the_models_of_a_server(serve: Serve, asker: Make) -> None:
    assert asker(serve(GOOD).base_url).client.models() == ("test-model",)
    with pytest.raises(LlmError, match="no connection"):
        asker("http://127.0.0.1:9/v1").client.models()


def test_a_person_may_end_the_wait_for_an_answer(serve: Serve, asker: Make, fake: Any) -> None:
    class Enough(Exception):
        pass

    def between() -> None:
        raise Enough

    one = asker(serve(fake.Reply(silent=True)).base_url, timeout_seconds=60, between=between)
    began = time.monotonic()
    with pytest.raises(Enough):
        ask(one)
    assert time.monotonic() - began < 10


def test_openai_without_a_key_is_not_even_asked(asker: Make) -> None:
    one = asker("https://api.openai.com/v1", key="")
    with pytest.raises(LlmError, match="no key in 'TEST_KEY'") as caught:
        ask(one)
    assert "--agents rules" in caught.value.hint
    assert one.calls == []


def test_a_conversation_that_outgrows_the_context_ends_the_attempts(
    serve: Serve, asker: Make, fake: Any
) -> None:
    full = fake.Reply(status=400, error="the request exceeds the available context size")
    server = serve("no fruit", full)
    with pytest.raises(NoValidAnswer, match=r"in 2 attempts; .*JSON.*longer than the context"):
        ask(asker(server.base_url))
    with pytest.raises(ContextFull, match="exceeds the available context"):
        ask(asker(server.base_url))


def test_fewer_attempts_and_no_second_one_after_a_cut(serve: Serve, asker: Make, fake: Any) -> None:
    server = serve("none")
    with pytest.raises(NoValidAnswer, match="in 2 attempts"):
        ask(asker(server.base_url), attempts=2)
    assert len(server.requests) == 2
    server = serve(fake.Reply('{"fruit": "app', finish="length"), GOOD)
    with pytest.raises(NoValidAnswer, match=r"in 1 attempt; .* was cut off"):
        ask(asker(server.base_url), again_if_cut_off=False)
    assert len(server.requests) == 1
