"""What leaving the plan costs in the loss, by hand and against sb3-contrib's own figures."""

from __future__ import annotations

from math import log

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from engine.rl.network import PlanPolicy, policy_settings
from engine.rl.plan_features import FEATURE_WEIGHT
from engine.rl.ppo import SmdpPPO

LOG_2 = log(2)


def network(primitives=2, coded=1, prior=LOG_2, width=12):
    torch.manual_seed(0)
    return PlanPolicy(
        gymnasium.spaces.Box(-np.inf, np.inf, (width,), np.float32),
        gymnasium.spaces.Discrete(primitives + coded),
        lambda _: 1e-3,
        **policy_settings([8], coded, prior),
    )


def weighed(policy, entropy, plan):
    policy.entropy_weight, policy.plan_weight = entropy, plan
    return policy


def seen(policy, *comes_next, width=12):
    """A row for each: an observation in which this coded action comes next, none for None."""
    coded = policy._coded_actions
    rows = torch.from_numpy(np.random.default_rng(0).normal(size=(len(comes_next), width)))
    rows[:, -coded:] = 0.0
    for row, index in enumerate(comes_next):
        if index is not None:
            rows[row, width - coded + index] = FEATURE_WEIGHT
    return rows.float()


def always(policy, *chances):
    """Make the policy choose with these chances, whatever it sees."""
    with torch.no_grad():
        policy.action_net.weight.zero_()
        policy.action_net.bias.copy_(torch.tensor(chances).log())
    return policy


def like_the_prior(policy):
    """Make the policy choose as the plan alone says."""
    coded = policy._coded_actions
    with torch.no_grad():
        policy.action_net.weight.zero_()
        policy.action_net.bias.zero_()
        diagonal = policy._plan_prior / FEATURE_WEIGHT * torch.eye(coded)
        policy.action_net.weight[-coded:, -coded:] = diagonal
    return policy


def third(policy, observations, masks=None):
    actions = torch.zeros(len(observations))
    with torch.no_grad():
        return policy.evaluate_actions(observations, actions, masks)[2].tolist()


CASES = [
    # The prior is 1/4, 1/4, 1/2: KL = 1/2 log 2 + 0 + 1/4 log 1/2.
    (0, [1, 1, 1], 1.5 * LOG_2, 0.25 * LOG_2),
    # Of what is left, pi is 2/3, 1/3 and the prior 1/3, 2/3.
    (0, [1, 0, 1], log(3) - 2 / 3 * LOG_2, LOG_2 / 3),
    # The prior is 1/3 each: KL = log 3 - H.
    (None, [1, 1, 1], 1.5 * LOG_2, log(3) - 1.5 * LOG_2),
    # The plan's action is masked: pi is 2/3, 1/3 and the prior 1/2, 1/2.
    (0, [1, 1, 0], log(3) - 2 / 3 * LOG_2, LOG_2 - log(3) + 2 / 3 * LOG_2),
    # Only one is possible: nothing to choose, nothing to leave.
    (0, [0, 1, 0], 0.0, 0.0),
]


@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.0, 1.0), (0.125, 2.0)])
def test_entropy_is_rewarded_and_distance_to_the_plan_is_paid_for(weights):
    policy = weighed(always(network(), 0.5, 0.25, 0.25), *weights)
    observations = seen(policy, *(plan for plan, *_ in CASES))
    masks = torch.tensor([mask for _, mask, *_ in CASES], dtype=torch.float32)
    expected = [weights[0] * entropy - weights[1] * distance for *_, entropy, distance in CASES]
    assert third(policy, observations, masks) == pytest.approx(expected, abs=1e-6)


def test_without_masks_everything_may_be_chosen():
    policy = weighed(always(network(), 0.5, 0.25, 0.25), 1.0, 1.0)
    assert third(policy, seen(policy, 0)) == pytest.approx([1.25 * LOG_2], abs=1e-6)


@pytest.mark.parametrize("coded", [1, 3])
def test_to_choose_as_the_plan_says_costs_nothing(coded):
    policy = like_the_prior(network(coded=coded, prior=2.5, width=20))
    observations = seen(policy, *range(coded), None, width=20)
    masks = torch.ones(coded + 1, 2 + coded)
    masks[0, 0] = 0
    entropies = third(weighed(policy, 1.0, 0.0), observations, masks)
    assert third(weighed(policy, 1.0, 50.0), observations, masks) == pytest.approx(
        entropies, abs=1e-4
    )
    assert min(entropies) > 0.1
    with torch.no_grad():
        policy.action_net.bias[0] += 1.0
    moved = third(weighed(policy, 0.0, 1.0), observations, masks)
    assert moved[0] == pytest.approx(0.0, abs=1e-6), "what is masked is no distance"
    assert max(moved[1:]) < -0.01


def test_the_untrained_network_is_where_the_plan_is():
    policy = weighed(network(coded=2, prior=3.0, width=20), 0.0, 1.0)
    distances = [-value for value in third(policy, seen(policy, 0, 1, None, width=20))]
    assert 0.0 <= min(distances) <= max(distances) < 0.01


def test_without_code_the_plan_is_even_chances():
    policy = weighed(always(network(3, 0), 0.5, 0.25, 0.25), 0.0, 1.0)
    expected = 1.5 * LOG_2 - log(3)
    assert third(policy, torch.ones(1, 12)) == pytest.approx([expected], abs=1e-6)


