"""Training a policy behind a gate, and one that pays for leaving the plan."""

from __future__ import annotations

import numpy as np
import pytest

from engine.agents.executive import PlanExecutive
from engine.agents.plan import Plan, SubAction, Subtask
from engine.errors import ConfigError
from engine.events import TrainingMetrics, TrainingStarted
from engine.rl.decisions import Rechoice
from engine.rl.evaluate import evaluate
from engine.rl.policies import ExecutivePolicy
from engine.rl.policy_file import GatedPolicy, NetworkPolicy
from engine.rl.ppo import SmdpPPO
from engine.rl.reflex import Reflex

GATE = "x >= 3"


def of_kind(events, kind):
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture
def actions(make_action):
    return (make_action(success="false", max_frames=12), make_action("idle", "idle", due="false"))


@pytest.fixture
def plan(actions):
    steps = tuple(
        SubAction(
            name=action.name,
            mode="code",
            reason="simple",
            instruction="do it",
            success=action.success,
            due=action.due,
            budget=action.max_frames,
        )
        for action in actions
    )
    subtask = Subtask(name="gems", goal="three gems", success="gems >= 3", sub_actions=steps)
    return Plan(task="take three gems", world="meadow", author="rules", subtasks=(subtask,))


@pytest.fixture
def make_reflex_job(make_job, actions, plan):
    """A job that learns to run back to the west, whence the plan leads to the east again."""

    def make(name="checkpoint", reward=None, choices=(), **changes):
        reflex = Reflex(GATE, reward or {"x": -1.0, "off_plan": -0.05}, choices)
        return make_job(name, **{"actions": actions, "reflex": reflex, "plan": plan, **changes})

    return make


def test_what_a_job_with_a_reflex_is(make_reflex_job, make_job, actions):
    job = make_reflex_job()
    assert job.rechoice == Rechoice(alert=GATE)
    prints = {
        job.fingerprint,
        make_job(actions=actions).fingerprint,
        make_reflex_job(choices=("left",)).fingerprint,
        make_reflex_job(reward={"x": 1.0}).fingerprint,
        make_reflex_job(plan=job.plan.model_copy(update={"iteration": 1})).fingerprint,
    }
    assert len(prints) == 5, "none may go on from a checkpoint of another"
    assert make_reflex_job("elsewhere").fingerprint == job.fingerprint


def test_a_reflex_needs_a_plan(train, make_reflex_job):
    with pytest.raises(ConfigError, match="needs a plan"):
        train(make_reflex_job(plan=None))


@pytest.mark.parametrize(
    ("change", "named"),
    [({"choices": ("fly",)}, "fly"), ({"reward": {"health": 1.0}}, "health")],
)
def test_unknown_names_are_refused(train, make_reflex_job, change, named):
    with pytest.raises(ConfigError, match=named):
        train(make_reflex_job(**change))


@pytest.fixture
def watched(monkeypatch):
    """Columns in which the policy decided, and places times frames, of each rollout."""
    seen = []
    collect = SmdpPPO.collect

    def watch(self, batch, on_finished=None, guide=None, **how):
        before = self.num_timesteps
        collect(self, batch, on_finished, guide, **how)
        columns = self.decisions.samples.observations[:, 3].numpy() * 5
        seen.append((columns.round().astype(int), self.num_timesteps - before))

    monkeypatch.setattr(SmdpPPO, "collect", watch)
    return seen


