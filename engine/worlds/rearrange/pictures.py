"""What the robots of a batch see, drawn only where it has changed."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange.layout import Layout
from engine.worlds.rearrange.render import View
from engine.worlds.rearrange.state import State

Pixels = NDArray[np.uint8]
Draw = Callable[[Sequence[View]], Pixels]
"""Draws pictures of all views, (n, size, size, 3)."""

KEPT_BYTES: Final = 64 << 20
"""Memory for pictures that may be seen again."""


class Pictures:
    """One picture for each place of a batch, and those seen lately.

    The same content is the same picture: the same read-only array and the same key, for as long as
    it is kept.
    """

    def __init__(self, size: int, draw: Draw, kept_bytes: int = KEPT_BYTES) -> None:
        """Have nothing drawn yet of `size` places."""
        self._draw = draw
        self._kept_bytes = kept_bytes
        self._current: list[tuple[bytes, Pixels] | None] = [None] * size
        self._kept: OrderedDict[bytes, Pixels] = OrderedDict()

    def forget(self, index: int) -> None:
        """What there is to see at a place has changed."""
        self._current[index] = None

    def of(
        self, indices: Sequence[int], state: State, layouts: Sequence[Layout | None]
    ) -> list[tuple[bytes, Pixels]]:
        """Key and picture of each place, (size, size, 3)."""
        views: dict[bytes, View] = {}
        keys: dict[int, bytes] = {}
        for index in indices:
            layout = layouts[index]
            if self._current[index] is not None:
                continue
            if layout is None:
                raise ValueError(f"No episode has begun at place {index!r}: call `begin` first.")
            view = view_of(state, index, layout)
            keys[index] = key = key_of(view)
            if key not in self._kept:
                views[key] = view
        if views:
            self._keep(list(views), self._draw(list(views.values())))
        for index, key in keys.items():
            self._kept.move_to_end(key)
            self._current[index] = key, self._kept[key]
        self._trim()
        return [seen for index in indices if (seen := self._current[index]) is not None]

    def _keep(self, keys: Sequence[bytes], pictures: Pixels) -> None:
        for key, picture in zip(keys, pictures, strict=True):
            own = picture.copy()
            own.flags.writeable = False
            self._kept[key] = own

    def _trim(self) -> None:
        if self._kept:
            each = next(iter(self._kept.values())).nbytes
            while len(self._kept) * each > self._kept_bytes:
                self._kept.popitem(last=False)


def view_of(state: State, index: int, layout: Layout) -> View:
    """What is to be drawn of one row of a state; a copy, so that it stays as it is."""
    count = int(state.counts[index])
    x, y, heading = state.pose[index].tolist()
    first, second, third, fourth, fridge = state.joints[index].tolist()
    return View(
        layout=layout,
        pose=(x, y, heading),
        joints=(first, second, third, fourth, fridge),
        categories=state.categories[index, :count].copy(),
        instances=state.instances[index, :count].copy(),
        positions=state.positions[index, :count].copy(),
        held=int(state.held[index]),
    )


def key_of(view: View) -> bytes:
    """A digest of all that decides a picture."""
    small = (view.layout.macro, view.layout.variant, view.pose, tuple(view.joints), view.held)
    digest = hashlib.blake2b(repr(small).encode(), digest_size=16)
    for array in (view.categories, view.instances, view.positions):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()
