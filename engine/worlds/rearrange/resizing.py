"""Pictures in another size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def resized(picture: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """A picture (height, width, 3) as (size, size, 3): each new pixel is the mean of its area."""
    if picture.shape[:2] == (size, size):
        return picture
    rows, columns = _shares(picture.shape[0], size), _shares(picture.shape[1], size)
    mixed = np.einsum("ih,hwc,jw->ijc", rows, picture.astype(np.float64), columns, optimize=True)
    new: NDArray[np.uint8] = np.rint(mixed).astype(np.uint8)
    return new


def _shares(old: int, new: int) -> NDArray[np.float64]:
    """Share of each of `old` pixels in each of `new` ones along one side, (new, old)."""
    edges = np.arange(new + 1) * (old / new)
    ends = np.minimum(edges[1:, None], np.arange(1, old + 1))
    overlaps = np.clip(ends - np.maximum(edges[:-1, None], np.arange(old)), 0, None)
    shares: NDArray[np.float64] = overlaps / overlaps.sum(axis=1, keepdims=True)
    return shares
