"""`kill -9` in the middle of training: the run is seen as interrupted, and resumes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skills_db.database import Database
from skills_db.records import RunState

BINARY = str(Path(sys.executable).with_name("rlgpt-studio"))

pytestmark = pytest.mark.e2e


def _environment(home):
    return {**os.environ, "RLGPT_STUDIO_HOME": str(home), "OMP_NUM_THREADS": "1"}


def _wait(condition, seconds=120.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def test_a_killed_run_is_interrupted_and_resumes_from_its_checkpoint(home):
    following = subprocess.Popen(
        [BINARY, "run", "make a wood pickaxe", "--headless", "--approve", "all",
         "--frames", "6000", "--output", "json"],
        env=_environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    database = _wait(
        lambda: (home / "studio.db").exists() and Database.open(f"sqlite:///{home}/studio.db")
    )
    journal = database.journal
    run = _wait(lambda: next(iter(journal.runs()), None))
    _wait(lambda: journal.events(run.id, kinds={"checkpoint"}))
    os.kill(journal.run(run.id).owner.pid, signal.SIGKILL)
    out, talk = following.communicate(timeout=60)
    assert following.returncode == 3, talk
    assert f"rlgpt-studio resume {run.id}" in talk
    assert json.loads(out)["run"] == run.id
    dead = journal.run(run.id)
    assert dead.state is RunState.TRAINING
    assert dead.seen_state is RunState.INTERRUPTED

    kept = journal.events(run.id, kinds={"checkpoint"})[-1].payload["frames"]
    again = subprocess.run(
        [BINARY, "resume", run.id, "--headless", "--output", "json"],
        env=_environment(home), capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    result = json.loads(again.stdout)
    assert result["state"] == "finished"
    assert result["frames"] >= 6000
    assert result["skills"]
    resumed = journal.events(run.id, kinds={"resumed"})
    assert len(resumed) == 1
    assert resumed[0].payload["phase"] == "train"
    assert resumed[0].payload["frames"] == kept
    restarted = journal.events(run.id, kinds={"training_started"})[-1].payload
    assert restarted["frames_done"] == kept
    seqs = [event.seq for event in journal.events(run.id, limit=100_000)]
    assert seqs == list(range(1, len(seqs) + 1))
    database.close()
