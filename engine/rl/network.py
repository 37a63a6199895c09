"""The policy network: two small MLPs, and the plan as what it believes before it has learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import gymnasium
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor

from engine.rl.plan_features import FEATURE_WEIGHT, feature_count

IMPOSSIBLE: Final = -1e8
"""Logit of a masked action, as in sb3-contrib."""


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
        self._plan_prior = plan_prior
        self.entropy_weight = 1.0
        """What `evaluate_actions` counts the entropy."""
        self.plan_weight = 0.0
        """What it counts the distance to the plan, against it."""
        self._entropies: list[torch.Tensor] = []
        super().__init__(observation_space, action_space, *args, **settings)
        weights = self.action_net.weight
        if coded_actions and isinstance(weights, torch.Tensor):
            # The features end with `comes_next`, the actions with the coded ones: a diagonal.
            with torch.no_grad():
                corner = weights[-coded_actions:, -coded_actions:]
                corner += plan_prior / FEATURE_WEIGHT * torch.eye(coded_actions)

    def evaluate_actions(
        self,
        obs: torch.Tensor,
        actions: torch.Tensor,
        action_masks: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values, log-probabilities, and what a loss shall reward beside the advantage, by row.

        The last is `entropy_weight * H(pi) - plan_weight * KL(pi || prior)`; the prior is what the
        untrained network chooses by.
        """
        latent_pi, latent_vf = self.mlp_extractor(obs)
        masks = torch.ones_like(obs[:, :1]) if action_masks is None else action_masks
        log_chances = log_probabilities(self.action_net(latent_pi), masks > 0)
        chances = log_chances.exp()
        entropy = -torch.where(masks > 0, chances * log_chances, 0.0).sum(dim=-1)
        self._entropies.append(entropy.detach().mean())
        bonus = self.entropy_weight * entropy
        if self.plan_weight:
            prior = log_probabilities(self._prior_logits(obs, log_chances), masks > 0)
            expected = torch.where(masks > 0, chances * prior, 0.0).sum(dim=-1)
            # KL(pi || prior) = -H(pi) - E_pi[log prior].
            bonus = bonus + self.plan_weight * (entropy + expected)
        log_prob = log_chances.gather(-1, actions.long().reshape(-1, 1)).flatten()
        return self.value_net(latent_vf), log_prob, bonus

    def _prior_logits(self, obs: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        logits = torch.zeros_like(like)
        coded = self._coded_actions
        if coded:
            logits[:, -coded:] = obs[:, -coded:] * (self._plan_prior / FEATURE_WEIGHT)
        return logits

    def take_entropy(self) -> float:
        """Mean entropy over the batches evaluated since this was last asked."""
        taken, self._entropies = self._entropies, []
        return float(torch.stack(taken).mean()) if taken else 0.0

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = ShortcutExtractor(
            self.features_dim,
            feature_count(self._coded_actions),
            net_arch=self.net_arch,
            activation_fn=self.activation_fn,
            device=self.device,
        )


def log_probabilities(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Log of the chance of each action where the mask is true, very small elsewhere."""
    return torch.log_softmax(torch.where(masks, logits, IMPOSSIBLE), dim=-1)


def policy_settings(
    net_arch: Sequence[int], coded_actions: int, plan_prior: float
) -> dict[str, Any]:
    """Keyword arguments of `PlanPolicy` beside the spaces and the schedule."""
    return {
        "net_arch": list(net_arch),
        "coded_actions": coded_actions,
        "plan_prior": plan_prior,
    }
