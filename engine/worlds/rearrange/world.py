"""Language Rearrangement as a world of the studio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from engine.errors import ConfigError
from engine.worlds.base import Recipe, TaskSpec, Vocabulary, WorldBatch, WorldEnv
from engine.worlds.rearrange.names import ACTIONS, RECEPTACLES

NAME = "rearrange"
TASK = TaskSpec("language_rearrangement", "language rearrangement", "true")
LENGTH = 32
"""Actions after which an episode ends."""


class RearrangeWorld:
    """One task, told by an instruction in each episode; what acts in it is a LLaRP policy.

    It sees pictures and reads words, so there is nothing for policy code to call, and no options
    to learn over: that half of the studio works in other worlds.
    """

    name = NAME
    title = "Language Rearrangement: tidy a flat by instruction, from pictures and words"
    primitives = tuple(action.name for action in ACTIONS)
    primitive_function = "act"
    queries: frozenset[str] = frozenset()
    achievements: tuple[str, ...] = ()
    episode_length = LENGTH

    def make_env(self, length: int | None = None) -> WorldEnv:
        """Refuse: there are no symbols to observe."""
        self._refuse()

    def make_batch(self, size: int, length: int | None = None, *, training: bool) -> WorldBatch:
        """Refuse: there are no symbols to observe (`RearrangeBatch` plays it)."""
        self._refuse()

    def stub(self) -> str:
        """No code is written for this world."""
        return "def act(action: str) -> bool:\n    ...\n"

    def vocabulary(self) -> Vocabulary:
        """No predicates: each episode has its own goal."""
        return Vocabulary(frozenset(), frozenset(), {})

    def facts(self) -> str:
        """What one should know."""
        places = ", ".join(receptacle.spoken for receptacle in RECEPTACLES)
        return (
            f"A flat with {places}. The robot goes to a place, picks up one object at a time, puts "
            "it down, opens and closes drawers and the fridge, as it is told."
        )

    def recipes(self) -> tuple[Recipe, ...]:
        """Nothing is made here."""
        return ()

    def tasks(self) -> tuple[TaskSpec, ...]:
        """The one task."""
        return (TASK,)

    def observation_parts(self) -> Mapping[str, tuple[int, ...]]:
        """Pictures have no parts."""
        return {}

    def score(self, success: Mapping[str, float]) -> float:
        """Mean success over the splits, in percent."""
        return 100 * sum(success.values()) / len(success) if success else 0.0

    def _refuse(self) -> NoReturn:
        raise ConfigError(
            f"the world {self.name!r} is seen in pictures: options cannot be learnt in it",
            "Use a policy of its own: --policy llarp.",
        )
