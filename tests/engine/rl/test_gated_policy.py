"""A network behind a gate, with the plan's code everywhere else, in evaluation."""

from __future__ import annotations

import numpy as np
import pytest

from engine.agents.executive import PlanExecutive
from engine.agents.plan import Plan, SubAction, Subtask
from engine.errors import ConfigError
from engine.rl.decisions import Rechoice
from engine.rl.evaluate import evaluate
from engine.rl.policies import ExecutivePolicy
from engine.rl.policy_file import GatedPolicy, NetworkPolicy, PolicySpec
from engine.worlds.predicate import parse

SEEDS = range(1_000_000, 1_000_012)


@pytest.fixture
def actions(make_action):
    return (
        make_action(success="gems >= 3", interrupt="x == 2"),
        make_action("walk", "east", success="false", precondition="x <= 3", max_frames=7),
        make_action("wait", "idle", success="false", due="false"),
    )


@pytest.fixture
def plan(actions):
    steps = tuple(
        SubAction(
            name=action.name,
            mode="code",
            reason="simple",
            instruction="do it",
            success=action.success,
            precondition=action.precondition,
            budget=action.max_frames,
        )
        for action in actions
    )
    subtask = Subtask(name="gems", goal="three gems", success="gems >= 3", sub_actions=steps)
    return Plan(task="take three gems", world="meadow", author="rules", subtasks=(subtask,))


@pytest.fixture
def spec(world, actions):
    return PolicySpec(
        world="meadow",
        observation_size=6 + 5 + 4 * 3,
        primitives=world.primitives,
        actions=actions,
        net_arch=(8,),
        plan_prior=0.0,
        gate="x >= 3",
        frames=0,
        seed=3,
        task_success="gems >= 3",
    )


@pytest.fixture
def code(world, actions, plan):
    """The plan's code alone."""
    return lambda: ExecutivePolicy(PlanExecutive(plan, actions, world).fresh, actions, world, 9)


@pytest.fixture
def play(world, actions, sandbox):
    """Evaluate a policy; what came of each episode by seed."""

    def run(policy, seeds=SEEDS, **settings):
        told = []
        evaluate(
            world,
            policy,
            actions,
            sandbox,
            seeds=seeds,
            task_success="gems >= 3",
            goals={"east": "x >= 5"},
            on_episode=told.append,
            **settings,
        )
        return {summary.seed: summary for summary in told}

    return run


class Spy:
    """Notes whom a policy was asked about, and what it chose among what."""

    def __init__(self, policy):
        self._choose = policy.choose
        self._begin = policy.begin_episode
        self.columns = []
        self.choices = []
        self.began = []
        policy.choose, policy.begin_episode = self.choose, self.begin

    def choose(self, places, observations, players, masks):
        chosen = self._choose(places, observations, players, masks)
        assert len(places) == len(observations) == len(players) == len(masks) == len(chosen) > 0
        self.columns += [player.term("x") for player in players]
        for action, mask, seen, player in zip(chosen, masks, observations, players, strict=True):
            assert seen[3] == pytest.approx(player.term("x") / 5)
            assert mask[action]
            self.choices.append((action.item(), np.flatnonzero(mask).tolist()))
        return chosen

    def begin(self, place, seed):
        self.began.append((place, seed))
        self._begin(place, seed)


def test_code_acts_outside_the_gate_and_the_network_inside(world, spec, code, play):
    network, other = NetworkPolicy.untrained(spec), code()
    inside, outside = Spy(network), Spy(other)
    policy = GatedPolicy(network, other, world)
    assert (policy.name, policy.rechoice) == ("untrained", Rechoice(alert="x >= 3"))
    summaries = play(policy)
    assert min(inside.columns) >= 3 > max(outside.columns)
    assert inside.began == outside.began
    assert sorted(seed for _, seed in inside.began) == list(SEEDS)
    assert len(inside.columns) + len(outside.columns) == sum(
        s.decisions for s in summaries.values()
    )
    assert {action for action, _ in inside.choices} == set(range(9))


