"""The observation bridge: one visual feature vector becomes one token of the language model."""

from __future__ import annotations

from torch import Tensor, nn


class ObservationBridge(nn.Module):
    """Linear, ReLU, Linear, without norms, in float32; one token per frame.

    As released (`MlpVisBridge`): 768 features, 4096 inner units, PyTorch's own initialisation.
    """

    def __init__(self, features: int, inner: int, hidden: int) -> None:
        """Build it.

        Args:
            features: length of a visual feature vector.
            inner: units between the two layers.
            hidden: width of the language model.
        """
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, inner), nn.ReLU(), nn.Linear(inner, hidden))

    def forward(self, features: Tensor) -> Tensor:
        """Features (n, features) as tokens (n, hidden), float32."""
        tokens: Tensor = self.layers(features)
        return tokens
