"""The small frozen visual encoder: 64x64 pictures of this project's flats to 256 features.

It stands where LLaRP has VC-1, a ViT trained on real video without labels; that takes a GPU. This
one is a conv net of some 600,000 parameters, trained by `engine.llarp.encoder_training`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from engine.errors import ConfigError
from engine.rl.checkpoint import Checkpoint, load_checkpoint, save_checkpoint

PICTURE: Final = 64
"""Pixels a side."""
FEATURES: Final = 256
CHANNELS: Final = 96
_PARTS: Final = (2, 4)
"""Rows and columns in which the strongest answer of each channel is kept."""
_KIND: Final = "visual encoder 1"
_AT_ONCE: Final = 256


class EncoderNet(nn.Module):
    """Five convolutions, of which three halve the picture, and a linear layer.

    Features have mean 0 and variance 1 over each picture.
    """

    def __init__(self) -> None:
        """Initialise from PyTorch's global generator."""
        super().__init__()
        self.trunk = nn.Sequential(
            *_convolution(3, 32, kernel=5, stride=2),
            *_convolution(32, 64, stride=2),
            *_convolution(64, 64),
            *_convolution(64, CHANNELS, stride=2),
            *_convolution(CHANNELS, CHANNELS),
        )
        self.summary = nn.Sequential(
            nn.Conv2d(CHANNELS, CHANNELS, 1),
            nn.AdaptiveMaxPool2d(_PARTS),
            nn.Flatten(),
            nn.Linear(CHANNELS * _PARTS[0] * _PARTS[1], FEATURES),
            nn.LayerNorm(FEATURES, elementwise_affine=False),
        )

    def grid(self, pictures: Tensor) -> Tensor:
        """What is found where: (n, channels, 8, 8) of pictures (n, 64, 64, 3) uint8."""
        pixels = pictures.permute(0, 3, 1, 2).float() / 127.5 - 1.0  # channels last: the faster
        found: Tensor = self.trunk(pixels)
        return found

    def forward(self, pictures: Tensor) -> Tensor:
        """Features (n, 256) of pictures (n, 64, 64, 3) uint8."""
        features: Tensor = self.summary(self.grid(pictures))
        return features


def _convolution(
    inputs: int, outputs: int, kernel: int = 3, stride: int = 1
) -> tuple[nn.Module, ...]:
    return (
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class FrozenEncoder:
    """An encoder that is trained no more (`engine.llarp.vision.Encoder`)."""

    def __init__(self, net: EncoderNet, facts: Mapping[str, Any] | None = None) -> None:
        """Freeze `net`.

        Args:
            net: as it was trained.
            facts: how it was trained and how well it sees, as JSON.
        """
        self.net = net.eval().requires_grad_(False)
        self.facts = dict(facts or {})
        self._hash = _hash_of(net)

    @property
    def source_hash(self) -> str:
        """SHA-256 of the weights, whatever file they came from."""
        return self._hash

    @torch.no_grad()
    def __call__(self, pictures: Tensor) -> Tensor:
        """Features (n, 256) float32 of pictures (n, 64, 64, 3) uint8.

        Raises:
            ConfigError: the pictures have another shape or type.
        """
        if pictures.shape[1:] != (PICTURE, PICTURE, 3) or pictures.dtype != torch.uint8:
            raise ConfigError(
                f"pictures of shape {tuple(pictures.shape)!r} and type {pictures.dtype} do not "
                f"fit the visual encoder",
                f"Let the world draw {PICTURE} by {PICTURE} pixels, or take another encoder.",
            )
        device = next(self.net.parameters()).device
        return torch.cat([self.net(part.to(device)) for part in torch.split(pictures, _AT_ONCE)])


def save_encoder(path: Path, encoder: FrozenEncoder) -> str:
    """Write weights and facts as safetensors; the SHA-256 of the file.

    Raises:
        EngineError: it cannot be written.
    """
    tensors = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in encoder.net.state_dict().items()
    }
    facts = json.dumps({"kind": _KIND, "hash": encoder.source_hash, "facts": encoder.facts})
    return save_checkpoint(path, Checkpoint(tensors, facts))


def load_encoder(path: Path) -> FrozenEncoder:
    """The encoder in a file of `save_encoder`.

    Raises:
        DamagedCheckpoint: it cannot be read.
        ConfigError: there is none, or it is of another kind.
    """
    checkpoint = load_checkpoint(path)
    if checkpoint is None:
        raise ConfigError(
            f"there is no visual encoder {str(path)!r}", "Train one, or name one that was saved."
        )
    try:
        text = json.loads(checkpoint.state)
    except ValueError:
        text = {}
    if not isinstance(text, dict) or text.get("kind") != _KIND:
        raise ConfigError(
            f"{str(path)!r} holds no visual encoder of this kind", "Train one with this version."
        )
    net = EncoderNet()
    net.load_state_dict(dict(checkpoint.tensors))
    return FrozenEncoder(net, text["facts"])


def _hash_of(net: EncoderNet) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(net.state_dict().items()):
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        flat = tensor.detach().cpu().contiguous().view(-1)
        digest.update(flat.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
