"""Pictures, records and events for the panels, as a run would give them."""

from __future__ import annotations

from collections.abc import Callable

import crafter
import numpy as np
import pytest

from skills_db.records import FrameRecord

FRAME_SIZE = 63


@pytest.fixture(scope="session")
def crafter_rgb() -> bytes:
    """A picture by crafter's own renderer, always the same one."""
    env = crafter.Env(seed=3, size=(FRAME_SIZE, FRAME_SIZE))
    env.reset()
    return bytes(np.ascontiguousarray(env.render((FRAME_SIZE, FRAME_SIZE)), dtype=np.uint8))


@pytest.fixture
def make_frame(crafter_rgb: bytes) -> Callable[..., FrameRecord]:
    """Makes frames of the picture with a sequence number and a caption."""

    def make(seq: int = 1, caption: str = "collect_wood · seed 3 · frame 12") -> FrameRecord:
        return FrameRecord("run1", seq, FRAME_SIZE, FRAME_SIZE, crafter_rgb, caption)

    return make
