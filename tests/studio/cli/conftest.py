"""The command line called in this process, with a stand-in for the process of a run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skills_db.database import Database
from studio.cli import main


@dataclass
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The whole of stdout as one JSON object: anything else on it is a failure."""
        return json.loads(self.out)


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    def call(*arguments: str) -> Answer:
        capfd.readouterr()
        code = main(arguments)
        out, err = capfd.readouterr()
        return Answer(code, out, err)

    return call


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def database(home: Path) -> Iterator[Database]:
    with Database.open(f"sqlite:///{home / 'studio.db'}") as opened:
        yield opened


PROCESS = """
import os, signal, sys, threading, time
from engine.process import Heartbeat, owner
from skills_db.database import Database
from skills_db.records import RunState
run_id, url = sys.argv[1:3]
database = Database.open(url)
journal = database.journal
me = owner()
run = journal.claim(run_id, me)
def leave(state, **values):
    journal.set_state(run_id, state, **values)
    journal.release(run_id, me.token)
    sys.exit(0)
def say(text):
    journal.append(run_id, [("log", {"level": "info", "text": text})])
"""


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Says what the process of a run does: Python text that follows the contract of a run."""
    started: list[subprocess.Popen[bytes]] = []

    def does(text: str) -> None:
        script = tmp_path / "process.py"
        script.write_text(PROCESS + text)

        def launch(run_id: str, *, db_url: str, home: Path) -> int:
            from engine.process import log_file

            log = log_file(run_id, home)
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("ab") as output:
                child = subprocess.Popen(
                    [sys.executable, str(script), run_id, db_url], stdout=output, stderr=output
                )
            started.append(child)
            return child.pid

        monkeypatch.setattr("engine.process.launch", launch)

    yield does
    for child in started:
        child.kill()
        child.wait()
