"""Trainings whose policy may choose an earlier trained one."""

from __future__ import annotations

import dataclasses

import pytest

from engine.errors import EngineError
from engine.events import TrainingMetrics
from engine.rl.control import Stopped
from engine.rl.evaluate import evaluate
from engine.rl.learned_action import LearnedAction
from engine.rl.policy_bundle import bound
from engine.rl.policy_file import NetworkPolicy, PolicySpec


@pytest.fixture
def find_gem(train, make_job, make_action):
    """Trained to get to the gem, with code that may help."""
    job = make_job(
        "find_gem",
        actions=(make_action("pace", "pace", success="false", max_frames=5),),
        goals={},
        task_success="on_gem",
        frames=1500,
        config={"end_on_success": True},
    )
    result, _ = train(job)
    return LearnedAction(
        "find_gem",
        result.policy,
        success="on_gem",
        precondition="x >= 1",
        interrupt="x >= 4",
        max_frames=12,
    )


@pytest.fixture
def job_with(make_job, make_action, find_gem):
    def make(name, **changes):
        actions = (find_gem, make_action("idle", "idle", max_frames=9))
        return make_job(name, actions=actions, **{"frames": 2500, **changes})

    return make


def test_an_earlier_policy_is_chosen_and_the_same_seed_is_the_same_curve(
    train, job_with, curve, same_weights
):
    one, events = train(job_with("one"))
    other, again = train(job_with("other"))
    assert curve(events) == curve(again)
    assert same_weights(one, other)
    assert one.policy == other.policy
    used = [event.usage.get("find_gem", 0.0) for event in events if _is_metrics(event)]
    assert max(used) > 0.1, used


def _is_metrics(event):
    return isinstance(event, TrainingMetrics)


@pytest.mark.parametrize("config", [{}, {"recheck_frames": 3}, {"segment_updates": 3}])
def test_resume_after_a_kill_is_the_same_training(
    train, job_with, killed, curve, same_weights, config
):
    whole, told = train(job_with("whole", config=config))
    job = job_with("killed", config=config)

    def die(event):
        if _is_metrics(event) and event.frames > 1200:
            raise killed

    with pytest.raises(killed):
        train(job, report=die)
    resumed, rest = train(job)
    assert same_weights(resumed, whole)
    assert 3 < len(curve(rest)) < len(curve(told))
    assert curve(rest) == curve(told)[-len(curve(rest)) :]


def test_what_is_left_plays_by_itself(train, job_with, world, sandbox):
    """From a spec as JSON and one blob of weights, as a library keeps them."""
    result, _ = train(job_with("kept"))
    figures = []
    spec = PolicySpec.model_validate_json(result.policy.spec.model_dump_json())
    for _ in range(2):
        policy = NetworkPolicy.load(spec, result.policy.weights)
        shown = set()
        found = evaluate(
            world, policy, bound(spec.actions, result.policy.weights), sandbox,
            seeds=range(2000, 2030), task_success="gems >= 3", goals={},
            on_frame=lambda _, caption, shown=shown: shown.add(caption),
        )  # fmt: skip
        figures.append(found.model_dump(exclude={"seconds"}))
        assert "find_gem" in shown
    assert figures[0] == figures[1]
    assert all(program.closed for program in sandbox.programs)


def test_another_earlier_policy_is_another_job(train, job_with):
    job = job_with("first", frames=300)
    train(job)
    skill = job.actions[0]
    policy = dataclasses.replace(
        skill.policy, spec=skill.policy.spec.model_copy(update={"seed": 9})
    )
    other = dataclasses.replace(skill, policy=policy)
    with pytest.raises(EngineError, match="other actions, goals or settings"):
        train(dataclasses.replace(job, actions=(other, *job.actions[1:]), frames=600))


def test_a_stop_inside_of_it_closes_everything(train, job_with):
    """`train` checks that every program was closed."""

    def stop(view, caption):
        if caption == "find_gem":
            raise Stopped("abort")

    result, _ = train(job_with("stopped"), on_frame=stop)
    assert result.ended == "abort"
