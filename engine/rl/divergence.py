"""Catches an update that went wrong and goes back to the last good policy."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import torch

from engine.rl.ppo import SmdpPPO

HALVINGS = 4
"""Times the learning rate is halved before a training that keeps diverging is ended."""
WORST_KL = 1.0
"""An update that moves the policy this far (mean approx_kl, nats) is not learning but breaking."""


class Diverged(Exception):
    """The training diverges whatever the learning rate; the last good policy is in the model."""


class Guard:
    """Keeps the weights and moments from before the update that is being made."""

    def __init__(self, model: SmdpPPO) -> None:
        self._model = model
        self._weights: Mapping[str, torch.Tensor] = {}
        self._optimizer: Mapping[str, Any] = {}

    def keep(self) -> None:
        """Remember the present state as good."""
        policy = self._model.policy
        self._weights = {
            name: value.detach().clone() for name, value in policy.state_dict().items()
        }
        self._optimizer = copy.deepcopy(policy.optimizer.state_dict())

    def update(self) -> str | None:
        """Make one update; what is wrong with it, None when it is good."""
        self.keep()
        try:
            self._model.train()
        except ValueError:
            # After a batch that broke the weights, torch refuses the distribution of the next one.
            if self._is_finite():
                raise
        return self.why_bad()

    def why_bad(self) -> str | None:
        """What is wrong with the update just made; None when it is good."""
        if not self._is_finite():
            return "a weight is no longer a finite number"
        losses = self._model.logger.name_to_value
        for name in ("train/loss", "train/value_loss", "train/approx_kl"):
            if not math.isfinite(float(losses[name])):
                return f"{name.removeprefix('train/')} is {losses[name]}"
        if float(losses["train/approx_kl"]) > WORST_KL:
            return f"approx_kl is {losses['train/approx_kl']:.2f}, more than {WORST_KL}"
        return None

    def _is_finite(self) -> bool:
        return all(bool(torch.isfinite(p).all()) for p in self._model.policy.parameters())

    def undo(self) -> None:
        """Go back to what was kept."""
        self._model.policy.load_state_dict(dict(self._weights))
        self._model.policy.optimizer.load_state_dict(dict(self._optimizer))
