"""An OpenAI-compatible server whose model is a reader: prompts become files, files are answers.

    python tests/played_model/serve.py FOLDER --port 0

prints the base URL. Each request is written to FOLDER as `NNN-prompt.md` and answered, however long
that takes, with what is then found in `NNN-answer.json` or `NNN-answer.txt`. See README.md.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODEL = "reader"
CHARACTERS_PER_TOKEN = 4
PIECE_CHARACTERS = 120
ANSWER_ENDINGS = (".json", ".txt")
MODES = {"json_schema": "schema", "json_object": "one JSON object", "text": "text"}
FLAG_TYPES: dict[str, Any] = {"boolean": True, "integer": 1, "number": 1, "string": "ok"}

_log = logging.getLogger(__name__)


class Gone(Exception):
    """The run no longer waits for the answer."""


class Desk:
    """The folder in which questions are laid out and answers are found.

    Args:
        folder: made where it is not there; its numbering goes on where it was left.
        look_seconds: between two looks for an answer.
        settle_seconds: an answer counts once its file has not changed for that long, so that one
            that is still being written is not sent off half.
    """

    def __init__(
        self, folder: Path, *, look_seconds: float = 0.2, settle_seconds: float = 0.6
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.look_seconds = look_seconds
        self.settle_seconds = settle_seconds
        self._lock = threading.Lock()
        self.left: dict[str, int] = {}
        """Numbers of the prompts nobody waits for any more, by what they ask."""

    def lay_out(self, body: Mapping[str, Any]) -> int:
        """Write a request down and give its number.

        A request that comes again after the run stopped waiting for it keeps its number: the
        reader's work on it is not lost.
        """
        question = prompt_text(body)
        with self._lock:
            known = self.left.pop(question, None)
            if known is not None:
                return known
            number = 1 + max(
                (int(path.name[:3]) for path in self.folder.glob("[0-9][0-9][0-9]-prompt.md")),
                default=0,
            )
            head = (
                f"# Prompt {number:03d}, answer wanted: {_answer_words(body)}\n\n"
                f"Write the answer to `{number:03d}-answer.json` (or `.txt`).\n\n"
            )
            _write(self.folder / f"{number:03d}-prompt.md", head + question)
        _log.info("prompt %03d waits for an answer", number)
        return number

    def answer(self, number: int) -> str | None:
        """The answer as it was written, or None while there is none that is complete."""
        for ending in ANSWER_ENDINGS:
            path = self.folder / f"{number:03d}-answer{ending}"
            with suppress(OSError):
                found = path.stat()
                if found.st_size and time.time() - found.st_mtime >= self.settle_seconds:
                    return path.read_text(encoding="utf-8", errors="replace")
        return None

    def abandon(self, number: int, body: Mapping[str, Any]) -> None:
        """Nobody waits for this answer any more; the same request takes it up again."""
        with self._lock:
            self.left[prompt_text(body)] = number
        _log.info("the run no longer waits for answer %03d", number)


def prompt_text(body: Mapping[str, Any]) -> str:
    """All that the model is given: the messages as they are, the schema at the end."""
    parts = [
        f"=============== message {number}: {message.get('role')} ===============\n\n"
        f"{_content(message.get('content'))}\n"
        for number, message in enumerate(body.get("messages", ()), 1)
    ]
    schema = _schema(body)
    if schema:
        parts.append(
            "=============== JSON schema of the answer ===============\n\n"
            f"{json.dumps(schema, indent=2)}\n"
        )
    return "\n".join(parts)


def usage(body: Mapping[str, Any], answer: str) -> dict[str, int]:
    """An estimate, characters / 4; a tokenizer would count otherwise."""
    prompt = sum(len(_content(message.get("content"))) for message in body.get("messages", ()))
    prompt += len(json.dumps(_schema(body))) if _schema(body) else 0
    counted = prompt // CHARACTERS_PER_TOKEN, len(answer) // CHARACTERS_PER_TOKEN
    return {
        "prompt_tokens": counted[0],
        "completion_tokens": counted[1],
        "total_tokens": sum(counted),
    }


def answer_to_probe(body: Mapping[str, Any]) -> str | None:
    """The answer to a request for one flag or word, by which a client tries out what a server can.

    None for anything else: that is for the reader.
    """
    properties = _schema(body).get("properties", {})
    if len(properties) != 1:
        return None
    name, kind = next(iter(properties.items()))
    fitting = [*kind.get("enum", ()), *([kind["const"]] if "const" in kind else ())]
    value = fitting[0] if fitting else FLAG_TYPES.get(kind.get("type"))
    return None if value is None else json.dumps({name: value})


def _schema(body: Mapping[str, Any]) -> dict[str, Any]:
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    return schema if isinstance(schema, dict) else {}


def _answer_words(body: Mapping[str, Any]) -> str:
    wanted = body.get("response_format", {})
    name = wanted.get("json_schema", {}).get("name")
    return str(name or MODES.get(wanted.get("type", "text"), "text"))


def _content(content: Any) -> str:
    """The text of a message; of a picture only that there is one."""
    if not isinstance(content, list):
        return str(content)
    return "\n".join(
        str(part["text"]) if part.get("type") == "text" else f"[{part.get('type')}]"
        for part in content
    )


def _write(path: Path, text: str) -> None:
    """Whole or not at all: a reader must not find half a prompt."""
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)


class PlayedServer(ThreadingHTTPServer):
    """Serves `chat.completions` and `models` on a free or given port of this machine.

    Args:
        desk: where questions go and answers come from.
        port: 0 for a free one.
        alive_seconds: while a stream waits, a comment line is sent that often.
    """

    daemon_threads = True

    def __init__(self, desk: Desk, port: int = 0, *, alive_seconds: float = 5.0) -> None:
        self.desk = desk
        self.alive_seconds = alive_seconds
        self.closing = threading.Event()
        super().__init__(("127.0.0.1", port), Handler)

    @property
    def base_url(self) -> str:
        """What `llm.base_url` has to be."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def close(self) -> None:
        """Let go of those who wait, and stop; from another thread than `serve_forever`."""
        self.closing.set()
        self.shutdown()
        self.server_close()

    def wait(self, body: Mapping[str, Any], still_there: Callable[[], None]) -> str:
        """The reader's answer, however long it takes.

        Args:
            still_there: called every `alive_seconds` meanwhile; raises when nobody waits any more.
        """
        number = self.desk.lay_out(body)
        looked = time.monotonic()
        try:
            while (answer := self.desk.answer(number)) is None:
                if self.closing.wait(self.desk.look_seconds):
                    raise Gone
                if time.monotonic() - looked >= self.alive_seconds:
                    looked = time.monotonic()
                    still_there()
        except (Gone, OSError):
            self.desk.abandon(number, body)
            raise
        return answer


