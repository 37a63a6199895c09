"""Training on the meadow: what it learns and tells, its schedules, its checkpoints."""

from __future__ import annotations

import itertools
import json
from collections import Counter

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
from engine.rl.monitor import TrainingMonitor
from engine.rl.option_batch import OptionBatch
from engine.rl.policy_file import NetworkPolicy
from engine.rl.ppo import SmdpPPO


def of_kind(events, kind):
    return [event for event in events if isinstance(event, kind)]


def test_it_learns_and_tells(train, make_job):
    job = make_job(frames=8000)
    result, events = train(job)
    assert isinstance(events[0], TrainingStarted)
    assert events[0].actions == (*job.world.primitives, "fetch_gem", "idle")
    assert events[0].coded_actions == 2
    metrics = of_kind(events, TrainingMetrics)
    assert metrics[-1].frames == result.frames >= 8000
    assert [m.frames for m in metrics] == list(range(128, result.frames + 1, 128))
    assert 0 < metrics[0].decisions <= 128
    assert metrics[-1].episodic_return > 3.0
    assert metrics[-1].success_rate == result.success_rate > 0.5
    assert 0 < metrics[-1].coded_share <= 1
    assert metrics[-1].plan_share >= metrics[0].plan_share, "the plan is to fetch the gem"
    assert metrics[-1].usage["fetch_gem"] > metrics[0].usage["fetch_gem"]
    assert all(m.sps > 0 and m.eta_seconds >= 0 for m in metrics)
    assert (result.ended, result.policy.spec.frames) == ("budget", result.frames)


def test_a_policy_is_trained_and_stored_with_its_choices(train, make_job):
    job = make_job(frames=500, choices=("take", "idle"))
    assert job.fingerprint != make_job(frames=500).fingerprint
    result, events = train(job)
    assert result.policy.spec.choices == ("take", "idle")
    metrics = of_kind(events, TrainingMetrics)
    assert 0 < metrics[-1].plan_share <= 1
    with pytest.raises(ConfigError, match="cannot choose fly"):
        train(make_job("other", choices=("fly",)))


def test_decisions_and_usage_are_told_as_they_are(train, make_job, monkeypatch):
    taken, used = [], Counter()
    collect, advance = SmdpPPO.collect, OptionBatch.advance

    def count(self, batch, on_finished=None, **how):
        collect(self, batch, on_finished, **how)
        taken.append(len(self.decisions))

    def watch(self):
        for index in self._chosen[self._open]:
            used[self.options.names[index]] += 1
        return advance(self)

    monkeypatch.setattr(SmdpPPO, "collect", count)
    monkeypatch.setattr(OptionBatch, "advance", watch)
    _, events = train(make_job(frames=500))
    metrics = of_kind(events, TrainingMetrics)
    assert [m.decisions for m in metrics] == list(itertools.accumulate(taken))
    for name in ("fetch_gem", "idle"):
        assert sum(m.usage.get(name, 0) * 128 for m in metrics) == pytest.approx(
            used[name], abs=0.1
        )
    assert all(set(m.usage) <= {"fetch_gem", "idle"} for m in metrics)


def test_training_success_is_over_all_episodes_ever_finished(train, make_job, monkeypatch):
    summaries = []
    see = TrainingMonitor.see

    def watch(self, finished):
        summaries.extend(finished.summaries)
        see(self, finished)

    monkeypatch.setattr(TrainingMonitor, "see", watch)
    result, _ = train(make_job(frames=6000))
    unlocked = sum("take_gem" in summary.achievements for summary in summaries)
    assert len(summaries) > 110, "more than the running averages look back on"
    assert result.training_episodes == len(summaries)
    assert result.training_success == {"take_gem": unlocked / len(summaries)}
    assert 0 < unlocked < len(summaries)
    recent = [summary.task_success for summary in summaries[-100:]]
    assert result.success_rate == sum(recent) / 100


def test_without_a_finished_episode_there_is_no_rate(train, make_job):
    result, events = train(make_job(frames=200, episode_length=10_000))
    assert (result.success_rate, result.training_episodes) == (None, 0)
    assert result.training_success == {"take_gem": 0.0}
    assert of_kind(events, TrainingMetrics)[-1].episodic_return is None


def test_the_same_seed_gives_the_same_curve(train, make_job, curve, same_weights):
    first, told = train(make_job("first", frames=1000))
    second, again = train(make_job("second", frames=1000))
    other, else_ = train(make_job("other", frames=1000, seed=6))
    assert curve(told) == curve(again) != curve(else_)
    assert same_weights(first, second)
    assert not same_weights(first, other)


@pytest.fixture
def rates(monkeypatch):
    """Learning rate and entropy coefficient of each update."""
    seen = []
    train = SmdpPPO.train

    def watch(self):
        train(self)
        seen.append((self.policy.optimizer.param_groups[0]["lr"], self.ent_coef))

    monkeypatch.setattr(SmdpPPO, "train", watch)
    return seen


