"""Policies: what they may choose, that chance is seeded, and that weights come back."""

from __future__ import annotations

import numpy as np
import pytest
import safetensors.torch
import torch
from pydantic import ValidationError

from engine.errors import EngineError
from engine.rl.decisions import Rechoice
from engine.rl.plan_features import FEATURE_WEIGHT
from engine.rl.policies import ExecutivePolicy, RandomPolicy, can_go_on
from engine.rl.policy_file import NetworkPolicy, PolicySpec


class FakeExecutive:
    def __init__(self, action):
        self.action = action

    def choose(self, player):
        return self.action


@pytest.fixture
def spec(make_action):
    return PolicySpec(
        world="meadow",
        observation_size=11,
        primitives=("noop", "left", "right"),
        actions=(make_action(), make_action("other")),
        net_arch=(8,),
        plan_prior=3.0,
        frames=0,
        seed=3,
        task_success="gems >= 3",
    )


def choices(policy, mask, seed, count=200, width=11):
    """What is chosen at place 0 in an episode of this seed."""
    policy.begin_episode(0, seed)
    chance = np.random.default_rng(0)
    # Below zero: no feature of the plan says yes.
    seen = -np.abs(chance.normal(size=(count, 1, width))).astype(np.float32)
    here, masks = np.array([0]), np.array([mask])
    return [policy.choose(here, observation, [None], masks).item() for observation in seen]


def together(policy, masks, seeds, count=200, width=11):
    """What is chosen at several places at once, in episodes of these seeds, by place."""
    for place, seed in enumerate(seeds):
        policy.begin_episode(place, seed)
    chance = np.random.default_rng(0)
    # Below zero: no feature of the plan says yes.
    seen = -np.abs(chance.normal(size=(count, 1, width))).astype(np.float32)
    places = np.arange(len(seeds))
    rows = [
        policy.choose(places, np.repeat(one, len(seeds), axis=0), [None] * len(seeds), masks)
        for one in seen
    ]
    return np.array(rows).T.tolist()


def test_random_takes_every_primitive_and_nothing_else(world):
    taken = choices(RandomPolicy(world), [True] * 8, 1)
    assert set(taken) == set(range(6))
    assert taken == choices(RandomPolicy(world), [True] * 8, 1)
    assert taken != choices(RandomPolicy(world), [True] * 8, 2)


def test_the_executive_is_followed_where_the_mask_allows(world, make_action):
    action = make_action()
    policy = ExecutivePolicy(lambda: FakeExecutive(action), (make_action("first"), action), world)
    assert set(choices(policy, [True] * 8, 1)) == {7}
    assert set(choices(policy, [True] * 7 + [False], 1)) == set(range(6))
    idle = ExecutivePolicy(lambda: FakeExecutive(None), (action,), world)
    assert set(choices(idle, [True] * 7, 1)) == set(range(6))


def test_each_episode_has_an_executive_of_its_own(world, make_action):
    actions = tuple(make_action(name) for name in ("a", "b", "c"))
    made = []

    def executive():
        made.append(FakeExecutive(actions[len(made)]))
        return made[-1]

    policy = ExecutivePolicy(executive, actions, world)
    masks = np.ones((2, 9), np.bool_)
    assert together(policy, masks, seeds=(1, 2), count=3, width=18) == [[6] * 3, [7] * 3]
    policy.begin_episode(1, 3)
    chosen = policy.choose(np.array([1, 0]), np.zeros((2, 18), np.float32), [None] * 2, masks)
    assert chosen.tolist() == [8, 6]


def told(running, comes_next, coded=2):
    """What an observation of the meadow says of the plan; None for none."""
    observation = np.zeros(6 + 5 + 4 * coded, np.float32)
    for block, number in ((-2 * coded, running), (-coded, comes_next)):
        if number is not None:
            observation[len(observation) + block + number] = FEATURE_WEIGHT
    return observation


def test_what_stands_still_can_go_on_if_code_would_let_it():
    rows = [(None, None), (0, 0), (1, 1), (0, 1), (None, 1), (1, None)]
    observations = np.stack([told(*row) for row in rows])
    assert can_go_on(observations, 2).tolist() == [-1, 0, 1, -1, -1, -1]
    observations[:, :-4] = FEATURE_WEIGHT
    assert can_go_on(observations, 2).tolist() == [-1, 0, 1, -1, -1, -1], "nothing else counts"
    assert can_go_on(observations, 0).tolist() == [-1] * 6


def test_the_executive_is_asked_unless_something_can_go_on(world, make_action):
    actions = (make_action("a"), make_action("b"))
    asked = []

    class Executive(FakeExecutive):
        def choose(self, player):
            asked.append(player)
            return super().choose(player)

    policy = ExecutivePolicy(lambda: Executive(actions[0]), actions, world)
    rows = [(1, 1), (1, 0), (None, 1), (0, 0)]
    for place in range(4):
        policy.begin_episode(place, place)
    observations = np.stack([told(*row) for row in rows])
    chosen = policy.choose(np.arange(4), observations, list("pqrs"), np.ones((4, 8), np.bool_))
    assert chosen.tolist() == [7, 6, 6, 6]
    assert asked == ["q", "r"]


def test_what_runs_ends_by_its_interrupt_rule_and_not_by_being_asked(
    begun, decide, make_action, world
):
    runs = make_action("runs", "east", success="false", interrupt="x >= 4")
    other = make_action("other", "idle", success="false")
    batch = begun(other, runs, rechoice=Rechoice(every=1))
    policy = ExecutivePolicy(lambda: FakeExecutive(other), (other, runs), world)
    policy.begin_episode(0, 1)
    here = np.array([0])
    decide(batch, 7)
    chosen = []
    for _ in range(5):
        choice = policy.choose(here, batch.observe(here), batch.batch.players, batch.masks(here))
        chosen.append((batch.batch.envs[0].at[0], choice.item()))
        decide(batch, choice.item())
    assert chosen == [(1, 7), (2, 7), (3, 7), (4, 6), (4, 6)]


