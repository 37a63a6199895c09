"""Who is asked to learn what, for how many frames, with which actions; by a learner that obeys."""

from __future__ import annotations

from pathlib import Path

import pytest
import safetensors.numpy

from engine.agents.plan import Plan, SubAction, Subtask
from engine.agents.rules.agents import rules_agents
from engine.config import RunConfig, TrainingConfig
from engine.events import CheckpointSaved, TrainingMetrics, TrainingStarted
from engine.rl.learned_action import LearnedEntry
from engine.rl.policy_bundle import bound
from engine.rl.policy_file import NetworkPolicy, PolicySpec
from engine.run.curriculum import within
from engine.run.learner import Trained
from engine.run.learning import train
from engine.run.progress import Progress
from engine.run.session import RunStopped
from engine.run.supervision import TrainingSupervisor
from engine.worlds.registry import get_world

SMALL = TrainingConfig(n_envs=2, n_steps=32, net_arch=(4,), curriculum=True, skill_frames=50)
"""An update is 64 frames."""


def learnt(name, budget, **changes):
    fields = {"reason": "r", "instruction": "i", "success": "wood >= 1", **changes}
    return SubAction(name=name, mode="rl", budget=budget, **fields)


class Obedient:
    """Trains for as long as it is told, or as the test says, and leaves an untrained network."""

    def __init__(self):
        self.asked = []
        self.frames = {}
        self.ended = {}
        self.rates = {}

    def train(self, request, supervisor, policies=b""):
        name = request.checkpoint_file.stem.removeprefix("checkpoint").removeprefix("-") or "last"
        job = request.job(policies)
        self.asked.append((name, request, job))
        frames = self.frames.get(name, request.frames)
        supervisor.report(
            TrainingStarted(
                frames_total=request.frames, frames_done=0, actions=(), coded_actions=0,
                device="cpu", parameters=1,
            )
        )  # fmt: skip
        features = 0 if not job.actions else 4 * len(job.actions)
        spec = PolicySpec(
            world="crafter", observation_size=9 + features, primitives=job.world.primitives,
            actions=request.actions, net_arch=(4,), plan_prior=1.0, frames=frames, seed=0,
            task_success=request.task_success,
        )  # fmt: skip
        from engine.rl.policy_bundle import bundle

        network = NetworkPolicy.untrained(spec).network.state_dict()
        own = {key: value.numpy() for key, value in network.items()}
        ended = self.ended.get(name, "budget")
        rate = self.rates.get(name, 0.9)
        return Trained(frames, ended, rate, spec, bundle(own, job.actions))


class Desk:
    """What a session gives to the learning phase."""

    def __init__(self, plan, folder, config=SMALL):
        self.config = RunConfig(task="t", frames=10_000, training=config)
        self.world = get_world("crafter")
        self.learner = Obedient()
        self.progress = Progress(plan=plan)
        self.folder = folder
        self.checkpoint_file = folder / "checkpoint.safetensors"
        self.policy_file = folder / "policy.safetensors"
        self.count = type("Count", (), {"frames": 0})()
        self.context = type("Context", (), {"task": type("Task", (), {"success": "wood >= 9"})()})()
        self.agents = rules_agents(self.world)
        self.events, self.logs, self.states = [], [], []
        self.wish = "go"

    def emit(self, *events):
        self.events += events

    def log(self, text, level="info"):
        self.logs.append((level, text))

    def save(self, *events, **changes):
        self.progress = self.progress.with_(**changes)

    def enter(self, state, detail=""):
        self.states.append((state.value, detail))

    def control(self):
        return self.wish

    def training_stopped(self):
        pass

    def checkpoint_stop(self):
        pass

    @property
    def asked(self):
        """Names, frames and names of the actions of all trainings."""
        return [
            (name, request.frames, tuple(action.name for action in job.actions))
            for name, request, job in self.learner.asked
        ]


@pytest.fixture
def make_desk(tmp_path: Path):
    def make(*sub_actions, **changes):
        subtask = Subtask(name="all", goal="g", success="wood >= 9", sub_actions=sub_actions)
        plan = Plan(task="t", world="crafter", author="me", subtasks=(subtask,))
        return Desk(plan, tmp_path, **changes)

    return make


