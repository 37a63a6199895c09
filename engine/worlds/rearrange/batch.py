"""A batch of episodes of Language Rearrangement, stepped together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange.episode import Episode
from engine.worlds.rearrange.facts import facts, packed
from engine.worlds.rearrange.layout import Layout, generate
from engine.worlds.rearrange.names import ACTIONS
from engine.worlds.rearrange.pictures import Draw, Pictures, Pixels, view_of
from engine.worlds.rearrange.render import Renderer, View
from engine.worlds.rearrange.rules import act
from engine.worlds.rearrange.score import SUCCESS_REWARD, Score
from engine.worlds.rearrange.state import Rows, allocate

LENGTH: Final = 32
"""Actions after which an episode ends without success."""
LEAVE: Final = -1
"""Stands for no action: the episode at this place is left as it is."""
_ROOM: Final = 40

Flats = Callable[[int, int], Layout]
"""Makes the flat of an arrangement and a variant."""


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one action in every episode; arrays of the batch's length.

    Places that were left alone keep what they had; their reward is 0.
    """

    rewards: NDArray[np.float64]
    done: NDArray[np.bool_]
    """The episode is over, by success or by its length; begin another one there."""
    success: NDArray[np.bool_]
    progress: NDArray[np.float64]
    """Share of the subgoals ever reached."""
    invalid: NDArray[np.bool_]
    """The action was impossible and changed nothing."""


