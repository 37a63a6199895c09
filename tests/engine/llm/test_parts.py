"""Keys, extraction of answers, schemas, and what doctor says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from engine.config import LlmConfig
from engine.errors import LlmError
from engine.llm.answers import InvalidReply, fenced_block, parse_answer, strict_schema
from engine.llm.client import LlmClient
from engine.llm.keys import find_key, without_key
from engine.llm.probe import server_status


class Point(BaseModel):
    x: int
    label: str = "none"


class Path(BaseModel):
    points: tuple[Point, ...]
    end: Point | None


@pytest.mark.parametrize(
    "text",
    [
        '{"x": 1}',
        'Sure! {"x": 1} is it.',
        '```json\n{"x": 1}\n```',
        'first {not json} then {"x": 1}',
        '{"y": 2} no, rather {"x": 1}',
        '<think>{"x": "?"}</think>\n{"x": 1}',
        '{"x": 1, "label": "{"} }',
        "{" * 50 + '{"x": 1}',
    ],
)
def test_the_first_valid_object_is_found(text: str) -> None:
    assert parse_answer(text, Point).x == 1


def test_raw_line_breaks_in_a_text_are_forgiven() -> None:
    assert parse_answer('{"x": 1, "label": "a\n\tb"}', Point).label == "a\n\tb"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1]", "{" * 100_000, '{"a":' * 50_000],
    ids=["empty", "brace", "list", "many braces", "deep nesting"],
)
def test_no_object_is_an_invalid_reply(text: str) -> None:
    with pytest.raises(InvalidReply, match="no JSON object"):
        parse_answer(text, Point)


def test_many_problems_are_cut() -> None:
    points = ",".join('{"x": "?"}' for _ in range(40))
    with pytest.raises(InvalidReply) as caught:
        parse_answer(f'{{"points": [{points}], "end": null}}', Path)
    assert len(caught.value.problems) == 13
    assert caught.value.problems[-1] == "... and 28 more"
    assert caught.value.problems[0].startswith("`points.0.x`: ")


def test_the_longest_fenced_block() -> None:
    text = "```\nshort\n```\nand\n```python\ndef run() -> str:\n    return ''\n```\n"
    assert fenced_block(text) == "def run() -> str:\n    return ''\n"
    assert fenced_block("no block") is None


def test_schemas_are_strict_all_the_way_down() -> None:
    schema = strict_schema(Path)
    assert schema["required"] == ["points", "end"]
    assert schema["$defs"]["Point"] == {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "label": {"type": "string"}},
        "required": ["x", "label"],
        "additionalProperties": False,
    }
    assert schema["properties"]["end"]["anyOf"][1] == {"type": "null"}


CONFIG = LlmConfig(api_key_env="TEST_KEY")


def test_the_key_comes_from_the_named_variable_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=lambda *_: None))
    assert find_key(CONFIG, {"TEST_KEY": " sk-1234567\n"}) == "sk-1234567"
    assert find_key(CONFIG, {"OPENAI_API_KEY": "sk-1234567"}) is None


def test_the_keyring_is_asked_when_the_variable_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def get_password(service: str, name: str) -> str:
        asked.append((service, name))
        return "sk-from-keyring"

    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=get_password))
    assert find_key(CONFIG, {"TEST_KEY": ""}) == "sk-from-keyring"
    assert asked == [("rlgpt-studio", "TEST_KEY")]


def test_a_broken_keyring_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def get_password(*_: str) -> str:
        raise RuntimeError("no backend")

    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=get_password))
    assert find_key(CONFIG, {}) is None


@pytest.mark.parametrize("key", ["sk 123", "sk\n123", "schlüssel"])
def test_a_key_that_cannot_be_one_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(LlmError, match="TEST_KEY") as caught:
        find_key(CONFIG, {"TEST_KEY": key})
    assert key not in str(caught.value)


def test_short_words_are_no_secret() -> None:
    assert without_key("none of it", "none") == "none of it"
    assert without_key("sk-1234567 twice sk-1234567", "sk-1234567") == "[key] twice [key]"


def test_another_servers_key_is_never_sent(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=lambda *_: None))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-only")
    server = serve('{"x": 1}')
    config = LlmConfig(base_url=server.base_url, model="test-model", api_key_env="LOCAL_KEY")
    client = LlmClient(config)
    assert client.ask("slow", "s", "p", Point).x == 1
    client.close()
    assert server.requests[0].headers["authorization"] == "Bearer none"


def test_doctor_says_whether_the_server_has_the_model(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-1234567")
    url = serve("").base_url
    good = server_status(LlmConfig(base_url=url, model="test-model", api_key_env="TEST_KEY"))
    assert good.usable
    other = server_status(LlmConfig(base_url=url, model="big", api_key_env="TEST_KEY"))
    assert not other.usable
    assert "'big'" in other.detail
    assert "test-model" in other.hint
    down = server_status(LlmConfig(base_url="http://127.0.0.1:9/v1", api_key_env="TEST_KEY"))
    assert not down.usable
    assert "no connection" in down.detail