@pytest.mark.parametrize("kind", ["random", "executive", "network"])
def test_places_do_not_share_their_chance(world, make_action, spec, kind):
    policy = {
        "random": lambda: RandomPolicy(world),
        "executive": lambda: ExecutivePolicy(lambda: FakeExecutive(None), (), world),
        "network": lambda: NetworkPolicy.untrained(spec),
    }[kind]()
    masks = np.ones((3, 5 if kind == "network" else 8), np.bool_)
    first, second, third = together(policy, masks, seeds=(1, 2, 1))
    assert first == third != second
    assert choices(policy, masks[0], 1) == first, "whoever else is playing"


def test_a_spec_is_json(spec):
    assert PolicySpec.model_validate_json(spec.model_dump_json()) == spec
    assert PolicySpec.model_validate(spec.model_dump(mode="json")) == spec


def test_a_network_never_chooses_what_is_masked(spec):
    mask = [True, False, True, False, True]
    assert set(choices(NetworkPolicy.untrained(spec), mask, 1)) == {0, 2, 4}
    assert set(choices(NetworkPolicy.untrained(spec, greedy=True), mask, 1)) <= {0, 2, 4}
    masks = np.array([mask, [False, True, False, False, False]])
    first, second = together(NetworkPolicy.untrained(spec), masks, seeds=(1, 1))
    assert (set(first), set(second)) == ({0, 2, 4}, {1})


def test_a_network_keeps_to_its_choices_and_to_the_plan(spec):
    limited = spec.model_copy(update={"choices": ("left", "other"), "plan_prior": 0.0})

    def taken(feature, masks=(True,) * 5, limits=limited):
        policy = NetworkPolicy.untrained(limits)
        policy.begin_episode(0, 1)
        seen = np.zeros((1, 11), np.float32)
        if feature is not None:
            seen[0, feature] = FEATURE_WEIGHT
        here, allowed = np.array([0]), np.array([masks])
        return {policy.choose(here, seen, [None], allowed).item() for _ in range(200)}

    running, first_comes_next, second_comes_next = 7, 9, 10
    assert taken(first_comes_next) == {1, 3, 4}
    assert taken(second_comes_next) == {1, 4}
    assert taken(second_comes_next, (True, False, True, True, True)) == {4}
    assert taken(None) == {0, 1, 2, 4}, "where the plan is silent any primitive"
    assert taken(running) == {0, 1, 2, 3, 4}, "also beside what stands still"
    assert taken(first_comes_next, limits=spec.model_copy(update={"plan_prior": 0.0})) == {
        0, 1, 2, 3, 4,
    }  # fmt: skip


def test_chance_starts_from_the_episodes_seed(spec):
    policy, mask = NetworkPolicy.untrained(spec), [True] * 5
    first = choices(policy, mask, 1)
    assert choices(policy, mask, 2) != first
    assert choices(policy, mask, 1) == first
    greedy = NetworkPolicy.untrained(spec, greedy=True)
    assert choices(greedy, mask, 1) == choices(greedy, mask, 2)


def test_the_rule_it_was_trained_with_is_the_one_it_plays_with(spec):
    assert NetworkPolicy.untrained(spec).rechoice == Rechoice("edge", 0)
    other = spec.model_copy(update={"interruption": "level", "recheck_frames": 5})
    assert NetworkPolicy.untrained(other).rechoice == Rechoice("level", 5)


def test_building_a_network_leaves_global_chance_alone(spec):
    before = torch.get_rng_state()
    NetworkPolicy.untrained(spec)
    assert torch.equal(before, torch.get_rng_state())


def test_weights_come_back(spec):
    policy = NetworkPolicy.untrained(spec)
    with torch.no_grad():
        policy.network.action_net.bias[1] = 50.0
    weights = safetensors.torch.save(policy.network.state_dict())
    assert set(choices(NetworkPolicy.load(spec, weights), [True] * 5, 1)) == {1}


@pytest.mark.parametrize("change", ["truncated", "garbage", "other"])
def test_wrong_weights_say_what_to_do(spec, change):
    weights = safetensors.torch.save(NetworkPolicy.untrained(spec).network.state_dict())
    if change == "other":
        spec = spec.model_copy(update={"net_arch": (16,)})
    wrong = {"truncated": weights[:100], "garbage": b"\x00" * 50}.get(change, weights)
    with pytest.raises(EngineError, match="do not fit its spec") as caught:
        NetworkPolicy.load(spec, wrong)
    assert "damaged" in caught.value.hint


def test_a_spec_of_an_earlier_version_is_read_and_keeps_its_digest(spec):
    """Digests of learned actions are made of this text (`engine.rl.policy_bundle`)."""
    text = (
        '{"world":"meadow","observation_size":6,"primitives":["noop"],"actions":[],'
        '"net_arch":[8],"plan_prior":0.0,"interruption":"edge","recheck_frames":0,"gate":null,'
        '"choices":[],"frames":7,"seed":3,"task_success":"gems >= 3"}'
    )
    assert PolicySpec.model_validate_json(text).model_dump_json() == text
    with pytest.raises(ValidationError, match="gate"):
        PolicySpec.model_validate_json(text.replace('"gate":null', '"gate":"x >= 3"'))