class RearrangeBatch:
    """`size` episodes side by side; each place begins and ends on its own.

    The reward of an action is 5 * (progress - progress before) + 10 * success, less `penalty` if
    it was impossible. LLaRP's released code means a penalty of 0.05 and drops it by mistake: the
    default 0 is what it does.
    """

    def __init__(
        self,
        size: int,
        length: int = LENGTH,
        picture: int = 64,
        *,
        penalty: float = 0.0,
        flats: Flats = generate,
        draw: Draw | None = None,
    ) -> None:
        """Make room for `size` episodes of at most `length` actions; pictures are square.

        `flats` and `draw` stand in for the generator of flats and for the renderer.
        """
        if size < 1 or length < 1 or picture < 1:
            raise ValueError(
                f"Size, length and picture have to be positive, not {(size, length, picture)!r}."
            )
        self.size = size
        self.length = length
        self.picture = picture
        self.penalty = penalty
        self._flats = flats
        self._state = allocate(size, _ROOM)
        self._episodes: list[Episode | None] = [None] * size
        self._layouts: list[Layout | None] = [None] * size
        self._scores: list[Score | None] = [None] * size
        self._begun: set[int] = set()
        self._pictures = Pictures(size, draw or Renderer(picture).render)
        self._done = np.ones(size, np.bool_)
        self._success = np.zeros(size, np.bool_)
        self._progress = np.zeros(size, np.float64)

    def begin(self, index: int, episode: Episode) -> None:
        """Start an episode at one place of the batch, whatever goes on there.

        Raises:
            PredicateError: The episode's goal cannot be checked.
        """
        index = range(self.size)[index]
        layout = self._flats(episode.macro, episode.variant)
        score = Score(episode)
        if len(episode.objects) > self._state.capacity:
            self._state = self._state.grown(len(episode.objects) + 8)
        self._state.begin(index, episode, layout)
        self._episodes[index], self._layouts[index] = episode, layout
        self._scores[index] = score
        self._pictures.forget(index)
        self._begun.add(index)
        self._done[index] = False

    def step(self, actions: NDArray[np.int64]) -> Step:
        """Take one action (index into `names.ACTIONS`) in every episode; `LEAVE` takes none.

        Raises:
            ValueError: An action does not exist or its episode is over; nothing has been done.
        """
        actions = np.asarray(actions, np.int64)
        rows = self._to_step(actions)
        self._settle()
        rewards = np.zeros(self.size, np.float64)
        invalid = np.zeros(self.size, np.bool_)
        valid = act(self._state, rows, actions[rows])
        invalid[rows] = ~valid
        rewards[rows[~valid]] -= self.penalty
        changed = rows[valid]
        for row in changed.tolist():
            self._pictures.forget(row)
        rewards[changed] += self._update(changed)
        rewards[rows] += SUCCESS_REWARD * self._success[rows]
        self._done[rows] = self._success[rows] | (self._state.steps[rows] >= self.length)
        return Step(
            rewards, self._done.copy(), self._success.copy(), self._progress.copy(), invalid
        )

    def observe(self, indices: Sequence[int] | Rows) -> Pixels:
        """What the robots at these places see, (n, picture, picture, 3), for the caller to keep.

        Raises:
            ValueError: No episode has begun at one of them.
        """
        frames = np.empty((len(indices), self.picture, self.picture, 3), np.uint8)
        for frame, (_, seen) in zip(frames, self._seen(indices), strict=True):
            frame[:] = seen
        return frames

    def picture_keys(self, indices: Sequence[int] | Rows) -> list[bytes]:
        """A digest of each picture's content: equal keys, equal pictures, whichever episode."""
        return [key for key, _ in self._seen(indices)]

    def frame(self, index: int) -> Pixels:
        """The picture at one place as a read-only array, the same one while nothing changes."""
        return self._seen([index])[0][1]

    def view(self, index: int) -> View:
        """All there is to be drawn at a place; for the eye of a person, not of a policy."""
        self.episode(index)
        layout = self._layouts[index]
        assert layout is not None
        return view_of(self._state, index, layout)

    @property
    def done(self) -> NDArray[np.bool_]:
        """Where an episode is over or none has begun."""
        return self._done.copy()

    @property
    def progress(self) -> NDArray[np.float64]:
        """Share of the subgoals ever reached, also before the first action."""
        self._settle()
        return self._progress.copy()

    def instruction(self, index: int) -> str:
        """What the episode at a place asks for, in words."""
        return self.episode(index).instruction

    def episode(self, index: int) -> Episode:
        """The episode at a place.

        Raises:
            ValueError: None has begun there.
        """
        episode = self._episodes[index]
        if episode is None:
            raise ValueError(f"No episode has begun at place {index!r}: call `begin` first.")
        return episode

    def _settle(self) -> None:
        """See what is the case at the start of episodes begun since the last step, all at once."""
        if self._begun:
            self._update(np.array(sorted(self._begun)))
            self._begun.clear()

    def _update(self, rows: Rows) -> list[float]:
        """Score what has changed in these rows; return the rewards of their progress."""
        if not len(rows):
            return []
        rewards = []
        known = packed(facts(self._state, rows))
        for row, now in zip(rows.tolist(), known, strict=True):
            score = self._scores[row]
            assert score is not None  # What has not begun is never stepped.
            rewards.append(score.update(now))
            self._success[row] = score.success
            self._progress[row] = score.progress
        return rewards

    def _seen(self, indices: Sequence[int] | Rows) -> list[tuple[bytes, Pixels]]:
        places = [int(index) for index in indices]
        return self._pictures.of(places, self._state, self._layouts)

    def _to_step(self, actions: NDArray[np.int64]) -> Rows:
        if actions.shape != (self.size,):
            raise ValueError(
                f"A batch of {self.size} takes an action for each, shape ({self.size},), not"
                f" {actions.shape!r}."
            )
        wrong = (actions < LEAVE) | (actions >= len(ACTIONS))
        if wrong.any():
            raise ValueError(
                f"There is no action {actions[wrong].tolist()!r}: they go from 0 to"
                f" {len(ACTIONS) - 1}, and {LEAVE} leaves an episode alone."
            )
        rows = np.flatnonzero(actions != LEAVE)
        over = rows[self._done[rows]]
        if len(over):
            raise ValueError(
                f"The episodes at {over.tolist()!r} are over or have not begun: call `begin` there,"
                f" or pass {LEAVE} as their action."
            )
        return rows
