"""Trainings that were killed or stopped go on exactly as if nothing had happened."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import engine.rl.control as control_module
import engine.rl.train as train_module
from engine.events import CheckpointSaved, TrainingMetrics, TrainingStarted
from engine.rl.monitor import TrainingMonitor
from engine.rl.option_batch import OptionBatch


def of_kind(events, kind):
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture
def kill_after(killed):
    """A listener that dies once an update after so many frames is told of."""

    def make(frames):
        def report(event):
            if isinstance(event, TrainingMetrics) and event.frames > frames:
                raise killed

        return report

    return make


@pytest.fixture
def assert_same(curve, same_weights):
    """The resumed training ends as the whole one, and its figures are the end of the whole's."""

    def compare(resumed, whole):
        (ours, told), (theirs, expected) = resumed, whole
        assert same_weights(ours, theirs)
        assert curve(told) == curve(expected)[len(curve(expected)) - len(curve(told)) :]
        assert len(curve(told)) > 3
        for name in ("frames", "ended", "success_rate", "training_episodes", "training_success"):
            assert getattr(ours, name) == getattr(theirs, name), name

    return compare


SETTINGS = [
    {},
    {"interruption": "level"},
    {"recheck_frames": 2, "learning_rate_final": 1e-4, "ent_coef_final": 0.0},
    {"segment_updates": 3, "recheck_frames": 4},
    {"end_on_success": True, "target_kl": 0.01},
    {"normalize_rewards": True},
]


@pytest.mark.parametrize("config", SETTINGS)
def test_resume_after_a_kill_is_the_same_training(
    train, make_job, killed, kill_after, assert_same, monkeypatch, config
):
    cut = []
    interrupt_all = OptionBatch.interrupt_all

    def watch(self, **how):
        finished = interrupt_all(self, **how)
        cut.append(len(finished.places))
        return finished

    monkeypatch.setattr(OptionBatch, "interrupt_all", watch)
    whole = train(make_job("whole", config=config))
    assert np.mean(np.array(cut) > 0) > 0.5, "options run at the boundaries"
    job = make_job("killed", config=config)
    with pytest.raises(killed):
        train(job, report=kill_after(1200))
    resumed = train(job)
    assert 0 < of_kind(resumed[1], TrainingStarted)[0].frames_done <= 1200
    assert_same(resumed, whole)


def test_killed_again_and_again(train, make_job, killed, kill_after, assert_same):
    whole = train(make_job("whole", frames=2500))
    job = make_job("killed", frames=2500)
    for frames in (600, 601, 1300, 1900):
        with pytest.raises(killed):
            train(job, report=kill_after(frames))
    assert_same(train(job), whole)


def test_how_rare_the_parts_of_the_task_are_is_kept(
    train, make_job, killed, kill_after, assert_same
):
    task = "gems >= 1 and x >= 4"
    whole = train(make_job("whole", task_success=task))
    job = make_job("killed", task_success=task)
    with pytest.raises(killed):
        train(job, report=kill_after(1200))
    assert_same(train(job), whole)
    # The bonus is part of what is learnt: without it the training is another one.
    plain = train(make_job("plain", task_success=task, config={"part_bonus": 0.0}))
    with pytest.raises(AssertionError):
        assert_same(plain, whole)


def test_resume_in_the_middle_of_a_process_leaves_no_trace(
    train, make_job, killed, kill_after, assert_same
):
    """Another training runs in between, on the same global random streams."""
    whole = train(make_job("whole", frames=2000))
    job = make_job("killed", frames=2000)
    with pytest.raises(killed):
        train(job, report=kill_after(1000))
    train(make_job("other", frames=300, seed=9))
    assert_same(train(job), whole)


def test_a_budget_may_grow(train, make_job, same_weights):
    whole, _ = train(make_job("whole", frames=2000))
    train(make_job("grown", frames=1000))
    grown, _ = train(make_job("grown", frames=2000))
    assert same_weights(grown, whole)
    assert grown.training_success == whole.training_success
    again, events = train(make_job("grown", frames=2000))
    assert not of_kind(events, TrainingMetrics)
    assert (again.frames, again.ended) == (grown.frames, "budget")
    assert same_weights(again, grown)


