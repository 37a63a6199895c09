"""Training on the meadow: progress, pause, stop, kill and an exact resume."""

from __future__ import annotations

import itertools
import json

import pytest
import safetensors.torch
import torch

import engine.rl.control as control_module
from engine.errors import ConfigError, EngineError
from engine.events import CheckpointSaved, LogLine, TrainingMetrics, TrainingStarted
from engine.rl.checkpoint import (
    Checkpoint,
    DamagedCheckpoint,
    load_checkpoint,
    previous_file,
    save_checkpoint,
)
from engine.rl.policy_file import NetworkPolicy
from engine.rl.train import Trainer, TrainingJob


class Killed(BaseException):
    """Stands for the death of the process."""


@pytest.fixture
def make_job(world, make_action, tiny, tmp_path):
    def make(name="checkpoint", *, frames=3000, config=None, **changes):
        settings = {
            "actions": (make_action(max_frames=6), make_action("idle", "idle", max_frames=9)),
            "goals": {"one": "gems >= 1"},
            "task_success": "gems >= 3",
            "seed": 5,
            "episode_length": None,
            **changes,
        }
        return TrainingJob(
            world=world,
            config=tiny.model_copy(update=config or {}),
            frames=frames,
            checkpoint_file=tmp_path / f"{name}.safetensors",
            **settings,
        )

    return make


@pytest.fixture
def train(sandbox):
    """Run a job; the result and the events."""

    def run(job, control=lambda: "go", report=None, on_frame=None):
        events = []

        def keep(event):
            events.append(event)
            if report is not None:
                report(event)

        trainer = Trainer(job, sandbox, report=keep, control=control, on_frame=on_frame)
        return trainer.run(), events

    return run


def of_kind(events, kind):
    return [event for event in events if isinstance(event, kind)]


def assert_same_weights(one, other):
    ours, theirs = (safetensors.torch.load(result.policy.weights) for result in (one, other))
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        assert torch.equal(value, theirs[name]), name


def test_it_learns_and_tells(train, make_job):
    job = make_job(frames=8000)
    result, events = train(job)
    assert isinstance(events[0], TrainingStarted)
    assert events[0].actions == (*job.world.primitives, "fetch_gem", "idle")
    assert events[0].coded_actions == 2
    metrics = of_kind(events, TrainingMetrics)
    assert metrics[-1].frames == result.frames >= 8000
    assert [m.frames for m in metrics] == sorted({m.frames for m in metrics})
    assert metrics[0].decisions == 4 * 32
    assert metrics[-1].episodic_return > 3.0
    assert metrics[-1].success_rate == result.success_rate > 0.5
    assert 0 < metrics[-1].coded_share <= 1
    assert all(m.sps > 0 and m.eta_seconds >= 0 for m in metrics)
    assert (result.ended, result.policy.spec.frames) == ("budget", result.frames)


def test_resume_after_a_kill_is_the_same_training(train, make_job):
    whole, _ = train(make_job("whole"))

    def kill(event):
        if isinstance(event, TrainingMetrics) and event.frames > 1200:
            raise Killed

    job = make_job("killed")
    with pytest.raises(Killed):
        train(job, report=kill)
    resumed, events = train(job)
    assert 0 < events[0].frames_done <= 1200
    assert resumed.frames == whole.frames
    assert_same_weights(resumed, whole)
    assert resumed.success_rate == whole.success_rate


def test_a_budget_may_grow(train, make_job):
    whole, _ = train(make_job("whole", frames=2000))
    train(make_job("grown", frames=1000))
    grown, _ = train(make_job("grown", frames=2000))
    assert_same_weights(grown, whole)
    again, events = train(make_job("grown", frames=2000))
    assert not of_kind(events, TrainingMetrics)
    assert (again.frames, again.ended) == (grown.frames, "budget")
    assert_same_weights(again, grown)


