"""A policy with the policies that it may choose, in one file."""

from __future__ import annotations

import json

import pytest
import safetensors.torch

from engine.errors import EngineError
from engine.rl.learned_action import LearnedEntry
from engine.rl.policy_bundle import all_code, bound, digest_of, named, own_tensors
from engine.rl.policy_file import NetworkPolicy, PolicyFile, PolicySpec


@pytest.fixture
def chain(make_policy, make_learned, make_action):
    """Three policies, each of which may choose those before it."""
    first = make_policy({"left": {0: 1}}, make_action("own", "hop"))
    one = make_learned("one", first)
    second = make_policy({"up": {1: 2}}, make_action("own", "idle"), one)
    two = make_learned("two", second, due="false")
    return make_policy({"down": {2: 3}}, one, make_action("own", "hop"), two)


def test_everything_comes_back(chain):
    one, own, two = bound(chain.spec.actions, chain.weights)
    assert [one.name, own.name, two.name] == ["one", "own", "two"]
    assert (own.code, two.due, two.max_frames) == ("hop", "false", 20)
    assert NetworkPolicy.load(two.policy.spec, two.policy.weights).spec == two.policy.spec
    again = bound(two.policy.spec.actions, two.policy.weights)
    assert again[1] == one
    assert named((one, own, two)) == chain.spec.actions
    assert float(own_tensors(one.policy.weights)["action_net.weight"][1, 0]) == 1.0
    assert float(own_tensors(two.policy.weights)["action_net.weight"][3, 1]) == 2.0


def test_each_policy_is_there_once(chain):
    names = safetensors.torch.load(chain.weights)
    assert len({name.split("/")[0] for name in names if "/" in name}) == 2
    assert len(names) == 3 * len(own_tensors(chain.weights))


def test_a_spec_is_json_without_weights(chain):
    text = chain.spec.model_dump_json()
    spec = PolicySpec.model_validate_json(text)
    assert spec == chain.spec
    assert isinstance(spec.actions[0], LearnedEntry)
    assert bound(spec.actions, chain.weights) == bound(chain.spec.actions, chain.weights)
    assert len(text) < 2500


def test_without_learned_actions_it_is_plain_safetensors(make_policy, make_action):
    policy = make_policy({"left": {0: 1}}, make_action())
    tensors = safetensors.torch.load(policy.weights)
    assert policy.weights == safetensors.torch.save(tensors)
    assert bound(policy.spec.actions, b"not even read") == policy.spec.actions


def test_a_digest_is_of_spec_and_weights(make_policy):
    policy = make_policy({"left": {0: 1}})
    assert digest_of(policy) == digest_of(make_policy({"left": {0: 1}}))
    assert digest_of(policy) != digest_of(make_policy({"left": {0: 2}}))
    assert digest_of(policy) != digest_of(make_policy({"left": {0: 1}}, seed=4))


def test_all_code_is_found_once(chain):
    assert [action.code for action in all_code(bound(chain.spec.actions, chain.weights))] == [
        "hop",
        "idle",
    ]


def test_other_weights_than_those_named_are_refused(chain, make_policy, make_learned):
    entry = chain.spec.actions[0]
    with pytest.raises(EngineError, match="do not have the policy"):
        bound([entry], make_policy({}, make_learned()).weights)
    with pytest.raises(EngineError, match="cannot be used"):
        bound([entry], chain.weights[:300])
    with pytest.raises(EngineError, match="cannot be used"):
        bound([entry], b"")


def test_an_altered_policy_is_refused(chain):
    entry = chain.spec.actions[0]
    tensors = safetensors.torch.load(chain.weights)
    tensors[f"{entry.policy}/action_net.weight"][0, 0] = 7.0
    header = {"policies": _specs(chain)}
    altered = safetensors.torch.save(tensors, header)
    with pytest.raises(EngineError, match="was altered"):
        bound([entry], altered)
    assert bound([entry], safetensors.torch.save(safetensors.torch.load(chain.weights), header))


def _specs(policy: PolicyFile) -> str:
    end = 8 + int.from_bytes(policy.weights[:8], "little")
    return json.loads(policy.weights[8:end])["__metadata__"]["policies"]
