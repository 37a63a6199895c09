"""Policies of the meadow whose networks are written by hand, as actions of other policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from engine.rl.learned_action import LearnedAction
from engine.rl.policy_bundle import bundle, named
from engine.rl.policy_file import NetworkPolicy, PolicyFile, PolicySpec

# Of the meadow's observation: signs of the way to the gem, whether on it; a constant at last.
TO_THE_GEM = {"left": {0: -90}, "right": {0: 90}, "up": {1: -60}, "down": {1: 60}, "take": {2: 75}}
SEEN, TERMS, FEATURES = 6, 5, 4


@pytest.fixture
def make_policy(world: Any) -> Callable[..., PolicyFile]:
    """A policy without hidden layers.

    Its logits are sums of what it sees, by index of the observation. Where they are far apart it
    draws no other action than the likeliest.
    """

    def make(
        logits: Mapping[str, Mapping[int, float]], *actions: Any, **changes: Any
    ) -> PolicyFile:
        names = (*world.primitives, *(action.name for action in actions))
        spec = PolicySpec(
            world=world.name,
            observation_size=SEEN + (TERMS + FEATURES * len(actions) if actions else 0),
            primitives=world.primitives,
            actions=named(actions),
            net_arch=(),
            plan_prior=0.0,
            frames=0,
            seed=3,
            task_success="gems >= 3",
        ).model_copy(update=changes)
        network = NetworkPolicy.untrained(spec).network
        tensors = {name: np.zeros_like(v.numpy()) for name, v in network.state_dict().items()}
        for name, row in logits.items():
            for index, value in row.items():
                tensors["action_net.weight"][names.index(name), index] = value
        return PolicyFile(spec, bundle(tensors, actions))

    return make


@pytest.fixture
def walker(make_policy: Callable[..., PolicyFile]) -> PolicyFile:
    """Walks to the gem, first along the row, and takes it."""
    return make_policy(TO_THE_GEM)


@pytest.fixture
def make_learned(walker: PolicyFile) -> Callable[..., LearnedAction]:
    def make(
        name: str = "go_to_gem", policy: PolicyFile | None = None, **changes: Any
    ) -> LearnedAction:
        fields = {
            "success": "on_gem",
            "precondition": "true",
            "interrupt": "false",
            "max_frames": 20,
        }
        return LearnedAction(name, policy or walker, **{**fields, **changes})

    return make


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Sequence[list[int]]:
    """Places for which a network was asked, call by call."""
    calls: list[list[int]] = []
    choose = NetworkPolicy.choose

    def watch(self: NetworkPolicy, places: Any, *args: Any) -> Any:
        calls.append(places.tolist())
        return choose(self, places, *args)

    monkeypatch.setattr(NetworkPolicy, "choose", watch)
    return calls