def test_schedules_run_linearly_to_their_final_values(train, make_job, rates):
    change = {"learning_rate": 0.01, "learning_rate_final": 0.002}
    change |= {"ent_coef": 0.05, "ent_coef_final": 0.01}
    train(make_job("even", frames=640, config=change))
    steps = [(0.01 - 0.008 * done, 0.05 - 0.04 * done) for done in (0.2, 0.4, 0.6, 0.8, 1.0)]
    assert rates == [pytest.approx(step) for step in steps]
    rates.clear()
    train(make_job("zero", frames=600, config={"learning_rate_final": 0.0, "ent_coef_final": 0.0}))
    assert rates[-1] == (0.0, 0.0), "though the last rollout ends beyond the budget"
    rates.clear()
    train(make_job("constant", frames=600, config={"learning_rate": 0.01, "ent_coef": 0.03}))
    assert set(rates) == {(0.01, 0.03)}


def test_a_rollout_need_not_be_whole_batches(train, make_job):
    for batch_size in (50, 500):
        result, _ = train(
            make_job(f"by{batch_size}", frames=500, config={"batch_size": batch_size})
        )
        assert (result.ended, result.frames) == ("budget", 512)


def test_training_episodes_may_end_with_the_task(train, make_job):
    changes = {"task_success": "gems >= 1", "frames": 2000}
    ends, told = train(make_job("ends", config={"end_on_success": True}, **changes))
    goes, other = train(make_job("goes", **changes))
    assert ends.training_episodes > goes.training_episodes
    short, long = (of_kind(events, TrainingMetrics)[-1] for events in (told, other))
    assert short.episodic_length < long.episodic_length
    assert short.episodic_return <= 1.0 < long.episodic_return


def test_abort_returns_and_writes_nothing(train, make_job):
    job = make_job(config={"checkpoint_frames": 10**6})
    result, events = train(job, lambda: "abort")
    assert result.ended == "abort"
    assert not job.checkpoint_file.exists()
    assert not of_kind(events, CheckpointSaved)


def test_pause_waits_and_goes_on(train, make_job, monkeypatch, same_weights):
    monkeypatch.setattr(control_module, "POLL_SECONDS", 0.001)
    orders = ["go"] * 20 + ["pause"] * 3
    asked = []

    def control():
        asked.append(1)
        return orders.pop(0) if orders else "go"

    result, _ = train(make_job(frames=1500), control)
    assert len(asked) > 23
    assert result.ended == "budget"
    assert same_weights(result, train(make_job("whole", frames=1500))[0])


def test_checkpoints_come_as_often_as_asked(train, make_job):
    job = make_job(frames=3000, config={"checkpoint_frames": 800})
    result, events = train(job)
    saved = [event.frames for event in of_kind(events, CheckpointSaved)]
    assert saved == [896, 1792, 2688, 3072]
    state = json.loads(load_checkpoint(job.checkpoint_file).state)
    assert state["counters"]["frames"] == result.frames
    assert previous_file(job.checkpoint_file).exists()


def test_a_damaged_checkpoint_goes_on_from_the_one_before(train, make_job, same_weights):
    whole, _ = train(make_job("whole", frames=1500))
    job = make_job("damaged", frames=1500)
    train(job)
    job.checkpoint_file.write_bytes(job.checkpoint_file.read_bytes()[:5000])
    result, events = train(job)
    assert "going on from the one before" in of_kind(events, LogLine)[0].text
    assert 0 < of_kind(events, TrainingStarted)[0].frames_done < result.frames
    assert same_weights(result, whole)
    job.checkpoint_file.write_bytes(b"")
    previous_file(job.checkpoint_file).write_bytes(b"")
    with pytest.raises(DamagedCheckpoint):
        train(job)


@pytest.mark.parametrize(
    "change", [{"goals": {}}, {"seed": 6}, {"config": {"n_envs": 5}}, {"config": {"gamma": 0.9}}]
)
def test_another_job_is_refused(train, make_job, change):
    train(make_job(frames=300))
    with pytest.raises(EngineError, match="other actions, goals or settings"):
        train(make_job(frames=600, **change))


def test_a_checkpoint_of_another_version_is_refused(train, make_job):
    job = make_job(frames=500)
    train(job)
    whole = load_checkpoint(job.checkpoint_file)
    state = json.loads(whole.state)
    del state["places"]
    save_checkpoint(job.checkpoint_file, Checkpoint(whole.tensors, json.dumps(state)))
    with pytest.raises(EngineError, match="does not fit this version"):
        train(job)


def test_the_untrained_baseline_is_where_training_began(train, make_job):
    result, _ = train(make_job(frames=500, config={"learning_rate": 1e-30}))
    began = NetworkPolicy.untrained(result.policy.spec).network.state_dict()
    for name, value in safetensors.torch.load(result.policy.weights).items():
        assert torch.allclose(value, began[name], rtol=0, atol=1e-20), name
