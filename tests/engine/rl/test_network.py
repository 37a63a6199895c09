"""What the policy network does before it has learnt anything."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch

from engine.rl.network import PlanPolicy, policy_settings
from engine.rl.plan_features import FEATURE_WEIGHT, feature_count


def network(coded: int, prior: float = 3.0) -> PlanPolicy:
    torch.manual_seed(0)
    return PlanPolicy(
        gymnasium.spaces.Box(-1, 1, (20,), np.float32),
        gymnasium.spaces.Discrete(4 + coded),
        lambda _: 1e-3,
        **policy_settings([8, 6], coded, prior),
    )


def seen(coded: int, comes_next: int | None) -> torch.Tensor:
    """An observation whose plan features say which coded action comes next."""
    observation = torch.ones(1, 20)
    observation[:, 20 - coded :] = 0.0
    if comes_next is not None:
        observation[:, 20 - coded + comes_next] = FEATURE_WEIGHT
    return observation


def test_the_plans_features_reach_the_heads_unchanged():
    observation = torch.arange(20.0).reshape(1, 20) / 20
    features = feature_count(2)
    for latent in network(2).mlp_extractor(observation):
        assert latent.shape == (1, 6 + features)
        assert torch.equal(latent[:, 6:], observation[:, -features:])


@pytest.mark.parametrize("coded", [1, 2, 5])
def test_what_comes_next_is_preferred_by_the_prior(coded):
    policy = network(coded)
    for index in range(coded):
        categorical = policy.get_distribution(seen(coded, index)).distribution
        logits = categorical.logits[0] - categorical.logits[0, 0]
        expected = torch.zeros(4 + coded)
        expected[4 + index] = 3.0
        assert logits.detach().numpy() == pytest.approx(expected.numpy(), abs=0.15)


def test_nothing_is_preferred_without_a_plan_or_a_prior():
    for policy, comes_next in ((network(2), None), (network(2, prior=0.0), 1), (network(0), None)):
        coded = policy.action_space.n - 4
        chances = policy.get_distribution(seen(coded, comes_next)).distribution.probs[0]
        assert chances.detach().numpy() == pytest.approx(1 / len(chances), abs=0.03)


def test_without_code_it_is_a_plain_mlp():
    actor, critic = network(0).mlp_extractor(torch.ones(2, 20))
    assert actor.shape == critic.shape == (2, 6)
