"""Jobs in processes: all get done, one that dies takes no other with it, none outlives its parent.

Each test runs a script of its own, as `spawn` needs a main module with the work in it. What a job
does is read from a file, so that a second run of the same script can do otherwise.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.bench.jobs import all_jobs
from engine.bench.store import BenchFile, BenchStore

PATIENCE = 120.0
SCRIPT = """
import json, os, resource, signal, sys, time
from pathlib import Path
from engine.bench.jobs import TrainJob, all_jobs
from engine.bench.messages import EvaluationProgress, JobStopped, TrainingProgress
from engine.bench.records import EpisodeRecord, EvaluationRecord, TrainingRecord
from engine.bench.scheduler import JobBegan, JobGoesOn, Scheduler, Status
from engine.bench.store import BenchStore
from engine.errors import EngineError

def keep(job, store):
    if isinstance(job, TrainJob):
        sha256 = store.keep_policy(job, job.key.encode())
        store.finish(job, TrainingRecord(
            arm=job.arm, seed=job.seed, frames=1, seconds=1.0, ended="budget", policy_spec={},
            policy_sha256=sha256, training_success={}, training_episodes=0, usage=(), curve=(),
            peak_memory_gb=0.0, source="x"))
        return
    sha256 = store.training(job.needs).policy_sha256 if job.needs else None
    episodes = tuple(
        EpisodeRecord(seed=s, achievements=(), reward=0.0, frames=1, task_success=False)
        for s in range(job.start, job.stop))
    store.finish(job, EvaluationRecord(arm=job.arm, seed=job.seed, policy_sha256=sha256,
                                       episodes=episodes, seconds=1.0, source="x"))

def work(job, config, store, link):
    does = json.loads((store.folder / "does.json").read_text()).get(job.key, "finish")
    (store.folder / f"{job.key}.began").write_text(str(os.getpid()))
    print("noise on stdout from", job.key)
    if does == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if does == "exit":
        print("last words", flush=True)
        os._exit(7)
    if does == "tell limits":
        kinds = resource.RLIMIT_AS, resource.RLIMIT_CORE
        print("limits", json.dumps([resource.getrlimit(kind)[1] for kind in kinds]))
    if does == "fail":
        raise EngineError("it cannot be done", "mend it")
    if does == "break":
        raise RuntimeError("a defect")
    if does == "wait":
        link.tell(TrainingProgress(500, 1.0))
        while not link.stopping():
            time.sleep(0.05)
        raise JobStopped
    if does == "hang":
        while True:
            time.sleep(1)
    keep(job, store)
    if does == "die after":
        os.kill(os.getpid(), signal.SIGKILL)

def main():
    store = BenchStore(Path(sys.argv[1]))
    presses, told = [], []
    signal.signal(signal.SIGTERM, lambda *_: presses.append(1))
    def tell(news):
        if isinstance(news, Status):
            told.append(["status", len(news.running), news.finished, news.total])
        else:
            told.append([type(news).__name__, news.job.key])
    outcome = Scheduler(store, store.read().config, int(sys.argv[2]), tell, lambda: len(presses),
                        work, status_seconds=0.1).run()
    print(json.dumps({
        "stopped": outcome.stopped,
        "failures": {job.key: [f.message, f.hint] for job, f in outcome.failures.items()},
        "told": told, "threads": os.environ.get("OMP_NUM_THREADS"),
    }))

if __name__ == "__main__":
    main()
