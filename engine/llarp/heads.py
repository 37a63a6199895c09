"""What reads the language model's hidden state: action decoder and value head."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ActionDecoder(nn.Module):
    """Two layers with LayerNorm and ReLU, then the logits, in float32 (`MlpDecoder`)."""

    def __init__(self, hidden: int, inner: int, actions: int) -> None:
        """Build it; the last layer begins near zero, so the first policy is near uniform.

        Args:
            hidden: width of the language model.
            inner: units of both layers; 512 as released.
            actions: how many there are.
        """
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(hidden, inner),
            nn.LayerNorm(inner),
            nn.ReLU(),
            nn.Linear(inner, inner),
            nn.LayerNorm(inner),
            nn.ReLU(),
        )
        self.last = nn.Linear(inner, actions)
        nn.init.orthogonal_(self.last.weight, gain=0.01)
        nn.init.zeros_(self.last.bias)

    def forward(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (n, actions) and the inner units (n, inner), which the value is read from."""
        inner: Tensor = self.layers(hidden)
        return self.last(inner), inner


class ValueHead(nn.Module):
    """The value, linear in the decoder's inner units (`LinearCriticHead`)."""

    def __init__(self, inner: int) -> None:
        """Build it for `inner` units."""
        super().__init__()
        self.layer = nn.Linear(inner, 1)
        nn.init.orthogonal_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)

    def forward(self, inner: Tensor) -> Tensor:
        """Values (n,) of inner units (n, inner)."""
        values: Tensor = self.layer(inner)
        return values[:, 0]


def log_probabilities(logits: Tensor) -> Tensor:
    """Of all actions, (n, actions)."""
    return torch.log_softmax(logits, dim=-1)
