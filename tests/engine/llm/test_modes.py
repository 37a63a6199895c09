"""The mode of answer a server takes: found once, remembered, and found anew where it must be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from engine.llm.modes import ModeMemory

GOOD = '{"fruit": "apple"}'
Serve = Callable[..., Any]
Make = Callable[..., Any]


class Basket(BaseModel):
    fruit: str


def ask(one: Any) -> str:
    basket: Basket = one.client.ask("slow", "You count.", "How many?", Basket)
    return basket.fruit


def modes(server: Any) -> list[str]:
    return [request.mode for request in server.requests]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "llm_modes.json"


@pytest.mark.parametrize("status", [400, 422, 501])
def test_a_refused_mode_is_not_tried_by_the_next_run(
    serve: Serve, asker: Make, fake: Any, file: Path, status: int
) -> None:
    server = serve(fake.Reply(status=status, error="json_schema?"), GOOD)
    ask(asker(server.base_url, modes_file=file))
    ask(asker(server.base_url, modes_file=file))
    assert modes(server) == ["json_schema", "json_object", "json_object"]
    ask(asker(server.base_url, modes_file=file, model="another"))
    assert modes(server)[3:] == ["json_schema"]


def test_a_fault_that_may_pass_is_not_remembered(
    serve: Serve, asker: Make, fake: Any, file: Path
) -> None:
    server = serve(fake.Reply(status=500), GOOD)
    ask(asker(server.base_url, modes_file=file))
    ask(asker(server.base_url, modes_file=file))
    assert modes(server) == ["json_schema", "json_object", "json_schema"]


def test_a_remembered_mode_that_is_refused_falls_to_the_next(
    serve: Serve, asker: Make, fake: Any, file: Path
) -> None:
    server = serve(fake.Reply(status=400, error="no json_object either"), GOOD)
    ModeMemory(file).put(server.base_url, "test-model", "json_object")
    ask(asker(server.base_url, modes_file=file))
    assert modes(server) == ["json_object", "prompt"]
    assert ModeMemory(file).get(server.base_url, "test-model") == "prompt"


def test_nothing_is_remembered_where_nothing_worked(
    serve: Serve, asker: Make, fake: Any, file: Path
) -> None:
    server = serve(fake.Reply(status=400, error="context length exceeded"))
    with pytest.raises(Exception, match="context length"):
        ask(asker(server.base_url, modes_file=file))
    assert not file.exists()


@pytest.mark.parametrize("text", ["", "{", "[1]", "\x00", '{"http://x m": "poetry"}'])
def test_a_damaged_file_is_found_out_anew_and_mended(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    memory = ModeMemory(file)
    assert memory.get("http://x", "m") is None
    memory.put("http://x/", "m", "prompt")
    assert ModeMemory(file).get("http://x", "m") == "prompt"


def test_a_file_that_cannot_be_written_stops_nothing(
    serve: Serve, asker: Make, tmp_path: Path
) -> None:
    (tmp_path / "in the way").write_text("")
    assert ask(asker(serve(GOOD).base_url, modes_file=tmp_path / "in the way" / "m.json"))