"""


@dataclass
class Bench:
    store: BenchStore
    keys: list[str]
    script: Path
    started: list[subprocess.Popen[str]]

    def does(self, **behaviour: str) -> None:
        """What jobs do instead of finishing, by key with `_` for `-`."""
        known = {key.replace("-", "_"): key for key in self.keys}
        found = {known[name]: what for name, what in behaviour.items()}
        (self.store.folder / "does.json").write_text(json.dumps(found))

    def start(self, parallel: int = 2) -> subprocess.Popen[str]:
        command = [sys.executable, str(self.script), str(self.store.folder), str(parallel)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "3"}
        )
        self.started.append(process)
        return process

    def run(self, parallel: int = 2) -> dict[str, Any]:
        return self.result(self.start(parallel))

    def result(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        out, _ = process.communicate(timeout=PATIENCE)
        return dict(json.loads(out))  # nothing but the result is on stdout

    def pid_of(self, key: str) -> int:
        """The process that works on a job, once it has begun."""
        path = self.store.folder / f"{key}.began"
        wait_for(lambda: path.exists() and path.read_text() != "")
        return int(path.read_text())

    def unfinished(self) -> list[str]:
        jobs = all_jobs(self.store.read().config)
        return [job.key for job in jobs if not self.store.is_finished(job)]


def wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.fixture
def bench(tmp_path, make_config) -> Iterator[Bench]:
    config = make_config(seeds=1, episodes=30, arms=("code", "code+rl"))
    store = BenchStore(tmp_path / "bench")
    store.open(BenchFile(config=config, versions={}, plan_sha256="x"))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    made = Bench(store, [job.key for job in all_jobs(config)], script, [])
    made.does()
    yield made
    for process in made.started:
        process.kill()
        process.wait()


def test_all_jobs_get_done_and_none_twice(bench):
    found = bench.run()
    assert (found["failures"], found["stopped"]) == ({}, False)
    assert bench.unfinished() == []
    assert found["threads"] == "3"  # the parent's own setting is as it was
    began = [key for kind, key, *_ in found["told"] if kind == "JobBegan"]
    assert sorted(began) == sorted(bench.keys)
    assert began[0] == "train-code_rl-0"
    assert "noise" in (bench.store.folder / "logs" / "train-code_rl-0.log").read_text()
    assert bench.run()["told"] == []


def test_a_job_that_cannot_be_done_keeps_the_others(bench):
    bench.does(train_code_rl_0="die", eval_code_1000000="exit", eval_code_1000025="fail")
    found = bench.run()["failures"]
    assert set(found) == {"train-code_rl-0", "eval-code-1000000", "eval-code-1000025"}
    message, hint = found["train-code_rl-0"]
    assert "memory ran out" in message
    assert "fewer --jobs" in hint
    assert "exit code 7:" in found["eval-code-1000000"][0]
    assert "last words" in found["eval-code-1000000"][0]
    assert found["eval-code-1000025"] == ["it cannot be done", "mend it"]
    # What needs the training that failed is not tried; the same command does the rest.
    assert bench.unfinished() == ["train-code_rl-0", "eval-code-1000000", "eval-code-1000025",
                                  "eval-code_rl-0-1000000", "eval-code_rl-0-1000025"]  # fmt: skip
    bench.does()
    again = bench.run(parallel=1)
    assert again["failures"] == {}
    assert bench.unfinished() == []


def test_a_process_that_dies_after_its_record_is_written_has_done_its_job(bench):
    bench.does(train_code_rl_0="die after", eval_code_1000025="break")
    found = bench.run()
    assert list(found["failures"]) == ["eval-code-1000025"]
    assert found["failures"]["eval-code-1000025"][0] == "RuntimeError: a defect"
    log = (bench.store.folder / "logs" / "eval-code-1000025.log").read_text()
    assert "Traceback" in log
    assert bench.unfinished() == ["eval-code-1000025"]


def test_a_wish_to_stop_lets_jobs_reach_a_safe_point(bench):
    bench.does(train_code_rl_0="wait")
    process = bench.start()
    pid = bench.pid_of("train-code_rl-0")
    wait_for(lambda: len(bench.unfinished()) == 3)
    process.send_signal(signal.SIGTERM)
    found = bench.result(process)
    assert (found["stopped"], found["failures"]) == (True, {})
    assert is_gone(pid)
    assert ["JobGoesOn", "train-code_rl-0"] in found["told"]
    assert ["status", 2, 0, 5] in found["told"]
    assert bench.unfinished() == ["train-code_rl-0", "eval-code_rl-0-1000000",
                                  "eval-code_rl-0-1000025"]  # fmt: skip


def test_a_second_wish_ends_even_a_job_that_hangs(bench):
    bench.does(train_code_rl_0="hang")
    process = bench.start()
    pid = bench.pid_of("train-code_rl-0")
    process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    found = bench.result(process)
    assert found["stopped"]
    assert is_gone(pid)


def test_no_process_outlives_a_parent_that_is_killed(bench):
    bench.does(train_code_rl_0="hang", eval_code_1000000="hang")
    process = bench.start()
    pids = [bench.pid_of("train-code_rl-0"), bench.pid_of("eval-code-1000000")]
    process.kill()
    process.wait()
    wait_for(lambda: all(map(is_gone, pids)))
    bench.does()
    assert bench.run()["failures"] == {}
    assert bench.unfinished() == []


def test_processes_of_fast_mode_are_limited(tmp_path, make_config, bench):
    store = BenchStore(tmp_path / "fast")
    config = make_config(seeds=1, episodes=1, arms=("code",), fast_mode=True)
    store.open(BenchFile(config=config, versions={}, plan_sha256="x"))
    keys = [job.key for job in all_jobs(config)]
    fast = Bench(store, keys, bench.script, bench.started)
    fast.does(**{key.replace("-", "_"): "tell limits" for key in keys})
    assert fast.run()["failures"] == {}
    for key in keys:
        told = (store.folder / "logs" / f"{key}.log").read_text()
        memory, core = json.loads(told.partition("limits ")[2].splitlines()[0])
        assert core == 0
        assert 0 < memory < 2**36
