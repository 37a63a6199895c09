"""A whole run whose critic may see the last frame: what is sent, kept and played back."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.agents.last_frame import PICTURE_SIZE
from engine.config import LlmConfig, RunConfig
from engine.llm.failures import PICTURE_REFUSED
from engine.run.work import FAILED, FINISHED, work
from skills_db.database import Database
from skills_db.records import RunRecord

KEY = "sk-very-secret-0123456789"
ROLES = ["planner", "slow", "fast", "critic", "fast"]


@pytest.fixture
def model(fake: Any) -> Any:
    """Plans wood alone, by code; the first code idles, the second gathers."""

    class WoodModel(fake.CrafterModel):
        def _subtasks(self, text: str) -> dict[str, Any]:
            wood, rest = super()._subtasks(text)["subtasks"]
            return {"subtasks": [wood | {"success": rest["success"]}]}

        def _sub_actions(self, text: str) -> dict[str, Any]:
            (gather,) = super()._sub_actions(text)["sub_actions"]
            success = re.search(r"Success of the subtask: `([^`]*)`", text)
            assert success is not None
            return {"sub_actions": [gather | {"success": success[1]}]}

    return WoodModel(idles=True)


class Runs:
    """Runs in one database, worked on in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder / 'studio.db'}"
        self.database = Database.open(self.url)

    def create(self, base_url: str, agents: str = "llm", **llm: Any) -> RunRecord:
        config = RunConfig(
            task="collect wood",
            agents=agents,
            approve="all",
            frames=1_000,
            trials=2,
            eval_episodes=1,
            episode_length=200,
            llm=LlmConfig(base_url=base_url, model="test-model", api_key_env="TEST_KEY", **llm),
        )
        return self.database.journal.create_run(
            kind="task",
            task=config.task,
            world=config.world,
            agents=config.agents,
            config=config.model_dump(mode="json"),
        )

    def work(self, run: RunRecord) -> int:
        return work(run.id, self.url, self.folder)

    def calls(self, run: RunRecord) -> Any:
        return self.database.journal.calls(run.id)

    def warnings(self, run: RunRecord) -> list[str]:
        events = self.database.journal.events(run.id, limit=10_000, kinds={"log"})
        told = [e.payload["text"] for e in events if e.payload["level"] == "warning"]
        return [text for text in told if "costs" not in text]


Start = Callable[[str], Runs]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Makes databases, each in a folder of that name."""
    # The process installs signal handlers; a test process keeps its own.
    monkeypatch.setattr("engine.run.stop.signal.signal", lambda *_: None)
    monkeypatch.setenv("TEST_KEY", KEY)
    with ExitStack() as stack:

        def make(name: str) -> Runs:
            folder = tmp_path / name
            folder.mkdir()
            runs = Runs(folder)
            stack.callback(runs.database.close)
            return runs

        yield make


@pytest.fixture
def runs(start: Start) -> Runs:
    return start("runs")


def refusing(fake: Any, model: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The model behind a server that takes no picture, and right after one not even the key."""
    picture = fake.Reply(status=400, error="this model takes no images")
    after: list[Any] = []

    def script(request: Any) -> Any:
        if request.pictures:
            after.append(fake.Reply(status=401))
            return picture
        return after.pop() if after else model(request)

    return script


def test_the_critic_sees_how_the_first_code_failed(fake: Any, model: Any, runs: Runs) -> None:
    with fake.serving(model) as server:
        run = runs.create(server.base_url, images=True)
        assert runs.work(run) == FINISHED
        asked = server.requests
    calls = runs.calls(run)
    assert [call.role for call in calls] == ROLES
    assert [len(request.pictures) for request in asked] == [0, 0, 0, 1, 0]
    (png,) = asked[3].pictures
    image = Image.open(io.BytesIO(png))
    assert (image.format, image.mode, image.size) == ("PNG", "RGB", (PICTURE_SIZE, PICTURE_SIZE))
    assert len(np.unique(np.asarray(image).reshape(-1, 3), axis=0)) > 20
    mark = f"[picture: 288x288 PNG, sha256 {hashlib.sha256(png).hexdigest()}]"
    assert [mark in call.prompt for call in calls] == [False, False, False, True, False]
    assert runs.warnings(run) == []

    kept = b"".join(path.read_bytes() for path in runs.folder.rglob("*") if path.is_file())
    assert mark.encode() in kept
    for secret in (KEY.encode(), png[:24], base64.b64encode(png)[:60], b"base64"):
        assert secret not in kept


def test_a_run_with_a_picture_is_played_back_exactly(
    fake: Any, model: Any, start: Start, tmp_path: Path
) -> None:
    first = start("first")
    with fake.serving(model) as server:
        run = first.create(server.base_url, images=True)
        assert first.work(run) == FINISHED
    file = tmp_path / "calls.json"
    kept = [(call.role, call.prompt, call.reply) for call in first.calls(run)]
    names = ("role", "prompt", "reply")
    file.write_text(json.dumps([dict(zip(names, call, strict=True)) for call in kept]))
    # Another library: what the first run saved is not known there.
    second = start("second")
    again = second.create("http://127.0.0.1:9/v1", agents=f"replay:{file}", images=True)
    assert second.work(again) == FINISHED
    assert [(call.role, call.prompt, call.reply) for call in second.calls(again)] == kept
    assert second.warnings(again) == []


def test_no_picture_is_drawn_where_images_are_off(
    fake: Any, model: Any, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_: object) -> None:
        raise AssertionError("nobody wants to see this")

    monkeypatch.setattr("engine.agents.last_frame.FirstFailure.look", look)
    with fake.serving(model) as server:
        run = runs.create(server.base_url)
        assert runs.work(run) == FINISHED
        assert [request.pictures for request in server.requests] == [[]] * 5
    assert [call.role for call in runs.calls(run)] == ROLES
    assert not any("icture" in call.prompt for call in runs.calls(run))


def test_a_refused_picture_is_told_once_however_often_the_run_goes_on(
    fake: Any, model: Any, runs: Runs
) -> None:
    with fake.serving(refusing(fake, model)) as server:
        run = runs.create(server.base_url, images=True)
        assert runs.work(run) == FAILED
        assert [len(request.pictures) for request in server.requests] == [0, 0, 0, 1, 0]
        assert runs.work(run) == FINISHED
        assert [len(request.pictures) for request in server.requests[5:]] == [0, 0]
    assert [call.role for call in runs.calls(run)] == [*ROLES[:3], *["critic"] * 3, "fast"]
    (warning,) = runs.warnings(run)
    assert PICTURE_REFUSED in warning
    assert "this model takes no images" in warning