def test_inside_it_keeps_to_its_choices_and_to_the_plan(world, spec, code, play):
    network, other = NetworkPolicy.untrained(spec.model_copy(update={"choices": ("up",)})), code()
    inside, outside = Spy(network), Spy(other)
    play(GatedPolicy(network, other, world))
    up, fetch, walk, wait = 3, 6, 7, 8
    allowed = {tuple(mask) for _, mask in inside.choices}
    assert allowed <= {(up,), (up, fetch), (up, walk), (up, fetch, walk)}
    assert (up, fetch) in allowed
    assert {action for action, _ in inside.choices} == {up, fetch, walk}, "it may run on"
    assert max(len(mask) for _, mask in outside.choices) == 9, "outside all is left"
    assert wait not in {action for action, _ in outside.choices}


def test_behind_a_gate_that_never_opens_it_is_the_plans_code(world, spec, code, play):
    network = NetworkPolicy.untrained(spec.model_copy(update={"gate": "false"}))
    inside = Spy(network)
    alone = play(code())
    assert play(GatedPolicy(network, code(), world)) == alone
    assert inside.columns == []
    assert any(summary.goals for summary in alone.values())
    network = NetworkPolicy.untrained(spec)
    assert play(GatedPolicy(network, code(), world)) != alone


def test_behind_a_gate_that_is_always_open_it_is_the_network(world, spec, code, play):
    always = spec.model_copy(update={"gate": "true"})
    network = NetworkPolicy.untrained(spec.model_copy(update={"recheck_frames": 1}))
    assert play(
        GatedPolicy(NetworkPolicy.untrained(always), code(), world)
    ) == play(network)  # fmt: skip


@pytest.mark.parametrize("places", [1, 5])
def test_how_many_play_at_once_changes_nothing(world, spec, code, play, places):
    policy = GatedPolicy(NetworkPolicy.untrained(spec), code(), world)
    assert play(policy, places=places) == play(policy, places=12)


def test_the_gate_is_looked_at_for_each_place(world, spec, code):
    network, other = NetworkPolicy.untrained(spec), code()
    inside, outside = Spy(network), Spy(other)
    policy = GatedPolicy(network, other, world)
    players = []
    for place, column in enumerate((4, 1, 5, 0)):
        env = world.make_env()
        env.reset(seed=place)
        env.at = (column, 0)
        players.append(env.player)
        policy.begin_episode(place, place)
    observations = np.zeros((4, spec.observation_size), np.float32)
    observations[:, 3] = [0.8, 0.2, 1.0, 0.0]
    chosen = policy.choose(np.arange(4), observations, players, np.ones((4, 9), np.bool_))
    assert (inside.columns, outside.columns) == ([4, 5], [1, 0])
    both = iter(inside.choices), iter(outside.choices)
    assert chosen.tolist() == [next(both[index])[0] for index in (0, 1, 0, 1)]


def test_a_policy_without_a_gate_is_refused(world, spec, code):
    network = NetworkPolicy.untrained(spec.model_copy(update={"gate": None}))
    with pytest.raises(ConfigError, match="no gate"):
        GatedPolicy(network, code(), world)


def test_a_spec_with_gate_and_choices_is_json(world, spec):
    whole = spec.model_copy(update={"choices": ("up", "wait")})
    assert PolicySpec.model_validate_json(whole.model_dump_json()) == whole
    assert parse(whole.gate, world.vocabulary()).text == "x >= 3"
    old = {k: v for k, v in whole.model_dump().items() if k not in ("gate", "choices")}
    assert (PolicySpec(**old).gate, PolicySpec(**old).choices) == (None, ())


def test_an_unknown_choice_is_refused(world, spec, code):
    network = NetworkPolicy.untrained(spec.model_copy(update={"choices": ("fly",)}))
    with pytest.raises(ConfigError, match="cannot choose fly"):
        GatedPolicy(network, code(), world)
