"""Policies over primitives and coded actions that need no network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from engine.rl.option_set import Mask
from engine.rl.options import CodedAction
from engine.worlds.base import Observation, PlayerState, World


class Policy(Protocol):
    """Chooses one action of the action space (primitives, then coded actions) at a time."""

    name: str

    def begin_episode(self, seed: int) -> None:
        """A new episode in the world of this seed begins; chance starts from it too."""
        ...

    def choose(self, observation: Observation, player: PlayerState, mask: Mask) -> int:
        """Index of an action whose mask is true."""
        ...


class Chooser(Protocol):
    """Code-only control (`engine.agents.executive.PlanExecutive`)."""

    def choose(self, player: PlayerState) -> CodedAction | None:
        """The coded action to run now; None when there is nothing to do."""
        ...


class RandomPolicy:
    """Uniformly random primitive actions: the floor every policy must beat."""

    name = "random"

    def __init__(self, world: World, seed: int = 0) -> None:
        self._primitives = len(world.primitives)
        self._seed = seed
        self._rng = np.random.default_rng((seed, 0))

    def begin_episode(self, seed: int) -> None:
        """Start the random stream of this episode."""
        self._rng = np.random.default_rng((self._seed, seed))

    def choose(self, observation: Observation, player: PlayerState, mask: Mask) -> int:
        """Any primitive."""
        return int(self._rng.integers(self._primitives))


class ExecutivePolicy:
    """The coded actions in plan order, nothing learnt.

    When the executive has nothing to do, or names an action that may not run now (it has just
    ended without acting), a random primitive is taken, so that the world changes.
    """

    name = "code_only"

    def __init__(
        self, executive: Chooser, actions: Sequence[CodedAction], world: World, seed: int = 0
    ) -> None:
        self._executive = executive
        self._primitives = len(world.primitives)
        self._indices = {
            action.name: index for index, action in enumerate(actions, start=self._primitives)
        }
        self._seed = seed
        self._rng = np.random.default_rng((seed, 0))

    def begin_episode(self, seed: int) -> None:
        """Start the random stream of this episode."""
        self._rng = np.random.default_rng((self._seed, seed))

    def choose(self, observation: Observation, player: PlayerState, mask: Mask) -> int:
        """The executive's coded action, else a random primitive."""
        action = self._executive.choose(player)
        if action is not None:
            index = self._indices[action.name]
            if mask[index]:
                return index
        return int(self._rng.integers(self._primitives))
