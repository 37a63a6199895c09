"""The small frozen visual encoder: 64x64 pictures of this project's flats to 256 features.

It stands where LLaRP has VC-1, a ViT trained on real video without labels; that takes a GPU. This
one is a conv net of some 350,000 parameters, trained by `engine.llarp.encoder_training`.
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
from engine.worlds.rearrange.names import CATEGORIES

PICTURE: Final = 64
"""Pixels a side."""
FEATURES: Final = 256
_OTHERS: Final = 64
"""Channels for all that is no object on a surface."""
_PARTS: Final = (2, 4)
"""Rows and columns in which the strongest answer of each channel is kept."""
_KIND: Final = "visual encoder 1"
_AT_ONCE: Final = 256


class EncoderNet(nn.Module):
    """Four convolutions, the picture halved after each but the last, and a linear layer.

    Features have mean 0 and variance 1 over each picture.
    """

    def __init__(self) -> None:
        """Initialise from PyTorch's global generator."""
        super().__init__()
        self.trunk = nn.Sequential(
            *_convolution(3, 24),
            nn.MaxPool2d(2),
            *_convolution(24, 48),
            nn.MaxPool2d(2),
            *_convolution(48, 96),
            nn.MaxPool2d(2),
            *_convolution(96, 96),
        )
        self.objects = nn.Conv2d(96, len(CATEGORIES), 1)
        assert self.objects.bias is not None
        nn.init.constant_(self.objects.bias, -6.0)  # any one thing is rarely in any one cell
        self.others = nn.Conv2d(96, _OTHERS, 1)
        self.summary = nn.Sequential(
            nn.AdaptiveMaxPool2d(_PARTS),
            nn.Flatten(),
            nn.Linear((len(CATEGORIES) + _OTHERS) * _PARTS[0] * _PARTS[1], FEATURES),
            nn.LayerNorm(FEATURES, elementwise_affine=False),
        )

    def look(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Features (n, 256), and logits of the middle of an object of a category being in a cell.

        The logits, (n, 33, 8, 8), are trained directly; features are made of the strongest.
        """
        pixels = pictures.permute(0, 3, 1, 2).float() / 127.5 - 1.0  # channels last: the faster
        grid = self.trunk(pixels)
        objects = self.objects(grid)
        features = self.summary(torch.cat((objects, self.others(grid)), dim=1))
        return features, objects

    def forward(self, pictures: Tensor) -> Tensor:
        """Features (n, 256) of pictures (n, 64, 64, 3) uint8."""
        return self.look(pictures)[0]


def _convolution(inputs: int, outputs: int) -> tuple[nn.Module, ...]:
    return (
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
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
