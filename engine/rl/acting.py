"""The policy at work: what `MaskableActorCriticPolicy.forward` does, without its detours.

Acting asks the network for a handful of places some hundred times a second; the distribution
classes on the way cost several times what the network does. The operations, their order and the
random draws are the same, to the last bit.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from engine.rl.network import IMPOSSIBLE


@torch.inference_mode()
def act(
    policy: MaskableActorCriticPolicy, observations: NDArray[np.float32], masks: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
    """Sampled actions, values and log-probabilities, one per row; on the policy's device."""
    device = policy.device
    features = torch.from_numpy(observations).to(device)
    latent_pi, latent_vf = policy.mlp_extractor(features)
    values = policy.value_net(latent_vf)
    # Normalised before and after masking, as the two constructors of the distribution do.
    logits = _normalised(policy.action_net(latent_pi))
    logits = torch.where(torch.from_numpy(masks).to(device), logits, IMPOSSIBLE)
    logits = _normalised(logits)
    actions = torch.multinomial(torch.softmax(logits, dim=-1), 1, True)
    log_probs = logits.gather(-1, actions)
    return (
        actions.flatten().cpu().numpy(),
        values.flatten().cpu().numpy(),
        log_probs.flatten().cpu().numpy(),
    )


@torch.inference_mode()
def values_of(
    policy: MaskableActorCriticPolicy, observations: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The critic's values, one per row."""
    features = torch.from_numpy(observations).to(policy.device)
    latent = policy.mlp_extractor.forward_critic(features)
    values: NDArray[np.float32] = policy.value_net(latent).flatten().cpu().numpy()
    return values


def _normalised(logits: torch.Tensor) -> torch.Tensor:
    return logits - logits.logsumexp(dim=-1, keepdim=True)
