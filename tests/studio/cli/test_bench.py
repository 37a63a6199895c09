"""`bench`: from the command to the table, killed and resumed on the way; what it refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SMALL = (
    "bench", "crafter", "--task", "collect diamond", "--frames", "2000", "--seeds", "1",
    "--episodes", "4", "--length", "300", "--arms", "code,code+rl", "--jobs", "2",
    "--set", "n_envs=2", "--set", "batch_size=32", "--set", "n_epochs=1", "--set", "net_arch=[16]",
    "--set", "checkpoint_frames=300", "--set", "segment_updates=1",
)  # fmt: skip
PATIENCE = 280.0
"""Compiling takes a minute or two the first time, and longer on a loaded machine."""


def ended(folder: Path, how: signal.Signals, file: str, *options: str) -> tuple[int, str, str]:
    """Starts the benchmark, ends it once a file is there; exit code, stdout, stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "studio.cli", *SMALL, "--folder", str(folder), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        until = time.monotonic() + PATIENCE
        while not (folder / file).exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until, f"no {file}"
            time.sleep(0.1)
        process.send_signal(how)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    return process.returncode, out, err


def records(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in (folder / "jobs").iterdir()}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_and_run_again_it_goes_on_and_gives_the_table(cli, tmp_path):
    folder = tmp_path / "bench"
    checkpoint = "training/train-code_rl-0.safetensors"
    code, out, _ = ended(folder, signal.SIGKILL, checkpoint)
    assert (code, out) == (-signal.SIGKILL, "")
    kept = records(folder)
    assert "train-code_rl-0.json" not in kept

    answer = cli(*SMALL, "--folder", str(folder), "--output", "json")
    assert answer.code == 0, answer.err
    assert "resume  training code + RL, seed 0, from its checkpoint at" in answer.err
    assert kept.items() <= records(folder).items()  # finished work is not done again
    check_report(answer.json, folder)

    again = cli("bench", "--resume", str(folder))
    assert again.code == 0, again.err
    assert "begin" not in again.err
    assert "code + RL" in again.out
    assert max(map(len, again.out.splitlines())) <= 80
    assert cli("bench", "--resume", str(folder), "--report").out == again.out

    for other in (("--episodes", "5"), ("--set", "gamma=0.9")):
        refused = cli(*SMALL, *other, "--folder", str(folder))
        assert (refused.code, refused.out) == (2, "")
        assert "holds another benchmark" in refused.err
    assert "episodes: 4 -> 7" in cli("bench", "--resume", str(folder), "--episodes", "7").err


def test_ctrl_c_stops_at_a_safe_point_and_says_how_to_go_on(tmp_path):
    folder = tmp_path / "bench"
    options = ("--arms", "code", "--episodes", "2000", "--jobs", "1")
    code, out, err = ended(folder, signal.SIGINT, "logs/eval-code-1000000.log", *options)
    assert (code, out) == (130, ""), err
    assert "Stopping at the next safe point" in err
    assert f"bench --resume {folder}" in err
    assert records(folder) == {}


def check_report(report, folder):
    assert (report["complete"], report["folder"]) == (True, str(folder))
    assert report["config"]["episode_length"] == 300
    assert report["versions"]["crafter"] == "1.8.3"
    assert set(report["arms"]) == {"code", "code+rl"}
    for arm in report["arms"].values():
        assert arm["final"]["episodes"] == 4
        assert len(arm["final"]["success"]) == 22
        score = arm["final"]["score"]
        assert 0 < score["low"] <= score["high"] <= 100
    assert report["arms"]["code"]["seeds"][0]["training"] is None
    both = report["arms"]["code+rl"]
    training = both["seeds"][0]["training"]
    assert training["frames"] >= 2000
    assert training["ended"] == "budget"
    frames = [point["frames"] for point in training["curve"]]
    seconds = [point["seconds"] for point in training["curve"]]
    assert frames == sorted(set(frames))
    assert frames[-1] == training["frames"]
    assert seconds == sorted(seconds)
    assert seconds[-1] <= training["seconds"]
    assert both["standard_protocol"]["episodes"] == training["standard_protocol"]["episodes"] > 0
    assert len(both["usage"]) == 10
    assert all(0 < sum(part.values()) <= 1.001 for part in both["usage"])
    assert set(report["apart"]["code"]) >= {"score", "collect_diamond"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--arms", "code,magic"), "no arm 'magic'"),
        (("--arms", ","), "arms must be some of"),
        (("--task", "fly to the moon"), "fly to the moon"),
        (("--set", "gamma"), "says no value"),
        (("--set", "gamma=7"), "training.gamma"),
        (("--set", "nonsense=1"), "training.nonsense"),
        (("--seeds", "0"), "seeds"),
        (("--minutes", "0"), "minutes"),
        (("--resume", "nowhere"), "no bench.json"),
        (("--resume", "a", "--folder", "b"), "name two folders"),
        (("--report",), "no bench.json"),
    ],
)
def test_what_cannot_be_measured_is_bad_usage(cli, home, options, words):
    answer = cli("bench", "crafter", *options)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert not home.exists()


def test_an_unknown_world_is_bad_usage(cli):
    assert cli("bench", "minecraft").code == 2


def test_a_folder_that_cannot_be_written_is_said(cli, tmp_path):
    (tmp_path / "file").write_text("")
    answer = cli("bench", "crafter", "--folder", str(tmp_path / "file" / "bench"))
    assert (answer.code, answer.out) == (1, "")
    assert "cannot be written" in answer.err
    assert "--folder" in answer.err


def test_the_same_settings_have_the_same_folder_of_their_own(cli, home, monkeypatch):
    from engine.bench.scheduler import Outcome, Scheduler

    monkeypatch.setattr(Scheduler, "run", lambda self: Outcome({}, stopped=False))
    for seeds in ("1", "1", "2"):
        answer = cli("bench", "crafter", "--seeds", seeds, "--minutes", "5", "--output", "json")
        assert answer.code == 0, answer.err
        assert answer.json["complete"] is False
        assert (answer.json["config"]["frames"], answer.json["config"]["minutes"]) == (None, 5)
    folders = sorted((home / "bench").iterdir())
    assert len(folders) == 2
    assert all(json.loads((one / "bench.json").read_text())["config"] for one in folders)


def test_a_budget_is_a_million_frames_if_none_is_given(cli, home, monkeypatch):
    from engine.bench.scheduler import Outcome, Scheduler

    monkeypatch.setattr(Scheduler, "run", lambda self: Outcome({}, stopped=True))
    answer = cli("bench", "crafter", "--jobs", "1")
    assert (answer.code, answer.out) == (130, "")
    (folder,) = (home / "bench").iterdir()
    config = json.loads((folder / "bench.json").read_text())["config"]
    assert (config["frames"], config["minutes"], config["seeds"]) == (1_000_000, None, 3)
    assert (config["episodes"], config["eval_seed_start"]) == (200, 1_000_000)
    assert os.environ.get("OMP_NUM_THREADS") in (None, "1")