def test_it_learns_behind_the_gate_what_it_is_paid_for(
    train, make_reflex_job, watched, world, sandbox, actions, plan
):
    config = {"plan_prior": 0.0}
    result, events = train(make_reflex_job(frames=6000, choices=("left", "right"), config=config))
    assert all((columns >= 3).all() and frames == 128 for columns, frames in watched)
    metrics = of_kind(events, TrainingMetrics)
    decided = [len(columns) for columns, _ in watched]
    assert [m.decisions for m in metrics] == np.cumsum(decided).tolist()
    assert max(decided) < 128, "code acts elsewhere"
    assert (metrics[-1].frames, result.ended) == (6016, "budget")
    spec = result.policy.spec
    assert (spec.gate, spec.choices, spec.interruption) == (GATE, ("left", "right"), "edge")

    def stays(network):
        """Mean number of frames behind the gate each time it opens."""
        code = ExecutivePolicy(PlanExecutive(plan, actions, world).fresh, actions, world)
        inside = []
        evaluate(
            world,
            GatedPolicy(network, code, world),
            actions,
            sandbox,
            seeds=range(1_000_000, 1_000_010),
            task_success="gems >= 3",
            goals={},
            places=1,
            on_frame=lambda view, caption: inside.append(view.player.term("x") >= 3),
        )
        openings = np.sum(np.diff(np.array(inside).astype(int)) == 1)
        return np.sum(inside) / openings

    trained = stays(NetworkPolicy.load(spec, result.policy.weights))
    assert trained < 0.6 * stays(NetworkPolicy.untrained(spec)), "it leaves the east"


@pytest.mark.parametrize("config", [{}, {"end_on_success": True, "plan_kl_coef": 0.2}])
def test_resume_after_a_kill_is_the_same_training(
    train, make_reflex_job, killed, curve, same_weights, config
):
    def kill(event):
        if isinstance(event, TrainingMetrics) and event.frames > 1200:
            raise killed

    whole, expected = train(make_reflex_job("whole", frames=2500, config=config))
    job = make_reflex_job("killed", frames=2500, config=config)
    with pytest.raises(killed):
        train(job, report=kill)
    resumed, told = train(job)
    assert 0 < of_kind(told, TrainingStarted)[0].frames_done <= 1200
    assert same_weights(resumed, whole)
    assert len(curve(told)) > 3
    assert curve(told) == curve(expected)[-len(curve(told)) :]
    assert resumed.training_success == whole.training_success
    assert resumed.success_rate == whole.success_rate


def test_a_stop_inside_a_rollout_is_the_same_training(train, make_reflex_job, same_weights, curve):
    seen = {"frames": 0, "order": "go"}

    def stop_soon(view, caption):
        seen["frames"] += 1
        if seen["frames"] > 300 and view.player.term("x") >= 3 and view.episode_frames % 32:
            seen["order"] = "stop_and_keep"

    job = make_reflex_job("stopped", frames=2500)
    stopped, _ = train(job, lambda: seen["order"], on_frame=stop_soon)
    assert stopped.ended == "stop_and_keep"
    assert 1000 < stopped.frames < 2500
    whole, expected = train(make_reflex_job("whole", frames=2500))
    resumed, told = train(job)
    assert same_weights(resumed, whole)
    assert curve(told) == curve(expected)[-len(curve(told)) :]


def test_without_coded_actions_the_reflex_is_still_learnt(train, make_reflex_job):
    result, events = train(make_reflex_job(frames=500, actions=()))
    assert (result.ended, result.policy.spec.observation_size) == ("budget", 6)
    assert of_kind(events, TrainingMetrics)[-1].plan_share is None


def test_to_leave_the_plan_may_cost_too_much(train, make_job, make_action):
    # The plan says to idle; what pays is to fetch the gem.
    actions = (make_action("idle", "idle", success="false", max_frames=3), make_action())
    config = {"ent_coef": 0.0, "plan_prior": 1.0}

    def shares(name, cost):
        job = make_job(name, actions=actions, config={**config, "plan_kl_coef": cost})
        shares = [event.plan_share for event in of_kind(train(job)[1], TrainingMetrics)]
        return np.mean(shares[:3]), np.mean(shares[-3:])

    (began, free), (same, bound) = shares("free", 0.0), shares("bound", 20.0)
    assert abs(began - same) < 0.1
    assert free < 0.5 * began
    assert bound == pytest.approx(same, abs=0.1)
