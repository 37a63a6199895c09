"""The package's world generation, compiled: the same map, number for number, but quicker.

`crafter.worldgen` asks for 26,000 noise values one by one from Python. Here one compiled loop asks
for them, in the same order of random draws; a test compares maps, objects and random streams.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from opensimplex import internals

from engine.worlds.crafter.codes import (
    COAL,
    COW,
    DIAMOND,
    GRASS,
    IRON,
    LAVA,
    PATH,
    SAND,
    SIZE,
    SKELETON,
    START,
    STONE,
    TREE,
    WATER,
    ZOMBIE,
)
from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.package import objects

_noise3: Any = internals._noise3
_GRADIENTS: Final = len(internals.GRADIENTS3) // 3

Floats = NDArray[np.float64]
Table = NDArray[np.int64]
_DRAWS: Final = 6 * SIZE * SIZE
"""More draws than any map takes."""
_START_X: Final = START[0]
_START_Y: Final = START[1]


def generate(world: Any, player: Any) -> None:
    """What `crafter.worldgen.generate_world` does to a world with a player in its middle."""
    for kind, x, y in lay_out(world.random, world.material_map).tolist():
        if kind == COW:
            world.add(objects.Cow(world, (x, y)))
        elif kind == ZOMBIE:
            world.add(objects.Zombie(world, (x, y), player))
        else:
            world.add(objects.Skeleton(world, (x, y), player))


def lay_out(random: np.random.RandomState, materials: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Fill a map with materials; returns its creatures as rows (kind, x, y), in their order.

    `random` is left where the package would leave it.
    """
    gradients = _seed_noise(int(random.randint(0, 2**31 - 1)))
    state = random.get_state()
    draws = random.random_sample(_DRAWS)
    slopes = _slopes(*gradients)
    # numpy's own exp, as the package uses it: another library's may differ in the last bit.
    near_start = 1 / (1 + np.exp(-slopes))
    tunnels = np.zeros((SIZE, SIZE), np.bool_)
    used = _fill_materials(near_start, draws, materials, tunnels, *gradients)
    creatures, used = _choose_creatures(materials, tunnels, draws, used)
    random.set_state(state)
    random.random_sample(used)
    return creatures


@compiled
def _seed_noise(seed: int) -> tuple[Table, Table]:
    """The tables of `opensimplex` for a seed; 64-bit products wrap around as they do there."""
    perm = np.zeros(256, np.int64)
    index = np.zeros(256, np.int64)
    source = np.arange(256)
    for _ in range(3):
        seed = seed * 6364136223846793005 + 1442695040888963407
    for last in range(255, -1, -1):
        seed = seed * 6364136223846793005 + 1442695040888963407
        # The package adds 31 first, which 64 bits might not hold.
        chosen = (seed % (last + 1) + 31) % (last + 1)
        perm[last] = source[chosen]
        index[last] = perm[last] % _GRADIENTS * 3
        source[chosen] = source[last]
    return perm, index


@compiled
def _noise(x: float, y: float, z: float, size: float, perm: Table, index: Table) -> float:
    # Callers give floats alone: each other mixture of types would be compiled once more.
    return float(_noise3(x / size, y / size, z, perm, index))


@compiled
def _slopes(perm: Table, index: Table) -> Floats:
    """The exponent of the clearing around the start."""
    out = np.empty((SIZE, SIZE), np.float64)
    for x in range(SIZE):
        for y in range(SIZE):
            slope = 4 - np.sqrt((x - _START_X) ** 2 + (y - _START_Y) ** 2)
            out[x, y] = slope + 2 * _noise(float(x), float(y), 8.0, 3.0, perm, index)
    return out


@compiled
def _fill_materials(
    near_start: Floats,
    draws: Floats,
    materials: NDArray[np.uint8],
    tunnels: NDArray[np.bool_],
    perm: Table,
    index: Table,
) -> int:
    """Fill the map; returns how many draws were taken."""
    used = 0
    for x in range(SIZE):
        for y in range(SIZE):
            fx, fy = float(x), float(y)
            start = near_start[x, y]
            water = (
                _noise(fx, fy, 3.0, 15.0, perm, index)
                + 0.15 * _noise(fx, fy, 3.0, 5.0, perm, index)
                + 0.1
            )
            water -= 2 * start
            mountain = _noise(fx, fy, 0.0, 15.0, perm, index) + 0.3 * _noise(
                fx, fy, 0.0, 5.0, perm, index
            )
            mountain = mountain / 1.3 - (4 * start + 0.3 * water)
            if start > 0.5:
                materials[x, y] = GRASS
            elif mountain > 0.15:
                material, tunnel, used = _mountain(fx, fy, mountain, draws, used, perm, index)
                materials[x, y] = material
                tunnels[x, y] = tunnel
            elif 0.25 < water <= 0.35 and _noise(fx, fy, 4.0, 9.0, perm, index) > -0.2:
                materials[x, y] = SAND
            elif water > 0.3:
                materials[x, y] = WATER
            else:
                materials[x, y] = GRASS
                if _noise(fx, fy, 5.0, 7.0, perm, index) > 0:
                    used += 1
                    if draws[used - 1] > 0.8:
                        materials[x, y] = TREE
    return used


@compiled
def _mountain(
    x: float, y: float, mountain: float, draws: Floats, used: int, perm: Table, index: Table
) -> tuple[int, bool, int]:
    """Material of a mountain cell, whether it is a tunnel, and how many draws were taken so far."""
    if _noise(x, y, 6.0, 7.0, perm, index) > 0.15 and mountain > 0.3:
        return PATH, False, used
    if _noise(2 * x, y / 5, 7.0, 3.0, perm, index) > 0.4:
        return PATH, True, used
    if _noise(x / 5, 2 * y, 7.0, 3.0, perm, index) > 0.4:
        return PATH, True, used
    if _noise(x, y, 1.0, 8.0, perm, index) > 0:
        used += 1
        if draws[used - 1] > 0.85:
            return COAL, False, used
    if _noise(x, y, 2.0, 6.0, perm, index) > 0.4:
        used += 1
        if draws[used - 1] > 0.75:
            return IRON, False, used
    if mountain > 0.18:
        used += 1
        if draws[used - 1] > 0.994:
            return DIAMOND, False, used
    if mountain > 0.3 and _noise(x, y, 6.0, 5.0, perm, index) > 0.35:
        return LAVA, False, used
    return STONE, False, used


@compiled
def _choose_creatures(
    materials: NDArray[np.uint8], tunnels: NDArray[np.bool_], draws: Floats, used: int
) -> tuple[NDArray[np.int32], int]:
    """Creatures of a new map as rows (kind, x, y), and how many draws were taken so far."""
    out = np.empty((SIZE * SIZE, 3), np.int32)
    count = 0
    for x in range(SIZE):
        for y in range(SIZE):
            material = materials[x, y]
            if material not in (GRASS, PATH, SAND):
                continue
            distance = np.sqrt((x - _START_X) ** 2 + (y - _START_Y) ** 2)
            kind = 0
            if distance > 3 and material == GRASS:
                used += 1
                if draws[used - 1] > 0.985:
                    kind = COW
            if kind == 0 and distance > 10:
                used += 1
                if draws[used - 1] > 0.993:
                    kind = ZOMBIE
            if kind == 0 and material == PATH and tunnels[x, y]:
                used += 1
                if draws[used - 1] > 0.95:
                    kind = SKELETON
            if kind > 0:
                out[count, 0] = kind
                out[count, 1] = x
                out[count, 2] = y
                count += 1
    return out[:count], used
