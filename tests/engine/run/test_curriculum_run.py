"""Whole runs with a curriculum: killed at any point they end as if nothing had happened."""

from __future__ import annotations

import json
import shutil

import pytest

from engine.run import curriculum
from engine.run.supervision import TrainingSupervisor
from skills_db.records import RunState


class Killed(BaseException):
    """Stands for the death of the process."""


def run_of(bench, **config):
    training = bench.create().config["training"]
    settings = {
        "approve": "all", "trials": 1, "frames": 1000, "eval_episodes": 2, "episode_length": 120,
        "training": {**training, "checkpoint_frames": 64, "curriculum": True, "skill_frames": 20},
        **config,
    }  # fmt: skip
    return bench.create("eat a cow", **settings)


def payloads(bench, run, kind):
    return [e.payload for e in bench.database.journal.events(run.id, kinds={kind}, limit=10_000)]


def curve(bench, run):
    """Figures by frame; those of frames that were played again replace the earlier ones."""
    clocks = {"sps", "eta_seconds"}
    told = {}
    for payload in payloads(bench, run, "metrics"):
        told[payload["frames"]] = {n: v for n, v in payload.items() if n not in clocks}
    return told


def ends(bench, run):
    """All that a finished run leaves, without what time decides."""
    done = bench.database.journal.run(run.id)
    assert done.state is RunState.FINISHED, done.detail
    evaluation = json.loads(json.dumps(done.result["evaluation"]))
    for part in (evaluation, evaluation["baseline"], evaluation["code_only"]):
        del part["seconds"]
    folder = bench.home / "runs" / run.id
    files = {path.name: path.read_bytes() for path in folder.glob("policy*")}
    return done.result["frames"], evaluation, files


@pytest.fixture
def whole(bench):
    run = run_of(bench)
    assert bench.work(run.id) == 0
    return run


def test_skills_first_then_the_task_with_them(bench, whole):
    frames, _, files = ends(bench, whole)
    # 448 = 7 updates of 64 within 500; then 512 = 8 within the 552 that are left of 1000.
    assert frames == 448 + 512
    assert set(files) == {"policy-survive.safetensors", "policy.safetensors"}
    first, second = payloads(bench, whole, "training_started")
    assert "survive" not in first["actions"]
    assert second["actions"].count("survive") == 1
    assert (second["frames_done"], second["frames_total"]) == (448, 1000)
    told = [payload["frames"] for payload in payloads(bench, whole, "metrics")]
    assert told == list(range(64, 961, 64))


def test_the_saved_skill_plays_without_the_run(bench, whole):
    shutil.rmtree(bench.home / "runs" / whole.id)
    journal = bench.database.journal
    config = {"skill": "eat_a_cow", "version": None, "seed": 7, "episode_length": 12}
    playing = journal.create_run(
        kind="play", task="eat_a_cow", world="crafter", agents="rules", config=config
    )
    assert bench.work(playing.id) == 0
    assert journal.run(playing.id).state is RunState.FINISHED


def test_killed_again_and_again_it_ends_the_same(bench, whole, monkeypatch):
    run = run_of(bench)
    report = TrainingSupervisor.report

    def dying_after(frames):
        def told(self, event):
            report(self, event)
            if event.KIND == "metrics" and self._session.count.frames > frames:
                # What was told in the last tenth of a second would else be lost with the process.
                self._session.flush()
                raise Killed

        return told

    def dying_at_the_end(session, skill):
        session.flush()
        raise Killed

    for where in (150, "end of the skill", 500, 700):
        with monkeypatch.context() as patch:
            if isinstance(where, int):
                patch.setattr(TrainingSupervisor, "report", dying_after(where))
            else:
                patch.setattr(curriculum, "_tell", dying_at_the_end)
            with pytest.raises(Killed):
                bench.work(run.id)
    assert bench.work(run.id) == 0
    assert ends(bench, run) == ends(bench, whole)
    assert curve(bench, run) == curve(bench, whole)
    done = [payload["frames_done"] for payload in payloads(bench, run, "training_started")]
    assert done == sorted(done)
    assert len(done) == 6
    lost = [payload["lost"] for payload in payloads(bench, run, "resumed")]
    assert lost[0].startswith("64 env frames"), lost


def test_fast_mode_is_the_same(bench, whole):
    run = run_of(bench, fast_mode=True)
    assert bench.work(run.id) == 0
    assert ends(bench, run) == ends(bench, whole)
    assert curve(bench, run) == curve(bench, whole)
