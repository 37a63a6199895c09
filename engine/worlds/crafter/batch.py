"""Several episodes of Crafter at once, each with a player that remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.worlds.base import REST, BatchStep, Observation, PlayerState
from engine.worlds.crafter.batch_snapshot import HINT, load_place, save_place
from engine.worlds.crafter.data import crafter_data
from engine.worlds.crafter.game import Game
from engine.worlds.crafter.memory import Memories
from engine.worlds.crafter.observation import observation_names, observe
from engine.worlds.crafter.percepts import Percepts
from engine.worlds.crafter.player import PlayerMemory
from engine.worlds.crafter.terms import fill_terms, term_names


class Engine(Protocol):
    """`size` games that write what their players see into `percepts`.

    Two kinds play by the same rules: official games, and the compiled twin for training.
    """

    size: int
    length: int
    percepts: Percepts

    @property
    def frames(self) -> NDArray[np.int64]:
        """Frames since each episode began."""
        ...

    def begin(self, index: int, seed: int) -> None:
        """Start the first episode of a seed at one place."""
        ...

    def step(self, actions: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """One frame of every place but those that rest; rewards and who died in it."""
        ...

    def snapshot(self, index: int) -> Mapping[str, NDArray[Any]]:
        """A copy of the whole state of one place, incl. its random stream."""
        ...

    def restore(self, index: int, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a snapshot.

        Raises:
            KeyError, ValueError: it is no state that `snapshot` gave; nothing changed.
        """
        ...

    def game(self, index: int) -> Game:
        """An official game at this moment, for pictures."""
        ...


class CrafterBatch:
    """`base.WorldBatch`: the games of an engine, with the memories of their players."""

    def __init__(self, engine: Engine) -> None:
        self.size = engine.size
        self.engine = engine
        self.observation_size = len(observation_names())
        self.term_names = term_names()
        self.terms = np.zeros((self.size, len(self.term_names)), np.float64)
        self._memories = Memories(self.size)
        self._players = tuple(PlayerMemory(self._memories, index) for index in range(self.size))
        self._over = np.ones(self.size, np.bool_)

    @property
    def players(self) -> Sequence[PlayerState]:
        """What each player knows now; also answers the stub's queries."""
        return self._players

    def begin(self, index: int, seed: int) -> None:
        """Start the first episode of a seed at one place."""
        self.engine.begin(index, seed)
        self._memories.begin(index)
        self._look(index)
        self._over[index] = False

    def step(self, actions: NDArray[np.int64]) -> BatchStep:
        """One frame of every place whose action is not `REST`.

        Raises:
            ResetNeeded: a place has no episode, or its episode is over; nothing changed.
            ValueError: there is no such action; nothing changed.
        """
        actions = np.ascontiguousarray(actions, np.int64)
        active = actions != REST
        if (active & self._over).any():
            ended = np.flatnonzero(active & self._over).tolist()
            raise ResetNeeded(f"The episodes at {ended!r} are over or never began; call `begin`")
        rewards, dead = self.engine.step(actions)
        changed = np.zeros(self.size, np.bool_)
        self._memories.update(self.engine.percepts, actions, active, changed)
        fill_terms(self._memories.rows, self.terms)
        truncated = active & ~dead & (self.engine.frames >= self.engine.length)
        self._over |= dead | truncated
        return BatchStep(rewards, dead, truncated, changed)

    def observe(self, indices: NDArray[np.int64]) -> Observation:
        """Observations of some places, shape (len(indices), observation_size)."""
        places = np.ascontiguousarray(indices, np.int64)
        if places.size and not 0 <= places.min() <= places.max() < self.size:
            raise ValueError(f"indices must be 0..{self.size - 1}, not {indices!r}")
        return observe(self._memories.rows, places, self.engine.length)

    def achievements(self, index: int) -> frozenset[str]:
        """What was unlocked in this episode."""
        unlocked = self.engine.percepts.unlocked[index].tolist()
        names = zip(crafter_data().achievements, unlocked, strict=True)
        return frozenset(name for name, done in names if done)

    def frames(self, index: int) -> int:
        """Env frames of this episode."""
        return int(self.engine.frames[index])

    def snapshot(self, index: int) -> bytes:
        """The whole state of one episode: compressed arrays, nothing pickled."""
        return save_place(
            type(self.engine).__name__,
            self.engine.length,
            bool(self._over[index]),
            self._memories.save(index),
            self.engine.snapshot(index),
        )

    def restore(self, index: int, snapshot: bytes) -> None:
        """Go on from a snapshot of a batch of the same kind.

        Raises:
            EngineError: the bytes are no such snapshot; nothing changed.
        """
        place = load_place(snapshot, type(self.engine).__name__, self.engine.length)
        try:
            self.engine.restore(index, place.game)
        except (KeyError, ValueError) as error:
            raise EngineError(
                f"The snapshot's game cannot be read: {error!r:.200}", HINT
            ) from error
        self._memories.load(index, place.memory)
        self._look(index)
        self._over[index] = place.over

    def frame(self, index: int, size: int = 64) -> NDArray[np.uint8]:
        """The package's own picture, shape (size, size, 3); `size` is at least 27 pixels."""
        return self.engine.game(index).frame(size)

    def close(self) -> None:
        """Nothing is held but memory."""

    def _look(self, index: int) -> None:
        self._memories.look(index, self.engine.percepts)
        fill_terms(self._memories.rows[index : index + 1], self.terms[index : index + 1])
