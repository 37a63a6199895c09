"""Trainings that end before their budget: the task is learnt, or learning has broken down."""

from __future__ import annotations

import math

import pytest
import safetensors.torch
import torch

from engine.events import CheckpointSaved, LogLine, TrainingMetrics
from engine.rl.confidence import lower_bound
from engine.rl.divergence import HALVINGS, WORST_KL, Guard
from engine.rl.monitor import TrainingMonitor
from engine.rl.policy_file import NetworkPolicy
from engine.rl.ppo import SmdpPPO


def of_kind(events, kind):
    return [event for event in events if isinstance(event, kind)]


def logs(events):
    return [(event.level, event.text) for event in of_kind(events, LogLine)]


def is_finite(result):
    weights = safetensors.torch.load(result.policy.weights)
    return all(bool(torch.isfinite(value).all()) for value in weights.values())


def test_it_ends_once_the_target_is_surely_reached(train, make_job, monkeypatch):
    seen = []
    updated = TrainingMonitor.updated

    def watch(self, model):
        metrics = updated(self, model)
        seen.append(self.successes)
        return metrics

    monkeypatch.setattr(TrainingMonitor, "updated", watch)
    changes = {"task_success": "gems >= 1", "frames": 6000, "config": {"target_success": 0.6}}
    job = make_job(**changes)
    result, events = train(job)
    assert result.ended == "target"
    assert result.frames == of_kind(events, TrainingMetrics)[-1].frames < 6000
    assert lower_bound(*seen[-1]) >= 0.6
    assert all(lower_bound(*successes) < 0.6 for successes in seen[:-1])
    assert any(successes / max(of, 1) >= 0.6 for successes, of in seen[:-1]), "luck is not enough"
    assert of_kind(events, CheckpointSaved)[-1].frames == result.frames
    again, events = train(job)
    assert (again.ended, again.frames) == ("target", result.frames)
    assert not of_kind(events, TrainingMetrics)


def test_a_target_that_is_not_reached_changes_nothing(train, make_job, same_weights):
    changes = {"task_success": "gems >= 9", "frames": 800}
    aimed, _ = train(make_job("aimed", config={"target_success": 0.1}, **changes))
    plain, _ = train(make_job("plain", **changes))
    assert aimed.ended == plain.ended == "budget"
    assert same_weights(aimed, plain)


@pytest.fixture
def cursed(world, monkeypatch):
    """A meadow whose reward is not a number where the test says so."""

    def curse(when):
        make_env = world.make_env

        def made(length=None):
            env = make_env(length)
            step = env.step

            def cursed_step(action):
                observation, reward, *rest = step(action)
                return observation, math.nan if when(env) else reward, *rest

            monkeypatch.setattr(env, "step", cursed_step)
            return env

        monkeypatch.setattr(world, "make_env", made)

    return curse


def once(frame):
    """True for the so manieth frame of all."""
    frames = []

    def when(env):
        frames.append(1)
        return len(frames) == frame

    return when


# With one batch per update the loss is seen to be no number; with more, torch refuses the second.
@pytest.mark.parametrize("batch_size", [64, 1000])
@pytest.mark.parametrize("n_epochs", [1, 4])
def test_an_update_that_breaks_is_undone(train, make_job, cursed, batch_size, n_epochs):
    cursed(once(300))
    result, events = train(
        make_job(frames=1500, config={"batch_size": batch_size, "n_epochs": n_epochs})
    )
    assert (result.ended, result.frames) == ("budget", 1536)
    ((level, text),) = logs(events)
    assert level == "warning"
    assert text.startswith("an update was undone: ")
    assert text.endswith("; the learning rate is halved")
    assert is_finite(result)
    assert len(of_kind(events, TrainingMetrics)) == 12


def test_from_then_on_it_learns_half_as_fast(train, make_job, cursed, monkeypatch):
    rates = []
    learn = SmdpPPO.train

    def watch(self):
        rates.append(self.slow_down)
        learn(self)
        rates[-1] = (rates[-1], self.policy.optimizer.param_groups[0]["lr"])

    monkeypatch.setattr(SmdpPPO, "train", watch)
    cursed(once(300))
    # One batch: an update that torch refuses half-way is not counted by `watch`.
    train(make_job(frames=640, config={"batch_size": 1000, "n_epochs": 1}))
    assert rates == [(1.0, 2e-3)] * 3 + [(0.5, 1e-3)] * 2


