"""The policy network: two small MLPs, and the plan as what it believes before it has learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor

from engine.rl.plan_features import FEATURE_WEIGHT, feature_count


class ShortcutExtractor(MlpExtractor):
    """Hidden layers of actor and critic, with the last inputs passed on beside their output."""

    def __init__(self, features_dim: int, shortcut: int, **settings: Any) -> None:
        super().__init__(features_dim, **settings)
        self._first = features_dim - shortcut
        self.latent_dim_pi += shortcut
        self.latent_dim_vf += shortcut

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """Shape (batch, last hidden size + shortcut)."""
        return torch.cat((self.policy_net(features), features[:, self._first :]), dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """Shape (batch, last hidden size + shortcut)."""
        return torch.cat((self.value_net(features), features[:, self._first :]), dim=1)


class PlanPolicy(MaskableActorCriticPolicy):
    """`MlpPolicy` of MaskablePPO in which the plan's features reach the action logits directly.

    Before any training the coded action that comes next in the plan has `plan_prior` more on its
    logit than any other action, all of which are about equally likely. Where that is wrong,
    training unlearns it: the prior is nothing but the initial value of weights.
    """

    def __init__(
        self,
        observation_space: gymnasium.spaces.Box,
        action_space: gymnasium.spaces.Discrete,
        *args: Any,
        coded_actions: int,
        plan_prior: float,
        **settings: Any,
    ) -> None:
        self._coded_actions = coded_actions
        super().__init__(observation_space, action_space, *args, **settings)
        weights = self.action_net.weight
        if coded_actions and isinstance(weights, torch.Tensor):
            # The features end with `comes_next`, the actions with the coded ones: a diagonal.
            with torch.no_grad():
                corner = weights[-coded_actions:, -coded_actions:]
                corner += plan_prior / FEATURE_WEIGHT * torch.eye(coded_actions)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = ShortcutExtractor(
            self.features_dim,
            feature_count(self._coded_actions),
            net_arch=self.net_arch,
            activation_fn=self.activation_fn,
            device=self.device,
        )


def policy_settings(
    net_arch: Sequence[int], coded_actions: int, plan_prior: float
) -> dict[str, Any]:
    """Keyword arguments of `PlanPolicy` beside the spaces and the schedule."""
    return {
        "net_arch": list(net_arch),
        "coded_actions": coded_actions,
        "plan_prior": plan_prior,
    }
