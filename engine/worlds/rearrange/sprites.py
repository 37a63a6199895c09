"""Pictures of objects in the sizes at which they are seen, each made once."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange.drawing import SIDE, Mask, paint
from engine.worlds.rearrange.names import CATEGORIES
from engine.worlds.rearrange.shapes import COLOURS, SHAPES

Pixels = NDArray[np.uint8]

SIZES: Final = np.array([SHAPES[name][:2] for name in CATEGORIES], np.float32)
"""Width and height of each category in metres, shape (33, 2)."""
SIZES.flags.writeable = False
_COVERED: Final = 0.42
"""A pixel belongs to an object from this share of it on."""


@functools.cache
def master(category: int, instance: int) -> tuple[Pixels, Mask]:
    """The picture that smaller ones are made of: colours (96, 96, 3) and what is covered.

    Raises:
        ValueError: There is no such category or instance.
    """
    if not 0 <= category < len(CATEGORIES):
        raise ValueError(
            f"There is no category {category!r}: take one from 0 to {len(CATEGORIES) - 1}."
        )
    name = CATEGORIES[category]
    if not 0 <= instance < len(COLOURS[name]):
        raise ValueError(
            f"There is no {name} {instance!r}: take one from 0 to {len(COLOURS[name]) - 1}."
        )
    return paint(SHAPES[name][2](COLOURS[name][instance]))


def sprite(category: int, instance: int, width: int, height: int) -> Pixels:
    """An object in `width` x `height` pixels: colours and 1 where it covers, shape (height, width,
    4).

    Colours are means over what is covered of each pixel.
    """
    colours, covered = master(category, instance)
    down, across = _averaging(height), _averaging(width).T
    share = down @ covered.astype(np.float32) @ across
    total = down @ (colours * covered[..., None]).astype(np.float32).transpose(2, 0, 1) @ across
    mean = total / np.maximum(share, 1e-6)
    pixels = np.empty((height, width, 4), np.uint8)
    pixels[..., :3] = np.clip(mean + 0.5, 0, 255).transpose(1, 2, 0)
    pixels[..., 3] = share >= min(_COVERED, float(share.max()))
    return pixels


class Atlas:
    """Sprites one after the other in one array, each made when first asked for."""

    def __init__(self, kept_bytes: int = 64 << 20) -> None:
        self.pixels = np.empty((1 << 16, 4), np.uint8)
        """What is in use comes first; shape (n, 4) as in `sprite`, n changes."""
        self._used = 0
        self._kept = kept_bytes // 4
        self._starts: dict[tuple[int, int, int, int], int] = {}

    def make_room(self) -> None:
        """Forget everything if more is kept than should be; what `start` said is void then."""
        if self._used > self._kept:
            self._starts.clear()
            self._used = 0

    def start(self, category: int, instance: int, width: int, height: int) -> int:
        """Index in `pixels` at which the sprite begins."""
        key = category, instance, width, height
        start = self._starts.get(key)
        if start is None:
            start = self._starts[key] = self._used
            self._used += width * height
            if self._used > len(self.pixels):
                grown = np.empty((2 * self._used, 4), np.uint8)
                grown[:start] = self.pixels[:start]
                self.pixels = grown
            self.pixels[start : self._used] = sprite(*key).reshape(-1, 4)
        return start


@functools.cache
def _averaging(count: int) -> NDArray[np.float32]:
    """Weights with which the master's rows make `count` rows: shape (count, 96)."""
    edges = np.linspace(0, SIDE, count + 1)
    low, high = edges[:-1, None], edges[1:, None]
    rows = np.arange(SIDE)
    overlap = np.clip(np.minimum(rows + 1, high) - np.maximum(rows, low), 0, None)
    return np.asarray(overlap / overlap.sum(1, keepdims=True), dtype=np.float32)