def test_a_stop_inside_a_rollout_keeps_the_last_update(train, make_job, monkeypatch):
    monkeypatch.setattr(control_module, "POLL_SECONDS", 0.0)
    seen = {"frames": 0, "order": "go"}

    def count(event):
        seen["frames"] = getattr(event, "frames", 0)

    def stop_soon(env, caption):
        if seen["frames"] > 1000 and caption == "idle":
            seen["order"] = "stop_and_keep"

    job = make_job("stopped")
    stopped, events = train(job, lambda: seen["order"], count, stop_soon)
    assert stopped.ended == "stop_and_keep"
    saved = of_kind(events, CheckpointSaved)[-1]
    assert saved.frames == stopped.frames == of_kind(events, TrainingMetrics)[-1].frames < 3000
    resumed, events = train(job)
    assert events[0].frames_done == saved.frames
    assert_same_weights(resumed, train(make_job("whole"))[0])


def test_abort_returns_and_writes_nothing(train, make_job):
    job = make_job(config={"checkpoint_frames": 10**6})
    result, events = train(job, lambda: "abort")
    assert result.ended == "abort"
    assert not job.checkpoint_file.exists()
    assert not of_kind(events, CheckpointSaved)


def test_pause_waits_and_goes_on(train, make_job, monkeypatch):
    monkeypatch.setattr(control_module, "POLL_SECONDS", 0.001)
    orders = ["go"] * 20 + ["pause"] * 3
    asked = []

    def control():
        asked.append(1)
        return orders.pop(0) if orders else "go"

    result, _ = train(make_job(), control)
    assert len(asked) > 23
    assert result.ended == "budget"
    assert_same_weights(result, train(make_job("whole"))[0])


def test_checkpoints_come_as_often_as_asked(train, make_job):
    job = make_job(frames=3000, config={"checkpoint_frames": 800})
    result, events = train(job)
    saved = [event.frames for event in of_kind(events, CheckpointSaved)]
    assert saved[-1] == result.frames
    assert len(saved) >= 3
    assert all(later - earlier >= 800 for earlier, later in itertools.pairwise(saved[:-1]))
    assert json.loads(load_checkpoint(job.checkpoint_file).state)["frames"] == result.frames
    assert previous_file(job.checkpoint_file).exists()


def test_a_damaged_checkpoint_goes_on_from_the_one_before(train, make_job):
    whole, _ = train(make_job("whole"))
    job = make_job("damaged")
    train(job)
    job.checkpoint_file.write_bytes(job.checkpoint_file.read_bytes()[:5000])
    result, events = train(job)
    assert "going on from the one before" in of_kind(events, LogLine)[0].text
    assert 0 < of_kind(events, TrainingStarted)[0].frames_done < result.frames
    assert_same_weights(result, whole)
    job.checkpoint_file.write_bytes(b"")
    previous_file(job.checkpoint_file).write_bytes(b"")
    with pytest.raises(DamagedCheckpoint):
        train(job)


def test_another_job_is_refused(train, make_job):
    train(make_job(frames=500))
    with pytest.raises(EngineError, match="other actions, goals or settings"):
        train(make_job(frames=1000, goals={}))


def test_a_checkpoint_of_another_version_is_refused(train, make_job):
    job = make_job(frames=500)
    train(job)
    whole = load_checkpoint(job.checkpoint_file)
    state = json.loads(whole.state)
    del state["envs"]
    save_checkpoint(job.checkpoint_file, Checkpoint(whole.tensors, json.dumps(state)))
    with pytest.raises(EngineError, match="does not fit this version"):
        train(job)


def test_a_rollout_smaller_than_a_batch_is_refused(train, make_job):
    with pytest.raises(ConfigError, match="128 decisions"):
        train(make_job(config={"batch_size": 500}))


def test_the_untrained_baseline_is_where_training_began(train, make_job):
    result, _ = train(make_job(frames=500, config={"learning_rate": 1e-30}))
    began = NetworkPolicy.untrained(result.policy.spec).network.state_dict()
    for name, value in safetensors.torch.load(result.policy.weights).items():
        assert torch.allclose(value, began[name], rtol=0, atol=1e-20), name
