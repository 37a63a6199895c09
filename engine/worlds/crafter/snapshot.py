"""The whole state of an episode as bytes and back: compressed JSON, never pickle."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.worlds.crafter import codes
from engine.worlds.crafter.game import Game, ObjectSet
from engine.worlds.crafter.memory import Memories, check_memory
from engine.worlds.crafter.package import objects
from engine.worlds.crafter.rows import NO_ROOM

_FORMAT = "crafter-1.8.3/1"
_HINT = "Use the bytes that `snapshot()` of the world `crafter` returned, unchanged."
_KINDS: Mapping[str, Any] = {
    "player": objects.Player,
    "cow": objects.Cow,
    "zombie": objects.Zombie,
    "skeleton": objects.Skeleton,
    "arrow": objects.Arrow,
    "plant": objects.Plant,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_ELSEWHERE = frozenset({"world", "random", "player", "pos", "removed"})
"""Fields of an object that are rebuilt from the rest of the snapshot."""
_DAMAGE = (
    zlib.error, ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError,
    AssertionError,
)  # fmt: skip
"""What reading damaged bytes can raise, in this file or in the package."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state brought back to life."""

    game: Game
    memory: NDArray[np.void]
    """What the player remembers, of type `MEMORY`; what it sees has to be seen again."""
    over: bool
    random_state: dict[str, Any]


def save_snapshot(
    game: Game, memory: NDArray[np.void], over: bool, random: np.random.Generator
) -> bytes:
    """Everything that decides what happens next."""
    return _pack_state(
        {
            "format": _FORMAT,
            "game": _save_game(game),
            "memory": _save_memory(memory),
            "over": over,
            "random": random.bit_generator.state,
        }
    )


def load_snapshot(snapshot: bytes) -> Snapshot:
    """The state that was saved.

    Raises:
        EngineError: the bytes are no snapshot, are damaged, or are of another version.
    """
    try:
        state = _unpack_state(snapshot)
        np.random.PCG64().state = state["random"]  # refuses a state that is none
        return Snapshot(
            game=_load_game(state["game"]),
            memory=_load_memory(state["memory"]),
            over=state["over"],
            random_state=state["random"],
        )
    except _DAMAGE as error:
        raise EngineError(f"The snapshot cannot be read: {error!r:.200}", _HINT) from error


def game_to_bytes(game: Game) -> bytes:
    """A game without its player's memory."""
    return _pack_state({"format": _FORMAT, "game": _save_game(game)})


def game_from_bytes(snapshot: bytes) -> Game:
    """The game that was saved.

    Raises:
        EngineError: the bytes are no game, are damaged, or are of another version.
    """
    try:
        return _load_game(_unpack_state(snapshot)["game"])
    except _DAMAGE as error:
        raise EngineError(f"The game cannot be read: {error!r:.200}", _HINT) from error


def _pack_state(state: Mapping[str, Any]) -> bytes:
    return zlib.compress(json.dumps(state, separators=(",", ":")).encode())


def _unpack_state(snapshot: bytes) -> Any:
    state = json.loads(zlib.decompress(snapshot))
    if state["format"] != _FORMAT:
        raise EngineError(f"The snapshot has the format {state['format']!r}", _HINT)
    return state


def _save_game(game: Game) -> dict[str, Any]:
    world = game.world
    numbers = {id(thing): number for number, thing in enumerate(world.objects)}
    name, keys, position, has_gauss, gauss = world.random.get_state()
    return {
        "length": game.length,
        "seed": game.seed,
        "episode": game.episode,
        "frames": game.frames,
        "last_health": int(game._last_health),
        "unlocked": sorted(game.unlocked),
        "materials": _pack(world.material_map),
        "objects": [_save_object(thing) for thing in world.objects],
        "chunks": [
            [[int(edge) for edge in key], [numbers[id(thing)] for thing in members]]
            for key, members in world.chunks.items()
        ],
        "random": [name, _pack(keys), int(position), int(has_gauss), float(gauss)],
    }


def _load_game(state: Mapping[str, Any]) -> Game:
    game = Game(state["length"])
    world = game.world
    name, keys, position, has_gauss, gauss = state["random"]
    game._seed = state["seed"]
    game._episode = state["episode"]
    game._step = state["frames"]
    game._last_health = state["last_health"]
    game._unlocked = set(state["unlocked"])
    # The objects take the random stream from the world when they are made.
    world.random.set_state((name, _unpack(keys, np.uint32), position, has_gauss, gauss))
    world.material_map[:] = _unpack(state["materials"], np.uint8).reshape(world.area)
    things: list[Any] = []
    for saved in state["objects"]:
        things.append(_load_object(game, saved, things[0] if things else None))
        world.add(things[-1])
    game._player = things[0]
    world._chunks.clear()
    for key, members in state["chunks"]:
        chunk = ObjectSet()
        for number in members:
            chunk.add(things[number])
        world._chunks[tuple(key)] = chunk
    game._update_time()
    return game


