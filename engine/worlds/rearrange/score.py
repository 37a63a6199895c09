"""How far an episode has come, and what that is worth.

Source: LLaRP's released reward, 5 * (progress - progress before) + 10 * success. Progress is the
share of subgoals that have ever been true; what is true before the first action counts as reached
and is worth nothing.
"""

from __future__ import annotations

from typing import Final

from engine.worlds.rearrange.episode import Episode
from engine.worlds.rearrange.grounding import Check, ground

PROGRESS_REWARD: Final = 5.0
SUCCESS_REWARD: Final = 10.0


class Score:
    """Goal and subgoals of one episode, from its start on; `update` with the start first."""

    def __init__(self, episode: Episode) -> None:
        """Raise `PredicateError` if a goal of the episode cannot be checked."""
        categories = [placed.category for placed in episode.objects]
        self._goal: Check = ground(episode.goal, categories)
        self._pending = [ground(subgoal, categories) for subgoal in episode.subgoals]
        self._total = len(self._pending)
        self.success = False
        self.progress = 0.0

    def update(self, known: int) -> float:
        """See what is known after an action (`facts.packed`); return the reward of its progress."""
        pending = [subgoal for subgoal in self._pending if not subgoal(known)]
        self._pending = pending
        before = self.progress
        self.progress = (self._total - len(pending)) / max(self._total, 1)
        self.success = self._goal(known)
        return PROGRESS_REWARD * (self.progress - before)