@pytest.fixture
def desk(make_desk):
    return make_desk(
        learnt("first", 1000),
        learnt("second", 200, success="stone >= 1", precondition="wood >= 1", due="wood >= 2"),
        learnt("third", 500, success="iron >= 1"),
    )


def test_each_within_its_budget_and_the_last_for_what_is_left(desk):
    train(desk)
    # Whole updates of 64 frames: 960 of 1000, 192 of 200, and 512 of the 548 left of 1700.
    assert desk.asked == [
        ("first", 960, ()),
        ("second", 192, ("first",)),
        ("last", 512, ("first", "second")),
    ]
    assert desk.progress.training_frames == desk.count.frames == 960 + 192 + 512 <= 1700
    assert desk.states == [("training", name) for name in ("first", "second", "third")]
    assert desk.progress.phase == "evaluate"


def test_each_is_trained_on_its_own_success_and_the_last_on_the_task(desk):
    train(desk)
    requests = [request for _, request, _ in desk.learner.asked]
    assert [r.task_success for r in requests] == ["wood >= 1", "stone >= 1", "wood >= 9"]
    assert [r.goals for r in requests[:2]] == [{}, {}]
    assert list(requests[2].goals) == ["first", "second", "third"]
    assert len({r.checkpoint_file for r in requests}) == 3


def test_an_episode_of_a_skill_ends_with_its_success(make_desk):
    config = SMALL.model_copy(update={"end_on_success": False, "target_success": 0.8})
    desk = make_desk(learnt("first", 640), learnt("second", 640), config=config)
    train(desk)
    configs = [request.config for _, request, _ in desk.learner.asked]
    assert [config.end_on_success for config in configs] == [True, False]
    assert [config.target_success for config in configs] == [0.8, 0.8]


def test_each_keeps_to_the_choices_of_its_own_sub_action(make_desk):
    desk = make_desk(
        learnt("first", 1000, choices=("noop", "second", "third")),
        learnt("second", 1000),
        learnt("third", 1000, choices=("second",)),
    )
    train(desk)
    found = [job.choices for _, _, job in desk.learner.asked]
    assert found == [("noop",), (), ("second",)], "what is not there yet is left out"


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (("sleep",), ("noop", "move_left"), ("noop", "move_left", "sleep")),
        (("sleep",), (), ()),
        (("first",), ("second",), ()),
    ],
)
def test_one_policy_for_all_has_the_choices_of_each(make_desk, first, second, found):
    config = SMALL.model_copy(update={"curriculum": False})
    actions = (learnt("first", 640, choices=first), learnt("second", 640, choices=second))
    desk = make_desk(*actions, config=config)
    train(desk)
    ((_, request, job),) = desk.learner.asked
    assert (request.choices, job.choices) == (found, found)
    told = [text for level, text in desk.logs if level == "warning"]
    assert bool(told) == (first == ("first",)), "nothing is left of them, and that is said"


