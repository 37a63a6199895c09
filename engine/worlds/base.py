"""The seam to everything that can be acted in: what a world must give."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import gymnasium
import numpy as np
from numpy.typing import NDArray

Observation = NDArray[np.float32]
Answer = bool | int | float | str | list[Any] | tuple[Any, ...] | dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words a predicate may use in a world.

    `numbers` are bare names with a numeric value (`wood`, `health`); `flags` are bare names that
    are true or false (`sleeping`); `tests` take one name and are true or false
    (`unlocked(collect_wood)`), with the names each accepts.
    """

    numbers: frozenset[str]
    flags: frozenset[str]
    tests: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task the world can check: words, and the predicate that is true once it is done."""

    name: str
    words: str
    success: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """How something comes about: `needs` are spent, `requires` must be held, `nearby` stand by."""

    action: str
    kind: str
    """`collect`, `make` or `place`."""
    target: str
    gives: Mapping[str, int]
    needs: Mapping[str, int]
    requires: Mapping[str, int]
    nearby: tuple[str, ...]
    where: tuple[str, ...]
    """Materials it applies to (collect) or may be put on (place)."""


class PlayerState(Protocol):
    """What the player knows: the present view, the inventory, and a memory of earlier views."""

    def term(self, name: str, argument: str | None = None) -> float:
        """Value of a vocabulary term; flags and tests are 0.0 or 1.0."""
        ...

    def answer(self, function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Answer:
        """Answer of a query of the stub (never of `act`).

        Raises:
            ValueError: an argument is not what the stub allows; the text is for the code's author.
        """
        ...

    def terms(self) -> Mapping[str, float]:
        """All numbers of the vocabulary, for before/after differences."""
        ...


class WorldEnv(gymnasium.Env[Observation, np.int64]):
    """A seeded, deterministic, snapshot-able Gymnasium environment.

    Observation: float32 vector of what a player sees and remembers. Action: index into the
    world's `primitives`. `info` of `step` has `unlocked` (tuple of names unlocked in this step) and
    `changed` (bool: what `act` of the stub returns).
    """

    @property
    @abstractmethod
    def player(self) -> PlayerState:
        """What the player knows now."""

    @abstractmethod
    def snapshot(self) -> bytes:
        """The whole state incl. random streams and the player's memory; no pickle inside."""

    @abstractmethod
    def restore(self, snapshot: bytes) -> Observation:
        """Go back to a snapshot; what follows is step for step what followed before."""

    @abstractmethod
    def frame(self, size: int = 64) -> NDArray[np.uint8]:
        """A picture for the eye, shape (size, size, 3); drawing never changes the game."""

    @property
    @abstractmethod
    def achievements(self) -> frozenset[str]:
        """What was unlocked in this episode."""

    @property
    @abstractmethod
    def episode_frames(self) -> int:
        """Env frames since the last reset."""


REST: Final = -1
"""Instead of an action: this place of a batch waits."""


@dataclass(frozen=True, slots=True)
class BatchStep:
    """What one frame brought to every episode of a batch; arrays of length `size`."""

    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    changed: NDArray[np.bool_]
    """What `act` of the stub returns."""


class WorldBatch(Protocol):
    """Several independent episodes in one process, all advanced by one frame at a time."""

    size: int
    observation_size: int
    term_names: tuple[str, ...]
    """Every term of the vocabulary as predicates write it: `wood`, `sleeping`, `near(table)`."""
    terms: NDArray[np.float64]
    """Value of each term now, shape (size, len(term_names)); flags and tests are 0.0 or 1.0."""

    @property
    def players(self) -> Sequence[PlayerState]:
        """What each player knows now; also answers the stub's queries."""
        ...

    def begin(self, index: int, seed: int) -> None:
        """Start the first episode of a seed at one place of the batch."""
        ...

    def step(self, actions: NDArray[np.int64]) -> BatchStep:
        """One frame of every episode; the caller begins those anew that ended.

        A place whose action is `REST` has no frame: nothing there changes.
        """
        ...

    def observe(self, indices: NDArray[np.int64]) -> Observation:
        """Observations of some places, shape (len(indices), observation_size)."""
        ...

    def achievements(self, index: int) -> frozenset[str]:
        """What was unlocked in this episode."""
        ...

    def frames(self, index: int) -> int:
        """Env frames of this episode."""
        ...

    def snapshot(self, index: int) -> bytes:
        """The whole state of one episode incl. random streams; no pickle inside."""
        ...

    def restore(self, index: int, snapshot: bytes) -> None:
        """Go on from a snapshot; what follows is step for step what followed before."""
        ...

    def frame(self, index: int, size: int = 64) -> NDArray[np.uint8]:
        """A picture for the eye, shape (size, size, 3); drawing never changes the game."""
        ...

    def close(self) -> None:
        """Give back what the episodes hold."""
        ...


class World(Protocol):
    """One world. Stateless: environments made by it are independent."""

    name: str
    title: str
    primitives: tuple[str, ...]
    """Names of the primitive actions; the index is the action of the environment."""
    primitive_function: str
    """The one function of the stub that costs an env frame: `act`."""
    queries: frozenset[str]
    """The other functions of the stub; they cost no frame."""
    achievements: tuple[str, ...]
    episode_length: int
    """Env frames after which an episode is truncated."""

    def make_env(self, length: int | None = None) -> WorldEnv:
        """A new environment; `length` overrides `episode_length`."""
        ...

    def make_batch(self, size: int, length: int | None = None, *, training: bool) -> WorldBatch:
        """Several episodes at once; in training a faster game with the same rules may play."""
        ...

    def stub(self) -> str:
        """Text of `api.pyi`: documentation, type-check contract and allow-list in one."""
        ...

    def vocabulary(self) -> Vocabulary:
        """Words for predicates."""
        ...

    def facts(self) -> str:
        """What an agent should know of the world, in words (for prompts)."""
        ...

    def recipes(self) -> tuple[Recipe, ...]:
        """Recipes read from the world's own data."""
        ...

    def tasks(self) -> tuple[TaskSpec, ...]:
        """Tasks with a success predicate, the default one first."""
        ...

    def observation_parts(self) -> Mapping[str, tuple[int, ...]]:
        """Parts of the observation a policy may learn without, by name: indices of their numbers.

        Every index belongs to exactly one part.
        """
        ...

    def score(self, success: Mapping[str, float]) -> float:
        """The benchmark's own score (percent) from success rates in 0..1 by achievement."""
        ...
