"""Acting without the distribution classes is acting with them, to the last bit."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch

from engine.rl.acting import act, values_of
from engine.rl.network import PlanPolicy, policy_settings


@pytest.fixture
def policy():
    torch.manual_seed(3)
    return PlanPolicy(
        gymnasium.spaces.Box(-1, 1, (20,), np.float32),
        gymnasium.spaces.Discrete(9),
        lambda _: 1e-3,
        **policy_settings([16, 16], 3, 2.0),
    )


@pytest.mark.parametrize("places", [1, 2, 16, 33])
def test_it_draws_what_the_policy_would_draw(policy, places):
    chance = np.random.default_rng(places)
    for _ in range(30):
        observations = chance.normal(scale=3.0, size=(places, 20)).astype(np.float32)
        masks = chance.random((places, 9)) < 0.4
        masks[:, 0] = True
        state = torch.get_rng_state()
        ours = act(policy, observations, masks)
        after = torch.get_rng_state()
        torch.set_rng_state(state)
        with torch.no_grad():
            theirs = policy(torch.from_numpy(observations), action_masks=masks)
        assert torch.equal(torch.get_rng_state(), after)
        for mine, expected in zip(ours, theirs, strict=True):
            assert np.array_equal(mine, expected.numpy().ravel())
        assert masks[np.arange(places), ours[0]].all()
        assert np.array_equal(values_of(policy, observations), ours[1])


def test_arrays_come_back_in_the_buffers_types(policy):
    actions, values, log_probs = act(policy, np.zeros((2, 20), np.float32), np.ones((2, 9), bool))
    assert (actions.dtype, values.dtype, log_probs.dtype) == (np.int64, np.float32, np.float32)
    assert actions.shape == values.shape == log_probs.shape == (2,)
    assert not torch.from_numpy(values).requires_grad
