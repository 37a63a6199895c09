"""Runs in fast mode: the same figures as without it, and processes that die at any time."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import psutil

from engine.process import launch
from skills_db.records import RunState

PATIENCE = 120.0
WORKER = "engine.run.training_worker"


def wait_until(holds):
    until = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)
    return found


def workers_of(pid: int) -> list[psutil.Process]:
    children = psutil.Process(pid).children()
    return [child for child in children if WORKER in child.cmdline()]


def fast_run(bench, **config):
    settings = {"approve": "all", "fast_mode": True, "trials": 1, **config}
    return bench.create("collect wood", **settings)


def saves_often(bench) -> dict[str, object]:
    training = bench.create().config["training"]
    return {**training, "checkpoint_frames": 64}


def figures(bench, run) -> dict[str, object]:
    done = bench.database.journal.run(run.id)
    assert done.state is RunState.FINISHED, done.detail
    evaluation = done.result["evaluation"]
    for part in (evaluation, evaluation["baseline"], evaluation["code_only"]):
        del part["seconds"]
    return {"frames": done.result["frames"], "evaluation": evaluation}


def curve(bench, run) -> list[dict[str, object]]:
    events = bench.database.journal.events(run.id, kinds={"metrics"}, limit=10_000)
    clocks = {"sps", "eta_seconds"}
    return [{n: v for n, v in e.payload.items() if n not in clocks} for e in events]


def logs(bench, run) -> list[str]:
    return [e.payload["text"] for e in bench.database.journal.events(run.id, kinds={"log"})]


def weights(bench, run) -> bytes:
    return Path(bench.home, "runs", run.id, "policy.safetensors").read_bytes()


def test_figures_are_the_same_in_either_executor(bench):
    monty, fast = fast_run(bench, fast_mode=False), fast_run(bench)
    assert bench.work(monty.id) == bench.work(fast.id) == 0
    assert figures(bench, fast) == figures(bench, monty)
    assert curve(bench, fast) == curve(bench, monty)
    assert weights(bench, fast) == weights(bench, monty)
    told = "\n".join(logs(bench, fast))
    assert "fast mode runs `" in told
    assert "GiB of memory" in told
    assert "fast mode" not in "\n".join(logs(bench, monty))
    assert {"training_started", "metrics", "checkpoint", "device"} <= set(bench.kinds(fast.id))
    assert workers_of(os.getpid()) == []


def test_a_training_process_that_is_killed_fails_the_run_which_goes_on(bench):
    run = fast_run(bench, training=saves_often(bench))
    codes = []
    thread = threading.Thread(target=lambda: codes.append(bench.work(run.id)))
    thread.start()
    wait_until(lambda: "checkpoint" in bench.kinds(run.id))
    workers_of(os.getpid())[0].kill()
    thread.join(PATIENCE)
    assert codes == [3]
    journal = bench.database.journal
    failed = journal.events(run.id, kinds={"failed"})[-1].payload
    assert failed["message"].startswith("the training process ended by SIGKILL")
    assert f"rlgpt-studio resume {run.id}" in failed["hint"]
    assert journal.run(run.id).state is RunState.FAILED
    assert bench.work(run.id) == 0
    assert journal.events(run.id, kinds={"training_started"})[-1].payload["frames_done"] > 0
    assert journal.run(run.id).state is RunState.FINISHED


def test_a_run_that_is_killed_takes_its_training_process_with_it(bench):
    run = fast_run(bench, frames=5_000_000)
    pid = launch(run.id, db_url=bench.url, home=bench.home)
    try:
        wait_until(lambda: "metrics" in bench.kinds(run.id))
        (worker,) = workers_of(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
    worker.wait(5)  # raises if it lives on


def test_a_run_that_is_stopped_keeps_a_checkpoint_and_goes_on(bench):
    run = fast_run(bench, frames=3_000)
    journal, codes = bench.database.journal, []
    thread = threading.Thread(target=lambda: codes.append(bench.work(run.id)))
    thread.start()
    wait_until(lambda: "metrics" in bench.kinds(run.id))
    journal.send(run.id, "pause")
    wait_until(lambda: journal.run(run.id).state is RunState.PAUSED)
    journal.send(run.id, "abort")
    thread.join(PATIENCE)
    assert codes == [130]
    assert journal.run(run.id).state is RunState.STOPPED
    assert workers_of(os.getpid()) == []
    kept = journal.events(run.id, kinds={"checkpoint"})[-1].payload["frames"]
    assert bench.work(run.id) == 0
    assert journal.events(run.id, kinds={"training_started"})[-1].payload["frames_done"] == kept
