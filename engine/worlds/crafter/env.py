"""Crafter as a Gymnasium environment for one player with a memory."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from engine.worlds.base import Observation, WorldEnv
from engine.worlds.crafter.data import EPISODE_LENGTH, crafter_data
from engine.worlds.crafter.game import Game
from engine.worlds.crafter.memory import Memories
from engine.worlds.crafter.observation import observation_names, observe
from engine.worlds.crafter.perception import perceive
from engine.worlds.crafter.percepts import Percepts
from engine.worlds.crafter.player import PlayerMemory
from engine.worlds.crafter.snapshot import load_snapshot, save_snapshot


class CrafterEnv(WorldEnv):
    """Seeded and deterministic: the same seed and actions give the same episode, drawn or not.

    `reset(seed=s)` starts the first episode of that seed, a later `reset()` the next one, as the
    package counts them. The reward is Crafter's own: 1 in a frame that unlocks something, plus a
    tenth of the change in health.
    """

    metadata = {"render_modes": []}

    def __init__(self, length: int | None = None) -> None:
        if length is not None and length < 1:
            raise ValueError(f"length must be at least 1 frame, not {length!r}")
        self._length = length or EPISODE_LENGTH
        self._actions = crafter_data().actions
        self.action_space = gymnasium.spaces.Discrete(len(self._actions))
        self.observation_space = gymnasium.spaces.Box(
            -1.0, 1.0, (len(observation_names()),), np.float32
        )
        self._game: Game | None = None
        self._percepts = Percepts.empty(1)
        self._memories = Memories(1)
        self._player = PlayerMemory(self._memories, 0)
        self._action = np.zeros(1, np.int64)
        self._active = np.ones(1, np.bool_)
        self._changed = np.zeros(1, np.bool_)
        self._index = np.zeros(1, np.int64)
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; without a seed ever given, of a seed drawn at random."""
        super().reset(seed=seed, options=options)
        if seed is not None or self._game is None:
            start = int(self.np_random.integers(2**31 - 1)) if seed is None else seed
            self._game = self._game or Game(self._length)
            self._game.begin(start, 1)
        else:
            self._game.begin(self._game.seed, self._game.episode + 1)
        self.wake()
        self._over = False
        return self._observe(), {"unlocked": (), "changed": False}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One frame.

        Raises:
            ResetNeeded: before the first `reset` or after the episode ended.
            ValueError: there is no action of that number.
        """
        if self._game is None or self._over:
            raise ResetNeeded("The episode is over or never began; call `reset` first")
        number = int(action)
        if not 0 <= number < len(self._actions):
            raise ValueError(f"action must be 0..{len(self._actions) - 1}, not {number!r}")
        advance = self._game.advance(number)
        perceive(self._game, self._percepts, 0)
        self._action[0] = number
        self._memories.update(self._percepts, self._action, self._active, self._changed)
        truncated = not advance.dead and self._game.frames >= self._length
        self._over = advance.dead or truncated
        info = {
            "unlocked": advance.unlocked,
            "changed": bool(self._changed[0]),
        }
        return self._observe(), advance.reward, advance.dead, truncated, info

    @property
    def player(self) -> PlayerMemory:
        """What the player knows now."""
        return self._player

    @property
    def achievements(self) -> frozenset[str]:
        """What was unlocked in this episode."""
        return self._game.unlocked if self._game else frozenset()

    @property
    def episode_frames(self) -> int:
        """Env frames since the last reset."""
        return self._player.memory.frames

    @property
    def game(self) -> Game:
        """The game itself, for evaluation and drawing alone.

        Raises:
            ResetNeeded: before the first `reset`.
        """
        if self._game is None:
            raise ResetNeeded("No episode has begun; call `reset` first")
        return self._game

    def frame(self, size: int = 64) -> NDArray[np.uint8]:
        """The package's own picture, shape (size, size, 3); `size` is at least 27 pixels."""
        return self.game.frame(size)

    def snapshot(self) -> bytes:
        """The whole state as compressed JSON."""
        return save_snapshot(self.game, self._memories.save(0), self._over, self.np_random)

    def restore(self, snapshot: bytes) -> Observation:
        """Go back to a snapshot, of this environment or of another.

        Raises:
            EngineError: the bytes are no snapshot of this world.
        """
        loaded = load_snapshot(snapshot)
        self._game = loaded.game
        self._length = loaded.game.length
        self._memories.load(0, loaded.memory)
        self.look()
        self._over = loaded.over
        self.np_random.bit_generator.state = loaded.random_state
        return self._observe()

    def wake(self) -> None:
        """Begin the player's memory anew with the present view."""
        self._memories.begin(0)
        self.look()

    def look(self) -> None:
        """Let the player look again without time passing, after the game was changed by hand."""
        perceive(self.game, self._percepts, 0)
        self._memories.look(0, self._percepts)

    def _observe(self) -> Observation:
        return observe(self._memories.rows, self._index, self._length).reshape(-1)
