"""Policies over primitives and coded actions that need no network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from engine.rl.decisions import Ints, Mask, Rechoice
from engine.rl.options import CodedAction
from engine.rl.plan_features import plan_says
from engine.worlds.base import Observation, PlayerState, World

if TYPE_CHECKING:
    from engine.worlds.base import WorldBatch


def can_go_on(observations: Observation, coded: int) -> Ints:
    """Number of the coded action that stands still and that code would let go on; -1 for none."""
    if not coded:
        return np.full(len(observations), -1, np.int64)
    says = plan_says(observations, coded)
    both = says.running & says.comes_next
    return np.where(both.any(axis=1), both.argmax(axis=1), -1)


class Policy(Protocol):
    """Chooses actions (primitives, then coded actions) at several places of a batch at once."""

    name: str
    rechoice: Rechoice
    """When it wants to be asked while a coded action runs."""

    def begin_episode(self, place: int, seed: int) -> None:
        """A new episode in the world of this seed begins at a place; chance starts from it too."""
        ...

    def choose(
        self,
        places: Ints,
        observations: Observation,
        players: Sequence[PlayerState],
        masks: Mask,
    ) -> Ints:
        """Index of an action whose mask is true for each of the places; all have a row each."""
        ...


class Choosing(Protocol):
    """Where choices are made: an `OptionBatch`, or the `OptionRunner` of a learned action."""

    batch: WorldBatch

    def look(self, places: Ints) -> tuple[Observation, Mask]:
        """Observations and masks of some places."""
        ...


Heard = Callable[[Ints, Observation, Ints], None]
"""Told of a choice: places, what was seen there, and what was chosen."""


def ask(policy: Policy, where: Choosing, places: Ints, heard: Heard | None = None) -> Ints:
    """What a policy chooses at some places of a batch.

    Args:
        heard: told of it, before anything is begun.
    """
    players = where.batch.players
    observations, masks = where.look(places)
    inside = [players[place] for place in places.tolist()]
    chosen = policy.choose(places, observations, inside, masks)
    if heard is not None:
        heard(places, observations, chosen)
    return chosen


class Chooser(Protocol):
    """Code-only control of one episode (`engine.agents.executive.PlanExecutive`)."""

    def choose(self, player: PlayerState) -> CodedAction | None:
        """The coded action to run now; None when there is nothing to do."""
        ...


class RandomPolicy:
    """Uniformly random primitive actions: the floor every policy must beat."""

    name = "random"
    rechoice = Rechoice()

    def __init__(self, world: World, seed: int = 0) -> None:
        self._primitives = len(world.primitives)
        self._seed = seed
        self._rngs: dict[int, np.random.Generator] = {}

    def begin_episode(self, place: int, seed: int) -> None:
        """Start the random stream of this episode."""
        self._rngs[place] = np.random.default_rng((self._seed, seed))

    def choose(
        self,
        places: Ints,
        observations: Observation,
        players: Sequence[PlayerState],
        masks: Mask,
    ) -> Ints:
        """Any primitives."""
        return np.array([self._rngs[p].integers(self._primitives) for p in places.tolist()])


class ExecutivePolicy:
    """The coded actions in plan order, nothing learnt.

    What can go on goes on, unless its own rule interrupts it; else the executive is asked.
    When the executive has nothing to do, or names an action that may not run now (it has just
    ended without acting), a random primitive is taken, so that the world changes.
    """

    name = "code_only"

    def __init__(
        self,
        executive: Callable[[], Chooser],
        actions: Sequence[CodedAction],
        world: World,
        seed: int = 0,
        rechoice: Rechoice | None = None,
    ) -> None:
        """Nothing is chosen yet.

        Args:
            executive: makes the executive of one episode.
        """
        self.rechoice = rechoice or Rechoice()
        self._executive = executive
        self._primitives = len(world.primitives)
        self._indices = {
            action.name: index for index, action in enumerate(actions, start=self._primitives)
        }
        self._seed = seed
        self._rngs: dict[int, np.random.Generator] = {}
        self._executives: dict[int, Chooser] = {}

    def begin_episode(self, place: int, seed: int) -> None:
        """A fresh executive and the random stream of this episode."""
        self._rngs[place] = np.random.default_rng((self._seed, seed))
        self._executives[place] = self._executive()

    def choose(
        self,
        places: Ints,
        observations: Observation,
        players: Sequence[PlayerState],
        masks: Mask,
    ) -> Ints:
        """The executive's coded action, else a random primitive."""
        chosen = np.empty(len(places), np.int64)
        going_on = can_go_on(observations, len(self._indices))
        for row, place in enumerate(places.tolist()):
            if going_on[row] >= 0:
                chosen[row] = self._primitives + going_on[row]
                continue
            action = self._executives[place].choose(players[row])
            index = None if action is None else self._indices[action.name]
            if index is None or not masks[row, index]:
                index = int(self._rngs[place].integers(self._primitives))
            chosen[row] = index
        return chosen
