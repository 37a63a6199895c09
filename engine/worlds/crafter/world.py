"""The world `crafter`: environment, stub, words, facts, tasks and score."""

from __future__ import annotations

import math
from collections.abc import Mapping

from engine.worlds.base import Recipe, TaskSpec, Vocabulary, WorldBatch, WorldEnv
from engine.worlds.crafter.data import EPISODE_LENGTH, crafter_data
from engine.worlds.crafter.stub import PRIMITIVE_FUNCTION, query_names, stub_text


class CrafterWorld:
    """The public Crafter benchmark; the game itself is imported with the first environment."""

    name = "crafter"
    title = "Crafter: survive, gather and craft on an open map"
    primitive_function = PRIMITIVE_FUNCTION
    episode_length = EPISODE_LENGTH

    def __init__(self) -> None:
        data = crafter_data()
        self.primitives = data.actions
        self.achievements = data.achievements
        self.queries = query_names()

    def make_env(self, length: int | None = None) -> WorldEnv:
        """A new environment; `length` overrides `episode_length`."""
        from engine.worlds.crafter.env import CrafterEnv

        return CrafterEnv(length)

    def make_batch(self, size: int, length: int | None = None, *, training: bool) -> WorldBatch:
        """Several episodes at once: of the compiled twin in training, else of the official game."""
        from engine.worlds.crafter.batch import CrafterBatch

        if training:
            from engine.worlds.crafter.twin.twin import Twin

            return CrafterBatch(Twin(size, length))
        from engine.worlds.crafter.official import OfficialGames

        return CrafterBatch(OfficialGames(size, length))

    def stub(self) -> str:
        """Text of `api.pyi`."""
        return stub_text()

    def vocabulary(self) -> Vocabulary:
        """Words for predicates."""
        from engine.worlds.crafter.player import vocabulary

        return vocabulary()

    def facts(self) -> str:
        """What an agent should know of Crafter, in words."""
        from engine.worlds.crafter.facts import facts

        return facts()

    def recipes(self) -> tuple[Recipe, ...]:
        """Recipes of the package's own data."""
        return crafter_data().recipes

    def tasks(self) -> tuple[TaskSpec, ...]:
        """Tasks with a success predicate, the default one first."""
        from engine.worlds.crafter.tasks import tasks

        return tasks()

    def observation_parts(self) -> Mapping[str, tuple[int, ...]]:
        """Parts of the observation by name."""
        from engine.worlds.crafter.observation import observation_parts

        return observation_parts()

    def score(self, success: Mapping[str, float]) -> float:
        """Crafter's score in percent (arXiv 2109.06780, section 3).

        The geometric mean over all achievements of 1 + success rate in percent, minus 1; an
        achievement that is not given counts as never unlocked.
        """
        logs = [math.log1p(100 * success.get(name, 0.0)) for name in self.achievements]
        return math.expm1(sum(logs) / len(logs))
