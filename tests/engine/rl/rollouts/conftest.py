"""Rollouts of a policy and a critic that one can read off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from engine.rl.option_batch import OptionBatch
from engine.rl.ppo import SmdpPPO


@pytest.fixture
def collect() -> Callable[..., SmdpPPO]:
    """A rollout of a policy that takes the first of some actions that it may.

    The critic's value of a state is the player's column, the discount and lambda are 1/2.
    """

    def play(batch: OptionBatch, *preferred: int, frames: int, **how: Any) -> SmdpPPO:
        settings = {"n_steps": frames, "gamma": 0.5, "gae_lambda": 0.5, "device": "cpu", **how}
        model = SmdpPPO("MlpPolicy", batch, policy_kwargs={"net_arch": []}, **settings)
        with torch.no_grad():
            for layer in (model.policy.action_net, model.policy.value_net):
                layer.weight.zero_()
                layer.bias.zero_()
            # The observation has the column in fifths.
            model.policy.value_net.weight[0, 3] = 5.0
            for rank, action in enumerate(reversed(preferred), start=1):
                model.policy.action_net.bias[action] = 100.0 * rank
        model.collect(batch)
        return model

    return play