def test_it_agrees_with_sb3_contrib():
    policy = network(4, 3, prior=1.0, width=20)
    with torch.no_grad():
        policy.action_net.weight.normal_()
    chance = np.random.default_rng(1)
    observations = torch.from_numpy(chance.normal(size=(64, 20)).astype(np.float32))
    masks = torch.from_numpy((chance.random((64, 7)) < 0.6).astype(np.float32))
    masks[:, 2] = 1
    actions = torch.from_numpy(
        np.array([chance.choice(np.flatnonzero(mask)) for mask in masks.numpy()])
    )
    for allowed in (masks, None):
        for stored in (actions, actions.float().reshape(-1, 1)):
            ours = policy.evaluate_actions(observations, stored, allowed)
            theirs = MaskableActorCriticPolicy.evaluate_actions(
                policy, observations, stored.flatten(), allowed
            )
            for mine, own in zip(ours, theirs, strict=True):
                assert mine.shape == own.shape
                assert torch.allclose(mine, own, rtol=0, atol=1e-5)


def test_the_distance_pulls_towards_the_plan():
    policy = weighed(always(network(), 0.5, 0.25, 0.25), 0.0, 1.0)
    *_, bonus = policy.evaluate_actions(seen(policy, 0), torch.zeros(1), torch.ones(1, 3))
    bonus.sum().backward()
    first, second, plan = policy.action_net.bias.grad.tolist()
    # d(-KL)/d(logit i) = -pi_i * (log(pi_i / prior_i) - KL)
    assert first == pytest.approx(-0.5 * 0.75 * LOG_2, abs=1e-6)
    assert second == pytest.approx(0.25 * 0.25 * LOG_2, abs=1e-6)
    assert plan == pytest.approx(0.25 * 1.25 * LOG_2, abs=1e-6)


@pytest.fixture
def rollout(begun, make_action):
    """A model of the meadow with one rollout, to be learnt from in one batch."""

    def make(entropy, plan, policy=PlanPolicy, **changes):
        batch = begun(make_action(success="false"), starts=[((0, 0), (4, 4)), ((2, 3), (0, 0))])
        settings = {"n_steps": 32, "batch_size": 1000, "n_epochs": 1, "device": "cpu", **changes}
        if policy is PlanPolicy:
            settings["policy_kwargs"] = policy_settings([8], 1, 1.0)
        model = SmdpPPO(policy, batch, ent_coef=entropy, seed=3, **settings)
        model.plan_kl_coef = plan
        if policy is PlanPolicy:
            with torch.no_grad():
                model.policy.action_net.bias[2] += 2.0
        model.collect(batch)
        return model

    return make


def figures(model):
    """Mean entropy and distance to the plan over the rollout, from the distributions alone."""
    samples = model.decisions.samples
    with torch.no_grad():
        pi = model.policy.get_distribution(samples.observations, samples.action_masks).distribution
        logits = torch.zeros_like(pi.logits)
        logits[:, -1] = samples.observations[:, -1] / FEATURE_WEIGHT
        logits[samples.action_masks == 0] = -1e8
        prior = torch.distributions.Categorical(logits=logits)
        plain = torch.distributions.Categorical(logits=pi.logits)
        distance = torch.distributions.kl_divergence(plain, prior)
        return float(plain.entropy().mean()), float(distance.mean())


def test_what_is_learnt_from_and_what_is_told(rollout):
    model = rollout(entropy=0.25, plan=4.0)
    entropy, distance = figures(model)
    assert entropy > 0.1
    assert distance > 0.1
    model.train()
    told = {name.removeprefix("train/"): v for name, v in model.logger.name_to_value.items()}
    assert told["entropy_loss"] == pytest.approx(-entropy, abs=1e-5), "the plain one"
    rest = told["policy_gradient_loss"] + model.vf_coef * told["value_loss"]
    assert told["loss"] == pytest.approx(rest - 0.25 * entropy + 4.0 * distance, abs=1e-4)
    assert model.ent_coef == 0.25, "as it was set"


def test_the_told_entropy_is_the_mean_of_the_last_update_alone(rollout):
    model = rollout(entropy=0.0, plan=1.0, learning_rate=0.0, batch_size=16, n_epochs=3)
    entropy, _ = figures(model)
    for _ in range(2):
        model.train()
        told = -model.logger.name_to_value["train/entropy_loss"]
        # Batches are nearly of one size.
        assert told == pytest.approx(entropy, abs=0.01)
    assert model.policy.take_entropy() == 0.0


def test_a_failed_update_leaves_the_coefficient(rollout, monkeypatch):
    model = rollout(entropy=0.25, plan=1.0)

    def broken(*args, **named):
        raise ValueError("not a distribution")

    monkeypatch.setattr(model.policy, "evaluate_actions", broken)
    with pytest.raises(ValueError, match="not a distribution"):
        model.train()
    assert model.ent_coef == 0.25


def test_updates_lead_back_to_the_plan(rollout):
    far, near = (
        rollout(entropy=0.0, plan=plan, learning_rate=0.01, n_epochs=30, clip_range=10.0)
        for plan in (0.0, 50.0)
    )
    _, began = figures(far)
    for model in (far, near):
        model.train()
    assert figures(near)[1] < 0.1 * began
    assert figures(far)[1] > 0.5 * began
