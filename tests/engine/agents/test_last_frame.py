"""The last frame of the first failed trial: drawn once, as the trial left the world."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.agents.last_frame import PICTURE_SIZE, FirstFailure
from engine.agents.plan import Trial


class Episode:
    """Counts how often it is drawn."""

    player: Any = None
    episode_frames = 0

    def __init__(self) -> None:
        self.drawn = 0

    def frame(self, size: int = 64) -> Any:
        self.drawn += 1
        return np.full((size, size, 3), self.drawn, np.uint8)


def trial(index: int, outcome: Any, **more: Any) -> Trial:
    return Trial(
        sub_action="chop", version=1, index=index, seed=500_000 + index, outcome=outcome,
        detail="", frames=1, actions=(), gained={}, **more,
    )  # fmt: skip


def test_only_the_first_failure_is_drawn() -> None:
    episode, first = Episode(), FirstFailure()
    first.look(episode, trial(0, "success"))
    assert (first.last_frame, episode.drawn) == (None, 0)
    for index, outcome in enumerate(("died", "failed", "success"), 1):
        first.look(episode, trial(index, outcome))
    assert first.last_frame is not None
    assert first.last_frame.seed == 500_001
    assert first.last_frame.pixels.shape == (PICTURE_SIZE, PICTURE_SIZE, 3)
    assert episode.drawn == 1


@pytest.mark.parametrize("outcome", ["failed", "died"])
def test_a_trial_that_says_nothing_of_the_code_is_no_failure(outcome: str) -> None:
    episode, first = Episode(), FirstFailure()
    first.look(episode, trial(0, outcome, started=False))
    assert (first.last_frame, episode.drawn) == (None, 0)
