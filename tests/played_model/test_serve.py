"""The server that a reader answers: prompts as files, answers as files, streamed or whole."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

SCHEMA = {
    "type": "object",
    "properties": {"code": {"type": "string"}, "comment": {"type": "string"}},
    "required": ["code", "comment"],
}
ANSWER = '{"code": "def run() -> str:\\n    return \\"ö\\"\\n", "comment": "' + "x" * 200 + '"}'
PATIENCE = 10.0


def body(**more: Any) -> dict[str, Any]:
    return {
        "model": "reader",
        "messages": [
            {"role": "system", "content": "You are the fast agent."},
            {"role": "user", "content": "# Write\n`[bold]` ünd ```python\nx\n```"},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "CodeAnswer", "schema": SCHEMA},
        },
        **more,
    }


@contextmanager
def posted(server: Any, content: dict[str, Any]) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=PATIENCE)
    connection.request("POST", "/v1/chat/completions", json.dumps(content))
    try:
        yield connection
    finally:
        connection.close()


def wait_for(path: Path) -> str:
    """The text of a file that comes soon."""
    came = threading.Event()
    for _ in range(1000):
        if path.exists():
            return path.read_text(encoding="utf-8")
        came.wait(0.01)
    raise AssertionError(f"{path.name} did not come")


def test_a_prompt_is_laid_out_and_its_answer_sent(served: Any, desk: Any) -> None:
    with posted(served, body()) as connection:
        prompt = wait_for(desk.folder / "001-prompt.md")
        (desk.folder / "001-answer.json").write_text(ANSWER, encoding="utf-8")
        completion = json.load(connection.getresponse())
    assert "CodeAnswer" in prompt.splitlines()[0]
    assert prompt.index("You are the fast agent.") < prompt.index("`[bold]` ünd")
    assert prompt.index("`[bold]` ünd") < prompt.index('"required"')
    assert completion["choices"][0]["message"]["content"] == ANSWER
    assert completion["choices"][0]["finish_reason"] == "stop"
    assert completion["usage"]["completion_tokens"] == len(ANSWER) // 4
    assert completion["usage"]["prompt_tokens"] > len(json.dumps(SCHEMA)) // 4


def test_a_stream_is_kept_alive_and_ends_with_the_usage(served: Any, desk: Any) -> None:
    asked = body(stream=True, stream_options={"include_usage": True})
    with posted(served, asked) as connection:
        wait_for(desk.folder / "001-prompt.md")
        response = connection.getresponse()
        alive = response.readline()
        (desk.folder / "001-answer.txt").write_text(ANSWER, encoding="utf-8")
        lines = response.read().decode().splitlines()
    chunks = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    assert alive.startswith(b":")
    assert chunks.pop() == "[DONE]"
    decoded = [json.loads(chunk) for chunk in chunks]
    pieces = [c["delta"].get("content", "") for d in decoded for c in d["choices"]]
    assert "".join(pieces) == ANSWER
    assert len([piece for piece in pieces if piece]) > 1
    assert decoded[-2]["choices"][0]["finish_reason"] == "stop"
    assert decoded[-1]["usage"]["completion_tokens"] == len(ANSWER) // 4


@pytest.mark.parametrize("stream", [False, True])
def test_a_request_that_comes_again_keeps_its_number(served: Any, desk: Any, stream: bool) -> None:
    with posted(served, body(stream=stream)):
        wait_for(desk.folder / "001-prompt.md")
    for _ in range(1000):
        if desk.left:
            break
        threading.Event().wait(0.01)
    (desk.folder / "001-answer.json").write_text(ANSWER, encoding="utf-8")
    with posted(served, body(stream=stream)) as connection:
        assert json.dumps(ANSWER)[1:60] in connection.getresponse().read().decode()
    assert not (desk.folder / "002-prompt.md").exists()


def test_numbers_go_on_where_an_earlier_server_left_them(serve: Any, desk: Any) -> None:
    assert desk.lay_out(body()) == 1
    later = serve.Desk(desk.folder)
    assert later.lay_out(body()) == 2
    assert later.lay_out(body()) == 3


def test_an_answer_that_is_being_written_is_not_sent_off_half(serve: Any, desk: Any) -> None:
    patient = serve.Desk(desk.folder, settle_seconds=3600.0)
    number = patient.lay_out(body())
    assert patient.answer(number) is None
    path = desk.folder / f"{number:03d}-answer.json"
    path.write_text("", encoding="utf-8")
    assert desk.answer(number) is None
    path.write_text('{"code": "', encoding="utf-8")
    assert patient.answer(number) is None
    assert desk.answer(number) == '{"code": "'


def test_a_trial_of_what_the_server_can_does_not_reach_the_reader(
    serve: Any, served: Any, desk: Any
) -> None:
    flag = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    form = {"type": "json_schema", "json_schema": {"name": "Probe", "schema": flag}}
    with posted(served, body(response_format=form)) as connection:
        completion = json.load(connection.getresponse())
    assert json.loads(completion["choices"][0]["message"]["content"]) == {"ok": True}
    assert not list(desk.folder.glob("*-prompt.md"))
    assert serve.answer_to_probe(body()) is None


def test_a_broken_request_is_refused(served: Any) -> None:
    with posted(served, {"model": "reader"}) as connection:
        response = connection.getresponse()
        assert response.status == 400
        assert "chat completion" in json.load(response)["error"]["message"]


def test_the_script_tells_where_it_serves(serve: Any, tmp_path: Path) -> None:
    command = [sys.executable, serve.__file__, str(tmp_path / "desk"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = urlsplit(process.stdout.readline().strip())
            connection = http.client.HTTPConnection(url.netloc, timeout=PATIENCE)
            connection.request("GET", f"{url.path}/models")
            models = json.load(connection.getresponse())
            connection.close()
        finally:
            process.terminate()
        assert process.wait(PATIENCE) == 0
    assert [model["id"] for model in models["data"]] == ["reader"]