@pytest.mark.parametrize(
    "config", [{}, {"learning_rate_final": 1e-4, "ent_coef_final": 0.1}, {"segment_updates": 3}]
)
def test_looking_at_a_training_leaves_no_trace(train, make_job, assert_same, config):
    whole = train(make_job("whole", config=config))
    job = make_job("looked_at", config=config)
    for stop_at in (1500, 2250):
        part, told = train(replace(job, stop_at=stop_at))
        assert (part.ended, part.frames % (128 * config.get("segment_updates", 1))) == ("look", 0)
        assert stop_at <= part.frames < stop_at + 128 * config.get("segment_updates", 1)
        assert of_kind(told, CheckpointSaved)[-1].frames == part.frames
        again, told = train(replace(job, stop_at=stop_at))
        assert not of_kind(told, TrainingMetrics)
        assert (again.frames, again.goals) == (part.frames, part.goals)
    assert_same(train(replace(job, stop_at=10_000)), whole)


def test_how_often_each_goal_was_reached_is_kept(train, make_job):
    goals = {"one": "gems >= 1", "never": "gems >= 999"}
    whole, _ = train(make_job("whole", goals=goals))
    assert whole.goals["one"] > whole.goals["never"] == 0.0
    train(make_job("parts", goals=goals, stop_at=1500))
    assert train(make_job("parts", goals=goals))[0].goals == whole.goals


def test_a_stop_inside_a_rollout_keeps_the_last_update(train, make_job, monkeypatch, assert_same):
    monkeypatch.setattr(control_module, "POLL_SECONDS", 0.0)
    seen = {"frames": 0, "order": "go"}

    def count(event):
        seen["frames"] = getattr(event, "frames", 0)

    def stop_soon(view, caption):
        # In the middle of an execution and of a rollout.
        if seen["frames"] > 1000 and caption == "idle" and view.episode_frames % 32:
            seen["order"] = "stop_and_keep"

    job = make_job("stopped")
    stopped, events = train(job, lambda: seen["order"], count, stop_soon)
    assert stopped.ended == "stop_and_keep"
    saved = of_kind(events, CheckpointSaved)[-1]
    last = of_kind(events, TrainingMetrics)[-1]
    assert saved.frames == stopped.frames == last.frames < 3000
    assert stopped.success_rate == last.success_rate
    resumed = train(job)
    assert of_kind(resumed[1], TrainingStarted)[0].frames_done == saved.frames
    assert_same(resumed, train(make_job("whole")))


class Clock:
    """One second for each frame of the first place."""

    def __init__(self, monkeypatch):
        self.now = 50.0
        monitor = partial(TrainingMonitor, clock=lambda: self.now)
        monkeypatch.setattr(train_module, "TrainingMonitor", monitor)

    def tick(self, view, caption):
        self.now += 1.0


def test_minutes_end_a_training_and_count_over_a_resume(
    train, make_job, killed, kill_after, assert_same, monkeypatch
):
    def minutes(name, report=None):
        clock = Clock(monkeypatch)
        # An update is 32 frames of each place.
        job = make_job(name, minutes=20 * 32 / 60 - 0.01)
        return train(job, report=report, on_frame=clock.tick)

    whole = minutes("whole")
    assert (whole[0].ended, whole[0].frames) == ("minutes", 20 * 128)
    with pytest.raises(killed):
        minutes("killed", kill_after(1200))
    assert_same(minutes("killed"), whole)
    again, events = minutes("killed")
    assert (again.ended, of_kind(events, TrainingMetrics)) == ("minutes", [])


def test_minutes_may_grow(train, make_job, monkeypatch, same_weights):
    def minutes(name, updates):
        clock = Clock(monkeypatch)
        return train(make_job(name, minutes=updates * 32 / 60 - 0.01), on_frame=clock.tick)[0]

    assert minutes("grown", 5).frames == 5 * 128
    grown = minutes("grown", 12)
    assert grown.frames == 12 * 128
    assert same_weights(grown, minutes("whole", 12))
