"""Policies: what they may choose, that chance is seeded, and that weights come back."""

from __future__ import annotations

import numpy as np
import pytest
import safetensors.torch
import torch

from engine.errors import EngineError
from engine.rl.policies import ExecutivePolicy, RandomPolicy
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


def choices(policy, mask, seed, count=200):
    policy.begin_episode(seed)
    chance = np.random.default_rng(0)
    seen = chance.normal(size=(count, 11)).astype(np.float32)
    return [policy.choose(observation, None, np.array(mask)) for observation in seen]


def test_random_takes_every_primitive_and_nothing_else(world):
    taken = choices(RandomPolicy(world), [True] * 8, 1)
    assert set(taken) == set(range(6))
    assert taken == choices(RandomPolicy(world), [True] * 8, 1)
    assert taken != choices(RandomPolicy(world), [True] * 8, 2)


def test_the_executive_is_followed_where_the_mask_allows(world, make_action):
    action = make_action()
    policy = ExecutivePolicy(FakeExecutive(action), (make_action("first"), action), world)
    assert set(choices(policy, [True] * 8, 1)) == {7}
    assert set(choices(policy, [True] * 7 + [False], 1)) == set(range(6))
    idle = ExecutivePolicy(FakeExecutive(None), (action,), world)
    assert set(choices(idle, [True] * 7, 1)) == set(range(6))


def test_a_spec_is_json(spec):
    assert PolicySpec.model_validate_json(spec.model_dump_json()) == spec
    assert PolicySpec.model_validate(spec.model_dump(mode="json")) == spec


def test_a_network_never_chooses_what_is_masked(spec):
    mask = [True, False, True, False, True]
    assert set(choices(NetworkPolicy.untrained(spec), mask, 1)) == {0, 2, 4}
    assert set(choices(NetworkPolicy.untrained(spec, greedy=True), mask, 1)) <= {0, 2, 4}


def test_chance_starts_from_the_episodes_seed(spec):
    policy, mask = NetworkPolicy.untrained(spec), [True] * 5
    first = choices(policy, mask, 1)
    assert choices(policy, mask, 2) != first
    assert choices(policy, mask, 1) == first
    greedy = NetworkPolicy.untrained(spec, greedy=True)
    assert choices(greedy, mask, 1) == choices(greedy, mask, 2)


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