class Handler(BaseHTTPRequestHandler):
    """One connection, one request."""

    server: PlayedServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "you"}
        self._send(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body["messages"][0]["content"]
        except (LookupError, TypeError, ValueError) as error:
            message = f"this is no request for a chat completion: {error}"
            self._send(400, {"error": {"message": message, "type": "invalid_request_error"}})
            return
        self.close_connection = True
        with suppress(ConnectionError, Gone):
            if body.get("stream"):
                self._stream(body)
            else:
                self._whole(body)

    def _whole(self, body: Mapping[str, Any]) -> None:
        answer = answer_to_probe(body) or self.server.wait(body, self._look_for_client)
        message = {"role": "assistant", "content": answer}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        completion = _head("chat.completion") | {"choices": [choice]}
        self._send(200, completion | {"usage": usage(body, answer)})

    def _stream(self, body: Mapping[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        text = answer_to_probe(body) or self.server.wait(
            body, lambda: self._say(": the reader is at it")
        )
        self._tell(_choice({"role": "assistant", "content": ""}))
        for start in range(0, len(text), PIECE_CHARACTERS):
            self._tell(_choice({"content": text[start : start + PIECE_CHARACTERS]}))
        self._tell(_choice({}, "stop"))
        if body.get("stream_options", {}).get("include_usage"):
            self._tell({"choices": [], "usage": usage(body, text)})
        self._say("data: [DONE]")

    def _tell(self, chunk: dict[str, Any]) -> None:
        self._say(f"data: {json.dumps(_head('chat.completion.chunk') | chunk)}")

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\n\n".encode())
        self.wfile.flush()

    def _look_for_client(self) -> None:
        """A client that waits sends nothing; one that closed its end reads as an empty one."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            raise Gone

    def _send(self, status: int, data: dict[str, Any]) -> None:
        content = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-reader", "object": kind, "created": int(time.time()), "model": MODEL}


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where prompts are put and answers looked for")
    parser.add_argument("--port", type=int, default=0, help="0 for a free one")
    given = parser.parse_args(arguments)
    server = PlayedServer(Desk(given.folder), given.port)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    _log.info("usage is an estimate: characters / 4")
    sys.stdout.write(f"{server.base_url}\n")
    sys.stdout.flush()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        server.closing.set()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
