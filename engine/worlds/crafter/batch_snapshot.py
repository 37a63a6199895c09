"""One place of a batch as bytes and back: numpy's compressed arrays, never pickle."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.worlds.crafter.memory import check_memory
from engine.worlds.crafter.rows import MEMORY

_FORMAT = "crafter-1.8.3-batch/1"
_GAME = "game."
HINT = "Use the bytes that `snapshot()` of a batch of the world `crafter` returned, unchanged."
"""What to do about bytes that cannot be read."""
_DAMAGE = (
    ValueError, KeyError, TypeError, OSError, EOFError, OverflowError, NotImplementedError,
    RuntimeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What numpy can raise for bytes that are no archive of arrays."""


@dataclass(frozen=True, slots=True)
class Place:
    """A saved place: the engine's state, the player's memory, whether the episode is over."""

    game: Mapping[str, NDArray[Any]]
    memory: NDArray[np.void]
    over: bool


def save_place(
    engine: str,
    length: int,
    over: bool,
    memory: NDArray[np.void],
    game: Mapping[str, NDArray[Any]],
) -> bytes:
    """Everything that decides what happens next."""
    buffer = io.BytesIO()
    np.savez(
        buffer,
        format=np.array(_FORMAT),
        engine=np.array(engine),
        length=np.array(length),
        over=np.array(over),
        memory=memory,
        allow_pickle=False,
        **{_GAME + name: np.asarray(array) for name, array in game.items()},
    )
    return buffer.getvalue()


def load_place(snapshot: bytes, engine: str, length: int) -> Place:
    """What was saved.

    Raises:
        EngineError: the bytes are no snapshot, are damaged, or are of a batch of another kind.
    """
    try:
        with np.load(io.BytesIO(snapshot), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        _check_kind(arrays, engine, length)
        memory = arrays["memory"]
        if memory.dtype != MEMORY or memory.shape != ():
            raise EngineError("The snapshot holds another version's memory", HINT)
        check_memory(memory)
        return Place(
            game={
                name.removeprefix(_GAME): array
                for name, array in arrays.items()
                if name.startswith(_GAME)
            },
            memory=memory,
            over=bool(arrays["over"]),
        )
    except _DAMAGE as error:
        raise EngineError(f"The snapshot cannot be read: {error!r:.200}", HINT) from error


def _check_kind(arrays: Mapping[str, NDArray[Any]], engine: str, length: int) -> None:
    for name, expected in (("format", _FORMAT), ("engine", engine), ("length", length)):
        found = arrays[name].item()
        if found != expected:
            raise EngineError(f"The snapshot's {name} is {found!r}, not {expected!r}", HINT)
