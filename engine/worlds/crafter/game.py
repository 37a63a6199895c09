"""The public Crafter game made reproducible: the same rules, the same result for the same seed.

The released package is not reproducible: chunks hold objects in sets ordered by address, and
drawing a frame at night draws from the game's random stream. Nothing of the package is changed;
the subclasses here order the sets, give the renderer a stream of its own, and draw only on demand.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Iterator, MutableSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.codes import START
from engine.worlds.crafter.data import AREA
from engine.worlds.crafter.package import constants, engine, env, objects
from engine.worlds.crafter.terrain import generate

_GRID = (9, 9)
_CHUNK = (12, 12)
_UPDATE_DISTANCE = 2 * max(_GRID)
_SMALLEST_FRAME = 27


class ObjectSet(MutableSet[Any]):
    """A set that iterates in the order of insertion."""

    def __init__(self) -> None:
        self._members: dict[Any, None] = {}

    def __contains__(self, member: object) -> bool:
        return member in self._members

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def add(self, value: Any) -> None:
        """Put it last, unless it is already in."""
        self._members[value] = None

    def discard(self, value: Any) -> None:
        """Take it out if it is in."""
        self._members.pop(value, None)


class OrderedWorld(engine.World):  # type: ignore[misc]
    """Crafter's world with chunks that keep their objects in order of insertion."""

    def reset(self, seed: int | None = None) -> None:
        """Empty the world and start its random stream."""
        super().reset(seed)
        self._chunks: dict[Any, MutableSet[Any]] = collections.defaultdict(ObjectSet)

    @property
    def material_map(self) -> NDArray[np.uint8]:
        """Material codes by [x, y]."""
        found: NDArray[np.uint8] = self._mat_map
        return found

    @property
    def object_map(self) -> NDArray[np.uint32]:
        """Index into the list of objects by [x, y]; 0 for none."""
        found: NDArray[np.uint32] = self._obj_map
        return found

    def object_at(self, index: int) -> Any:
        """The object of an index."""
        return self._objects[index]

    def indices_near(self, position: NDArray[np.int64], distance: int, end: int) -> list[int]:
        """Indices below `end` of the objects nearer than `distance` (sum of both axes)."""
        x, y = int(position[0]), int(position[1])
        left, top = max(x - distance, 0), max(y - distance, 0)
        window = self.object_map[left : x + distance, top : y + distance]
        xs, ys = np.nonzero(window)
        near = np.abs(xs + (left - x)) + np.abs(ys + (top - y)) < distance
        found: list[int] = np.sort(window[xs[near], ys[near]]).tolist()
        return [index for index in found if index < end]


class _LocalView(engine.LocalView):  # type: ignore[misc]
    """Crafter's view with night noise from a stream of its own."""

    noise_random = np.random.RandomState(0)

    def _noise(self, canvas: Any, amount: float, stddev: float) -> Any:
        noise = self.noise_random.uniform(32, 127, canvas.shape[:2])[..., None]
        mask = amount * self._vignette(canvas.shape, stddev)[..., None]
        return (1 - mask) * canvas + mask * noise


@functools.cache
def _pictures() -> Any:
    """The package's pictures, read once a process; they keep their own cache of sizes."""
    return engine.Textures(constants.root / "assets")


@dataclass(frozen=True, slots=True)
class Advance:
    """What one frame brought: the reward, death, and what was unlocked for the first time."""

    reward: float
    dead: bool
    unlocked: tuple[str, ...]


class Game(env.Env):  # type: ignore[misc]
    """Crafter's environment without pictures; the package's own `step` still works on it."""

    def __init__(self, length: int) -> None:
        # The base constructor reads 56 pictures; a game that nobody watches needs none of them.
        self._area = AREA
        self._view = np.array(_GRID)
        self._size = np.array((64, 64))
        self._reward = True
        self._length = length
        self._seed = 0
        self._episode = 0
        self._world = OrderedWorld(AREA, constants.materials, _CHUNK)
        self._drawable = False
        self._step: int = 0
        self._player: Any = None
        self._last_health = 0
        self._unlocked: set[str] = set()

    def begin(self, seed: int, episode: int) -> None:
        """Start the `episode`-th episode (from 1) of a seed, as the package's `reset` would."""
        self._seed = seed
        self._episode = episode
        self._step = 0
        self._world.reset(seed=hash((seed, episode)) % (2**31 - 1))
        self._update_time()
        self._player = objects.Player(self._world, START)
        self._last_health = self._player.health
        self._world.add(self._player)
        self._unlocked = set()
        generate(self._world, self._player)

    def advance(self, action: int) -> Advance:
        """One frame of the game, by the rules of the package's `step` and in its order.

        The package measures the distance of every object of the map; here the object map is asked
        for those that are near. The player is the first object and the only one that can change
        these distances before an object's own turn, so the outcome is the same.
        """
        self._step += 1
        self._update_time()
        player, world = self._player, self._world
        player.action = constants.actions[action]
        end = len(world._objects)
        player.update()
        for index in world.indices_near(player.pos, _UPDATE_DISTANCE, end):
            if index != 1:
                world._objects[index].update()
        if self._step % 10 == 0:
            for chunk, members in world.chunks.items():
                self._balance_chunk(chunk, members)
        reward = (player.health - self._last_health) / 10
        self._last_health = player.health
        unlocked = tuple(
            name
            for name, count in player.achievements.items()
            if count > 0 and name not in self._unlocked
        )
        if unlocked:
            self._unlocked.update(unlocked)
            reward += 1.0
        return Advance(float(reward), bool(player.health <= 0), unlocked)

    def frame(self, size: int) -> NDArray[np.uint8]:
        """The package's own picture (local view and inventory), shape (size, size, 3).

        Raises:
            ValueError: `size` is below 27, where digits would vanish.
        """
        if size < _SMALLEST_FRAME:
            raise ValueError(f"size must be at least {_SMALLEST_FRAME}, not {size!r}")
        if not self._drawable:
            self._load_pictures()
        # The same frame always gets the same noise, and the game's own stream stays untouched.
        self._local_view.noise_random = np.random.RandomState((self._seed, self._step))
        picture: NDArray[np.uint8] = self.render((size, size))
        return np.ascontiguousarray(picture)

    def _load_pictures(self) -> None:
        self._textures = _pictures()
        rows = int(np.ceil(len(constants.items) / _GRID[0]))
        self._local_view = _LocalView(self._world, self._textures, [_GRID[0], _GRID[1] - rows])
        self._item_view = engine.ItemView(self._textures, [_GRID[0], rows])
        self._drawable = True

    def _obs(self) -> None:
        return None

    def _sem_view(self) -> None:
        return None

    @property
    def world(self) -> OrderedWorld:
        """Map, objects and random stream."""
        return self._world

    @property
    def player(self) -> Any:
        """The package's player object."""
        return self._player

    @property
    def frames(self) -> int:
        """Frames since the episode began."""
        return self._step

    @property
    def length(self) -> int:
        """Frames after which the episode is cut."""
        return self._length

    @property
    def episode(self) -> int:
        """Which episode of the seed this is, from 1; 0 before the first."""
        return self._episode

    @property
    def seed(self) -> int:
        """Seed of the episodes."""
        return self._seed

    @property
    def unlocked(self) -> frozenset[str]:
        """Achievements of this episode."""
        return frozenset(self._unlocked)
