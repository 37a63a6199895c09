"""The frozen visual encoder's seam: pictures to feature vectors, each picture only once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Protocol

import torch
from torch import Tensor

from engine.errors import ConfigError


class Encoder(Protocol):
    """A frozen visual encoder."""

    @property
    def source_hash(self) -> str:
        """Which encoder this is; a checkpoint names it by it."""
        ...

    def __call__(self, pictures: Tensor) -> Tensor:
        """Features (n, features) float32 of pictures (n, height, width, 3) uint8."""
        ...


class RememberingEncoder:
    """Encodes each distinct picture once; the least recently seen make room for new ones."""

    def __init__(self, encoder: Encoder, capacity: int = 65_536) -> None:
        """Wrap `encoder`, keeping the features of `capacity` pictures."""
        self._encoder = encoder
        self._capacity = capacity
        self._known: OrderedDict[bytes, Tensor] = OrderedDict()
        self.encoded = 0
        """Pictures put through the encoder so far."""

    @property
    def source_hash(self) -> str:
        """That of the encoder."""
        return self._encoder.source_hash

    @torch.no_grad()
    def __call__(self, pictures: Tensor) -> Tensor:
        """Features (n, features) of pictures (n, height, width, 3) uint8."""
        array = pictures.cpu().contiguous().numpy()
        keys = [hashlib.blake2b(memoryview(picture), digest_size=16).digest() for picture in array]
        new = {key: index for index, key in enumerate(keys) if key not in self._known}
        if new:
            found = self._encoder(pictures[list(new.values())]).cpu().float()
            self.encoded += len(new)
            self._known.update(zip(new, (row.clone() for row in found), strict=True))
        for key in keys:
            self._known.move_to_end(key)
        features = torch.stack([self._known[key] for key in keys])
        while len(self._known) > self._capacity:
            self._known.popitem(last=False)
        return features


def features_of(observations: Tensor, encoder: Encoder | None, size: int) -> Tensor:
    """Features (n, size) float32 on the CPU of observations that are features or pictures.

    Raises:
        ConfigError: pictures without an encoder, or features of another length.
    """
    if observations.dim() == 4:
        if encoder is None:
            raise ConfigError(
                f"observations are pictures of shape {tuple(observations.shape)!r}, and there is "
                "no visual encoder",
                "Give the policy an encoder, or observations that are feature vectors.",
            )
        observations = encoder(observations)
    if observations.dim() != 2 or observations.shape[1] != size:
        raise ConfigError(
            f"observations have shape {tuple(observations.shape)!r}, not (n, {size})",
            f"Set `features` to the length of the encoder's vectors, or use one with {size}.",
        )
    return observations.detach().cpu().float()