def test_what_an_early_end_leaves_goes_to_the_last(desk):
    desk.learner.frames, desk.learner.ended = {"first": 64}, {"first": "target"}
    train(desk)
    assert desk.asked[-1][:2] == ("last", (1700 - 64 - 192) // 64 * 64)


def test_an_earlier_skill_has_the_words_of_its_sub_action(desk):
    train(desk)
    last = desk.learner.asked[-1][1]
    first, second = last.actions
    assert isinstance(second, LearnedEntry)
    assert (first.success, first.precondition, first.due) == ("wood >= 1", "true", "true")
    assert (second.success, second.precondition, second.due) == (
        "stone >= 1",
        "wood >= 1",
        "wood >= 2",
    )
    assert first.max_frames == second.max_frames == 50


def test_the_plan_does_not_lead_to_a_skill_that_does_not_work(desk):
    desk.learner.rates = {"first": 0.3, "second": None}
    train(desk)
    assert [action.due for action in desk.learner.asked[-1][1].actions] == ["false", "false"]
    warnings = [text for level, text in desk.logs if level == "warning"]
    assert "`first` did not come to work (30% success)" in warnings[0]
    assert "(no episode ended)" in warnings[1]


def test_a_budget_too_small_to_learn_from_is_told(make_desk):
    desk = make_desk(learnt("first", 15), learnt("second", 40), learnt("third", 640))
    train(desk)
    # Eight frames of each of two environments are the least: 40 make a rollout of 20.
    assert desk.asked == [("second", 40, ()), ("last", (695 - 40) // 64 * 64, ("second",))]
    assert [r.config.n_steps for _, r, _ in desk.learner.asked] == [20, 32]
    assert "`first` is not learnt by itself: 15 frames are too few" in desk.logs[0][1]


def test_stop_and_keep_ends_all_training(desk):
    desk.learner.frames, desk.learner.ended = {"first": 128}, {"first": "stop_and_keep"}
    train(desk)
    assert desk.asked == [("first", 960, ()), ("last", 0, ("first",))]
    assert (desk.progress.training_frames, desk.progress.phase) == (128, "evaluate")


def test_a_stopped_run_goes_on_with_the_skill_it_was_at(desk):
    desk.learner.ended = {"second": "abort"}
    with pytest.raises(RunStopped):
        train(desk)
    assert [skill.name for skill in desk.progress.learned] == ["first"]
    assert desk.progress.training_frames == 960 + 192
    desk.learner.ended = {}
    train(desk)
    assert [name for name, *_ in desk.asked] == ["first", "second", "second", "last"]
    assert desk.asked[1] == desk.asked[2]
    assert desk.progress.training_frames == 960 + 192 + 512


@pytest.mark.parametrize("harm", ["gone", "damaged"])
def test_a_lost_skill_is_made_anew(desk, harm):
    desk.learner.ended = {"second": "abort"}
    with pytest.raises(RunStopped):
        train(desk)
    path = desk.folder / "policy-first.safetensors"
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1])
    desk.learner.ended = {}
    train(desk)
    assert [name for name, *_ in desk.asked] == ["first", "second", "first", "second", "last"]
    assert desk.progress.training_frames == 960 + 192 + 512


def test_what_is_left_needs_no_other_file(desk):
    train(desk)
    weights = desk.policy_file.read_bytes()
    spec = PolicySpec.model_validate(desk.progress.policy_spec)
    first, second = bound(spec.actions, weights)
    assert bound(second.policy.spec.actions, second.policy.weights) == (first,)
    assert NetworkPolicy.load(spec, weights)
    assert first.policy.weights == (desk.folder / "policy-first.safetensors").read_bytes()
    assert set(safetensors.numpy.load(first.policy.weights)) < set(safetensors.numpy.load(weights))


@pytest.mark.parametrize("curriculum", [False, True])
def test_one_training_for_all_without_a_curriculum_or_with_one_sub_action(make_desk, curriculum):
    config = SMALL.model_copy(update={"curriculum": curriculum})
    names = ("first",) if curriculum else ("first", "second")
    desk = make_desk(*(learnt(name, 1000) for name in names), config=config)
    train(desk)
    ((name, frames, actions),) = desk.asked
    assert (name, frames, actions) == ("last", 1000 * len(names), ())
    assert list(desk.learner.asked[0][1].goals) == list(names)


def test_frames_are_told_on_one_axis(desk):
    supervisor = TrainingSupervisor(desk, 960, 1700)
    supervisor.report(_metrics(frames=64, frames_total=192, sps=10.0, eta_seconds=12.8))
    supervisor.report(CheckpointSaved(frames=64, file="f", sha256="0"))
    metrics, saved = desk.events
    assert (metrics.frames, metrics.frames_total, metrics.eta_seconds) == (1024, 1700, 67.6)
    assert (saved.frames, desk.count.frames) == (1024, 1024)
    plain = TrainingSupervisor(desk)
    event = _metrics(frames=64, frames_total=192, sps=10.0, eta_seconds=12.8)
    plain.report(event)
    assert desk.events[-1] is event


def _metrics(**changes):
    numbers = dict.fromkeys(
        ("entropy", "approx_kl", "clipfrac", "explained_variance", "policy_loss", "value_loss",
         "coded_share"), 0.0,
    )  # fmt: skip
    nothing = dict.fromkeys(("success_rate", "episodic_return", "episodic_length"))
    return TrainingMetrics(**{**numbers, **nothing, "decisions": 1, **changes})


def test_whole_updates_within_a_budget():
    assert [within(budget, SMALL)[0] for budget in (0, 15, 16, 63, 64, 127, 128)] == [
        0, 0, 16, 62, 64, 64, 128,
    ]  # fmt: skip
