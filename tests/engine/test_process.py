"""Launching the process of a run, and its heartbeat."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from engine import process
from engine.config import Home
from engine.process import (
    Heartbeat,
    how_it_ended,
    is_running,
    launch,
    log_file,
    log_tail,
    owner,
    scrubbed,
)
from skills_db.database import Database
from skills_db.records import RunState


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'studio.db'}"


@pytest.fixture
def database(url: str):
    with Database.open(url) as opened:
        yield opened


@pytest.fixture
def run(database: Database):
    return database.journal.create_run(
        kind="task", task="t", world="crafter", agents="rules", config={}
    )


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An interpreter that tells how it was started, instead of a run."""
    script = tmp_path / "python"
    script.write_text(
        f"#!{sys.executable}\n"
        "import os, sys\n"
        "print('arguments', *sys.argv[1:])\n"
        "print('session leader', os.getsid(0) == os.getpid())\n"
        "print('threads', os.environ.get('OMP_NUM_THREADS'))\n"
        "print('input', repr(sys.stdin.read()))\n"
        "print('folder', os.getcwd())\n"
        "sys.stdout.flush()\n"
        "print('last words', file=sys.stderr)\n"
    )
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    return script


def wait_for_end(pid: int) -> None:
    while is_running(pid):
        threading.Event().wait(0.01)


def test_a_launched_process_stands_alone(spy, tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    home = tmp_path / "home"
    pid = launch("some-run", db_url="sqlite:////x.db", home=home)
    wait_for_end(pid)
    said = log_file("some-run", home).read_text()
    assert f"arguments -m engine run some-run --home {home}" in said
    assert "session leader True" in said
    assert "threads 1" in said
    assert "input ''" in said
    assert f"folder {Home(home).run_folder('some-run')}" in said
    assert "last words" in said


def test_the_environment_is_passed_on(spy, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    wait_for_end(launch("some-run", db_url="x", home=tmp_path))
    assert "threads 3" in log_tail("some-run", tmp_path)


def test_the_log_is_never_overwritten(spy, tmp_path):
    for _ in range(2):
        wait_for_end(launch("some-run", db_url="x", home=tmp_path))
    assert log_file("some-run", tmp_path).read_text().count("last words") == 2
    assert log_tail("some-run", tmp_path, lines=1) == "last words"
    assert log_tail("other-run", tmp_path) == ""


def test_an_ended_process_leaves_no_zombie(spy, tmp_path):
    pid = launch("some-run", db_url="x", home=tmp_path)
    for _ in range(1000):
        if not psutil.pid_exists(pid):
            return
        threading.Event().wait(0.01)
    raise AssertionError(f"process {pid} is still there")


def test_a_home_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file"):
        launch("some-run", db_url="x", home=tmp_path / "file")


def test_each_owner_is_new():
    first, second = owner(), owner()
    assert first.pid == second.pid == os.getpid()
    assert first.token != second.token


def test_the_heart_beats_and_carries_the_frames(database, run, url):
    me = owner()
    claimed = database.journal.claim(run.id, me)
    beaten = threading.Event()
    beats = []

    def frames() -> int:
        beats.append(len(beats))
        if len(beats) > 3:
            beaten.set()
        return 1000 + len(beats)

    with Heartbeat(url, run.id, me.token, seconds=0.01, frames=frames) as heart:
        assert beaten.wait(20)
        assert not heart.lost
    found = database.journal.run(run.id)
    assert found.heartbeat_at > claimed.heartbeat_at
    assert found.frames > 1002


def test_a_lost_run_is_told_once(database, run, url):
    mine, other = owner(), owner()
    database.journal.claim(run.id, other)
    lost = threading.Event()
    with Heartbeat(url, run.id, mine.token, seconds=0.01, on_lost=lost.set) as heart:
        assert lost.wait(20)
    assert heart.lost


def test_a_lost_run_ends_its_process_politely(database, run, url):
    code = (
        "import signal, threading\n"
        "from engine.process import Heartbeat\n"
        "told = threading.Event()\n"
        "signal.signal(signal.SIGTERM, lambda *_: told.set())\n"
        f"with Heartbeat({url!r}, {run.id!r}, 'not-the-owner', seconds=0.01):\n"
        "    raise SystemExit(7 if told.wait(20) else 1)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 7


def test_a_database_that_fails_does_not_stop_the_heart(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    url = f"sqlite:///{tmp_path / 'file' / 'x.db'}"
    warned = threading.Event()

    class Handler(process.logging.Handler):
        def emit(self, record) -> None:
            if "no heartbeat" in record.getMessage():
                warned.set()

    handler = Handler()
    process._log.addHandler(handler)
    try:
        with Heartbeat(url, "run", "token", seconds=0.01, on_lost=lambda: None) as heart:
            assert warned.wait(20)
            assert not heart.lost
    finally:
        process._log.removeHandler(handler)


def test_a_killed_process_is_seen_as_interrupted(database, run, url, tmp_path):
    code = (
        "import sys, time\n"
        "from engine.process import Heartbeat, owner\n"
        "from skills_db.database import Database\n"
        "from skills_db.records import RunState\n"
        f"database = Database.open({url!r})\n"
        "me = owner()\n"
        f"database.journal.claim({run.id!r}, me)\n"
        f"database.journal.set_state({run.id!r}, RunState.TRAINING)\n"
        f"with Heartbeat({url!r}, {run.id!r}, me.token):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"ready\n"
        assert database.journal.run(run.id).seen_state is RunState.TRAINING
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert database.journal.run(run.id).seen_state is RunState.INTERRUPTED
    finally:
        child.kill()
        child.stdout.close()


def test_keys_and_passwords_are_no_part_of_a_scrubbed_environment():
    kept = {"PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "OMP_NUM_THREADS": "1", "TMPDIR": "/t",
            "CUDA_VISIBLE_DEVICES": "0", "NUMBA_CACHE_DIR": "/n"}  # fmt: skip
    secret = {"OPENAI_API_KEY": "k", "NVIDIA_API_KEY": "k", "PYTHON_TOKEN": "t", "LD_LLM": "k",
              "RLGPT_STUDIO_DB": "postgresql://me:pw@host", "AWS_PROFILE": "p"}  # fmt: skip
    assert scrubbed({**kept, **secret}, {"LD_LLM"}) == kept


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "with exit code 0"),
        (9, "with exit code 9"),
        (-signal.SIGKILL, "by SIGKILL, most likely because memory ran out"),
        (-signal.SIGABRT, "by signal 6 (SIGABRT)"),
        (-99, "by signal 99"),
    ],
)
def test_how_a_process_ended_is_said_in_words(code, words):
    assert how_it_ended(code) == words