def test_what_was_undone_left_no_trace_in_the_weights(train, make_job, cursed, same_weights):
    good, _ = train(make_job("good", frames=256))
    cursed(once(300))
    bad, events = train(make_job("bad", frames=384))
    assert logs(events)
    assert same_weights(bad, good), "the third update was undone"


def test_an_undone_update_survives_a_kill(train, make_job, cursed, killed, curve, same_weights):
    # Now and then, depending on nothing but the episode.
    cursed(lambda env: env.count == 7 and env.at == (2, 3))

    def kill(event):
        if isinstance(event, TrainingMetrics) and event.frames > 1400:
            raise killed

    config = {"batch_size": 1000, "checkpoint_frames": 200}
    whole, expected = train(make_job("whole", frames=2500, config=config))
    assert 1 <= len(logs(expected)) <= HALVINGS
    job = make_job("killed", frames=2500, config=config)
    with pytest.raises(killed):
        train(job, report=kill)
    resumed, told = train(job)
    assert whole.ended == resumed.ended
    assert 0 < len(curve(told)) < len(curve(expected))
    assert curve(told) == curve(expected)[-len(curve(told)) :]
    assert same_weights(resumed, whole)


def test_what_keeps_diverging_ends_with_the_last_good_policy(train, make_job, cursed, same_weights):
    good, _ = train(make_job("good", frames=256))
    frames = []

    def when(env):
        frames.append(1)
        return len(frames) > 256

    cursed(when)
    job = make_job("bad", frames=100_000)
    result, events = train(job)
    assert result.ended == "diverged"
    assert [level for level, _ in logs(events)] == ["warning"] * HALVINGS + ["error"]
    assert logs(events)[-1][1].endswith("the last good policy is kept")
    assert result.frames == (2 + HALVINGS) * 128, "the update that ended it does not count"
    assert is_finite(result)
    assert same_weights(result, good)
    NetworkPolicy.load(result.policy.spec, result.policy.weights)
    assert of_kind(events, CheckpointSaved)[-1].frames == result.frames
    again, events = train(job)
    assert (again.ended, again.frames) == ("diverged", result.frames)
    assert [level for level, _ in logs(events)] == ["error"]


def test_a_policy_thrown_far_is_undone(train, make_job):
    result, events = train(make_job(frames=1500, config={"learning_rate": 1.0, "n_epochs": 2}))
    assert any(f"more than {WORST_KL}" in text for _, text in logs(events))
    assert is_finite(result)
    calm, events = train(make_job("calm", frames=1500))
    assert (calm.ended, logs(events)) == ("budget", [])


@pytest.fixture
def model(begun, make_action):
    model = SmdpPPO("MlpPolicy", begun(make_action()), n_steps=16, batch_size=16, device="cpu")
    return model


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("train/approx_kl", 1.5, "approx_kl is 1.50, more than 1.0"),
        ("train/approx_kl", math.nan, "approx_kl is nan"),
        ("train/loss", math.inf, "loss is inf"),
        ("train/value_loss", math.nan, "value_loss is nan"),
    ],
)
def test_what_a_guard_calls_bad(model, begun, make_action, name, value, reason):
    guard = Guard(model)
    model.collect(begun(make_action()))
    before = {key: tensor.clone() for key, tensor in model.policy.state_dict().items()}
    assert guard.update() is None
    assert not torch.equal(model.policy.action_net.weight, before["action_net.weight"])
    model.logger.record(name, value)
    assert guard.why_bad() == reason
    guard.undo()
    assert all(
        torch.equal(tensor, before[key]) for key, tensor in model.policy.state_dict().items()
    )
    assert not model.policy.optimizer.state_dict()["state"], "no moments either"


def test_a_guard_does_not_hide_other_errors(model, begun, make_action, monkeypatch):
    model.collect(begun(make_action()))

    def fail(*_, **__):
        raise ValueError("a defect")

    monkeypatch.setattr(model.policy, "evaluate_actions", fail)
    with pytest.raises(ValueError, match="a defect"):
        Guard(model).update()
