"""A loopback OpenAI-compatible server for tests, on the standard library alone.

Test modules cannot import each other here; a conftest loads this file by its path (see
`tests/engine/llm/conftest.py`) and offers what it needs as fixtures.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

PNG_URL = "data:image/png;base64,"


@dataclass(frozen=True)
class Reply:
    """What the server does with one request; the text of a completion unless told otherwise."""

    text: str | None = ""
    status: int = 200
    error: str = ""
    usage: tuple[int, int] | None = (10, 5)
    finish: str = "stop"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as the whole body, as it is."""
    raw: bytes | None = None
    """Written to the socket instead of an HTTP answer; empty drops the connection."""
    silent: bool = False
    """Says nothing until the server closes."""
    piece: int = 7
    """Characters of each piece where the reply is streamed."""
    after: Literal["end", "drop", "silence", "pings", "endless", "garbage"] = "end"
    """What follows the pieces of a stream: `pings` are signs of life without content, `endless` is
    one more piece again and again."""


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """All messages, one after the other."""
        return "\n".join(part["text"] for part in self._parts if part["type"] == "text")

    @property
    def pictures(self) -> list[bytes]:
        """PNG files of all messages."""
        urls = [part["image_url"]["url"] for part in self._parts if part["type"] == "image_url"]
        assert all(url.startswith(PNG_URL) for url in urls)
        return [base64.b64decode(url.removeprefix(PNG_URL), validate=True) for url in urls]

    @property
    def _parts(self) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = []
        for message in self.body.get("messages", ()):
            content = message["content"]
            plain = not isinstance(content, list)
            parts += [{"type": "text", "text": str(content)}] if plain else content
        return parts

    @property
    def mode(self) -> str:
        """`json_schema`, `json_object` or `prompt`."""
        return str(self.body.get("response_format", {}).get("type", "prompt"))

    @property
    def answer(self) -> str:
        """Name of the answer that is asked for, where a schema was sent."""
        return str(self.body.get("response_format", {}).get("json_schema", {}).get("name", ""))


Script = Callable[[Request], Reply]


class FakeServer:
    """Answers `POST /v1/chat/completions` by a script and keeps every request."""

    def __init__(self, script: Script, models: tuple[str, ...] = ("test-model",)) -> None:
        self.requests: list[Request] = []
        self.script = script
        self.models = models
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        # Polled often, or every test would wait half a second for its server to close.
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def base_url(self) -> str:
        """What `llm.base_url` has to be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def reply_to(self, request: Request) -> Reply:
        """The script's reply; requests are answered one after the other."""
        with self._lock:
            self.requests.append(request)
            return self.script(request)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def close(self) -> None:
        """Let go of silent clients and stop."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def in_turn(*replies: Reply | str) -> Script:
    """A script that gives the replies one by one, and the last one for ever."""
    left = [Reply(reply) if isinstance(reply, str) else reply for reply in replies]

    def script(_request: Request) -> Reply:
        return left.pop(0) if len(left) > 1 else left[0]

    return script


@contextmanager
def serving(script: Script, models: tuple[str, ...] = ("test-model",)) -> Iterator[FakeServer]:
    """A server that runs inside the `with` block."""
    server = FakeServer(script, models)
    server.start()
    try:
        yield server
    finally:
        server.close()


def _handler_of(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            server.requests.append(Request(self.path, _lower(self.headers), {}))
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"}
                    for name in server.models]  # fmt: skip
            self._send(200, json.dumps({"object": "list", "data": data}).encode(), {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = server.reply_to(Request(self.path, _lower(self.headers), body))
            with suppress(ConnectionError):
                self._give(reply, body)

        def _give(self, reply: Reply, body: dict[str, Any]) -> None:
            if reply.silent:
                server.closing.wait()
                self.close_connection = True
            elif reply.raw is not None:
                self.wfile.write(reply.raw)
                self.wfile.flush()
                self.close_connection = True
            elif reply.body is not None:
                self._send(reply.status, reply.body, reply.headers)
            elif reply.status != 200:
                error = {"message": reply.error, "type": "test", "param": None}
                error |= {"code": reply.headers.get("x-code")}
                self._send(reply.status, json.dumps({"error": error}).encode(), reply.headers)
            elif body.get("stream"):
                _stream(self, reply, body, server.closing)
            else:
                self._send(200, json.dumps(_completion(reply, body)).encode(), reply.headers)

        def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler


def _stream(
    handler: BaseHTTPRequestHandler, reply: Reply, body: dict[str, Any], closing: threading.Event
) -> None:
    """Server-sent events; the connection ends with them, so no length is told."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Connection", "close")
    handler.end_headers()
    for event in _events(reply, body):
        handler.wfile.write(b"data: " + event + b"\n\n")
        handler.wfile.flush()
    if reply.after == "silence":
        closing.wait()
    more = {"pings": b": ping\n\n", "endless": b"data: " + _piece(" no", reply, body) + b"\n\n"}
    while reply.after in more and not closing.wait(0.005):
        handler.wfile.write(more[reply.after])
        handler.wfile.flush()
    handler.close_connection = True