def _save_object(thing: Any) -> dict[str, Any]:
    fields = {name: _plain(value) for name, value in vars(thing).items() if name not in _ELSEWHERE}
    return {
        "kind": _NAMES[type(thing)],
        "at": [int(part) for part in thing.pos],
        "fields": fields,
    }


def _load_object(game: Game, saved: Mapping[str, Any], player: Any | None) -> Any:
    kind = _KINDS[saved["kind"]]
    at = tuple(saved["at"])
    if kind in (objects.Zombie, objects.Skeleton):
        thing = kind(game.world, at, player)
    elif kind is objects.Arrow:
        thing = kind(game.world, at, np.array(saved["fields"]["facing"]))
    else:
        thing = kind(game.world, at)
    for name, value in saved["fields"].items():
        if name == "facing":
            value = np.array(value) if kind is objects.Arrow else tuple(value)
        setattr(thing, name, value)
    return thing


def _save_memory(memory: NDArray[np.void]) -> dict[str, Any]:
    animals = memory["animal_count"]
    fresh = memory["fresh_count"]
    cells = memory["animal_cell"][:animals].tolist()
    kinds = memory["animal_kind"][:animals].tolist()
    known = sorted((*_cell(cell), kind) for cell, kind in zip(cells, kinds, strict=True))
    room = [
        [int(memory["room_x"]), int(memory["room_y"])],
        *(int(memory[f"room_{name}"]) for name in ("direction", "since", "stage")),
    ]
    return {
        "known": _pack(memory["known"]),
        "cows": [[x, y] for x, y, kind in known if kind == codes.COW],
        "plants": [[x, y, kind] for x, y, kind in known if kind != codes.COW],
        "position": [int(memory["x"]), int(memory["y"])],
        "frames": int(memory["frames"]),
        "heading": [int(memory["heading_x"]), int(memory["heading_y"])],
        "room": None if memory["room_stage"] == NO_ROOM else room,
        "recent": [_cell(cell) for cell in memory["recent"][: memory["recent_count"]].tolist()],
        "impatient_until": int(memory["impatient_until"]),
        "fresh_stones": [
            [*_cell(cell), until]
            for cell, until in zip(
                memory["fresh_cell"][:fresh].tolist(),
                memory["fresh_until"][:fresh].tolist(),
                strict=True,
            )
        ],
    }


def _load_memory(state: Mapping[str, Any]) -> NDArray[np.void]:
    memory = Memories(1).save(0)
    known = _unpack(state["known"], np.uint8).reshape(codes.SIZE, codes.SIZE)
    memory["known"] = known
    animals = [*((x, y, codes.COW) for x, y in state["cows"]), *state["plants"]]
    memory["animal_count"] = len(animals)
    for number, (x, y, kind) in enumerate(animals):
        memory["animal_cell"][number] = x * codes.SIZE + y
        memory["animal_kind"][number] = kind
    memory["x"], memory["y"] = state["position"]
    memory["frames"] = state["frames"]
    memory["heading_x"], memory["heading_y"] = state["heading"]
    if state["room"] is not None:
        (memory["room_x"], memory["room_y"]), *rest = state["room"]
        memory["room_direction"], memory["room_since"], memory["room_stage"] = rest
    memory["recent_count"] = len(state["recent"])
    for number, (x, y) in enumerate(state["recent"]):
        memory["recent"][number] = x * codes.SIZE + y
    memory["impatient_until"] = state["impatient_until"]
    memory["fresh_count"] = len(state["fresh_stones"])
    for number, (x, y, until) in enumerate(state["fresh_stones"]):
        memory["fresh_cell"][number] = x * codes.SIZE + y
        memory["fresh_until"][number] = until
    check_memory(memory)
    return memory


def _cell(number: int) -> tuple[int, int]:
    return number // codes.SIZE, number % codes.SIZE


def _plain(value: Any) -> Any:
    """A JSON value equal to a field of a game object."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value


def _pack(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode()


def _unpack(text: str, kind: type[np.generic]) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(text), kind).copy()