def _lower(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _completion(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    completion: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
    }
    if reply.usage is not None:
        prompt, written = reply.usage
        completion["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": written,
            "total_tokens": prompt + written,
        }
    return completion


def _events(reply: Reply, body: dict[str, Any]) -> Iterator[bytes]:
    for chunk in _chunks(reply, body):
        yield json.dumps(chunk).encode()
    if reply.after == "garbage":
        yield b"{not json"
    if reply.after == "end":
        yield b"[DONE]"


def _piece(text: str, reply: Reply, body: dict[str, Any]) -> bytes:
    """A chunk of a stream that brings some text."""
    chunk = {**_completion(reply, body), "object": "chat.completion.chunk"}
    chunk.pop("usage", None)
    delta = {"role": "assistant", "content": text}
    return json.dumps(
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    ).encode()


def _chunks(reply: Reply, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The reply in pieces; its end and the usage only where the stream ends well."""
    whole = _completion(reply, body)
    head = {**whole, "object": "chat.completion.chunk"}
    head.pop("usage", None)
    text = reply.text or ""
    for start in range(0, len(text), reply.piece):
        yield json.loads(_piece(text[start : start + reply.piece], reply, body))
    if reply.after == "end":
        end = {"index": 0, "delta": {}, "finish_reason": reply.finish}
        yield {**head, "choices": [end]}
        if reply.usage is not None:
            yield {**head, "choices": [], "usage": whole["usage"]}


# --- a model that plays its part in a small run in crafter ------------------------------------

GATHER_WOOD = '''\
"""Gather wood: walk to the nearest tree and strike it."""

PATIENCE = 250


def run() -> str:
    begun = count("wood")
    for _ in range(PATIENCE):
        if count("wood") >= begun + 1:
            return f"holding {count('wood')} wood"
        step = approach("tree") or explore("grass")
        if step is None:
            return "no tree is known and nothing is left to explore"
        act(step)
    return "out of patience"
'''
TIRED = '''\
"""Rest instead of gathering."""


def run() -> str:
    act("noop")
    return "too tired to gather"
'''
MISTYPED_WOOD = GATHER_WOOD.replace('approach("tree")', 'approach("birch")')


class CrafterModel:
    """A script that answers planner, slow agent, fast agent and critic in crafter.

    The plan is to gather wood by code and to learn the rest. With `slips`, the first code has a
    type error, so that the check's findings must come back before it is mended. With `idles`, the
    first code does nothing, so that the critic must be heard first.
    """

    def __init__(self, *, slips: bool = False, idles: bool = False) -> None:
        self.slips = slips
        self.idles = idles

    def __call__(self, request: Request) -> Reply:
        """The reply to one request."""
        answers = {
            "SubtasksAnswer": self._subtasks,
            "SubActionsAnswer": self._sub_actions,
            "DividedAnswer": self._divided,
            "CodeAnswer": self._code,
            "LearningAnswer": self._learning,
            "CritiqueAnswer": self._critique,
        }
        content = json.dumps(answers[request.answer](request.text))
        return Reply(content, usage=(len(request.text) // 4, len(content) // 4))

    def _subtasks(self, text: str) -> dict[str, Any]:
        goal = _found(r"Success of the whole task: `([^`]*)`", text)
        wood = {"name": "wood", "goal": "hold wood", "success": "wood >= 1", "depends_on": []}
        rest = {
            "name": "the_rest",
            "goal": "reach the goal of the task",
            "success": goal,
            "depends_on": ["wood"],
        }
        return {"subtasks": [wood, rest]}

    def _divided(self, text: str) -> dict[str, Any]:
        frames = int(_found(r"All training together has (\d+) env frames", text))
        found = re.findall(r"^- `(wood|the_rest)` until `([^`]*)`: ", text, re.MULTILINE)
        return {
            "subtasks": [
                {"name": name, "sub_actions": self._actions_of(name, success, frames)}
                for name, success in found
            ]
        }

    def _sub_actions(self, text: str) -> dict[str, Any]:
        name = _found(r"Subtask `([a-z_0-9]*)`", text)
        success = _found(r"Success of the subtask: `([^`]*)`", text)
        frames = int(_found(r"(\d+) env frames of training", text))
        return {"sub_actions": self._actions_of(name, success, frames)}

    def _actions_of(self, name: str, success: str, frames: int) -> list[dict[str, Any]]:
        shared = {"precondition": "true", "interrupt": "health <= 2"}
        if name == "wood":
            action = {
                "name": "gather_wood",
                "mode": "code",
                "reason": "walking to a known tree is easy to write",
                "instruction": "Gather one more wood.",
                "success": "wood >= 1",
                "budget": 300,
                **shared,
            }
        else:
            action = {
                "name": "learn_the_rest",
                "mode": "rl",
                "reason": "the order of many small decisions is better learnt",
                "instruction": "Reach the goal of the task.",
                "success": success,
                "budget": frames,
                **shared,
            }
        return [action]

    def _code(self, text: str) -> dict[str, Any]:
        if self.slips and "birch" not in text:
            return {"code": MISTYPED_WOOD, "comment": "walks to a birch"}
        if self.idles and "too tired" not in text:
            return {"code": TIRED, "comment": "rests"}
        return {"code": GATHER_WOOD, "comment": "walks to the nearest tree"}

    def _learning(self, _text: str) -> dict[str, Any]:
        return {
            "actions": ["gather_wood"],
            "observation": [],
            "shaping": [{"predicate": "wood >= 2", "bonus": 0.5}],
            "reason": "Without wood there is no pickaxe.",
        }

    def _critique(self, _text: str) -> dict[str, Any]:
        return {
            "typical_failure": "",
            "text": "The code walks to a tree and strikes it.",
            "suggestion": "",
        }


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise LookupError(f"the prompt does not say {pattern!r}")
    return match[1]
