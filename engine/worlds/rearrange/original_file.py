"""Reading a file of the original benchmark's episodes without trusting it.

The file is a pickle: a dict with `all_transforms` (n, 4, 4), `idx_to_name` and `all_eps`, whose
episodes give names by number. Unpickling can run any code that the file names; here it may name
nothing but what NumPy arrays are rebuilt with, and for that it gets stand-ins of this module, so
that not even NumPy's own unpickling sees what a file says.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError

_NUMBER: Final = re.compile("[?biuf][1248]?")
_LFS: Final = b"version https://git-lfs.github.com/spec/"


class OriginalFileError(EngineError):
    """A file of the original benchmark cannot be read, or is not what it should be."""


def read(path: Path) -> dict[str, Any]:
    """The content of a file of episodes, nothing in it being run.

    Raises:
        OriginalFileError: There is no such file, it names something that is not allowed, or its
            content has another form.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(_LFS)) == _LFS:
                raise OriginalFileError(
                    f"{str(path)!r} is a pointer to a file that Git LFS holds, not the file: fetch"
                    " it with `git lfs pull`."
                )
            file.seek(0)
            content = _ArraysOnly(file).load()
    except OSError as error:
        raise OriginalFileError(f"{str(path)!r} cannot be read: {error}.") from error
    except OriginalFileError:
        raise
    except Exception as error:  # Unpickling damaged bytes can raise anything.
        raise OriginalFileError(
            f"{str(path)!r} is not a pickle of episodes ({type(error).__name__}: {error}). Give the"
            " path of a dataset file of Language Rearrangement, such as new_scenes.pickle."
        ) from error
    return _checked(path, content)


def values(array: object) -> NDArray[Any]:
    """The NumPy array that a file holds in some place.

    Raises:
        TypeError: It holds something else there.
    """
    if not isinstance(array, _Array):
        raise TypeError(f"expected an array, found {type(array).__name__}")
    return array.values


def _checked(path: Path, content: object) -> dict[str, Any]:
    parts: Mapping[str, type] = {"idx_to_name": dict, "all_eps": list}
    if not isinstance(content, dict) or any(
        not isinstance(content.get(name), kind) for name, kind in parts.items()
    ):
        held = sorted(map(str, content)) if isinstance(content, dict) else type(content).__name__
        raise OriginalFileError(
            f"{str(path)!r} holds {held!r}; a file of episodes holds a dict with 'idx_to_name' and"
            " 'all_eps'."
        )
    return content


class _Kind:
    """Stands for a NumPy type of numbers while a file is read."""

    def __init__(self, code: str, *_: object) -> None:
        if not _NUMBER.fullmatch(code):
            raise pickle.UnpicklingError(f"an array of {code!r}, not of numbers")
        self.code = code
        self.order = "|"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if state[1] not in ("<", ">", "|", "="):
            raise pickle.UnpicklingError(f"byte order {state[1]!r}")
        self.order = state[1]


class _Array:
    """Stands for a NumPy array while a file is read; `values` is the array."""

    def __init__(self, *_: object) -> None:
        self.values: NDArray[Any] = np.empty(0)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, by_column, data = state
        self._fill(data, kind, shape, "F" if by_column else "C")

    @classmethod
    def of_buffer(cls, data: bytes, kind: _Kind, shape: tuple[int, ...], order: str) -> _Array:
        """As protocol 5 of pickle writes an array."""
        array = cls()
        array._fill(data, kind, shape, "F" if order == "F" else "C")
        return array

    def _fill(
        self, data: bytes, kind: _Kind, shape: tuple[int, ...], order: Literal["C", "F"]
    ) -> None:
        flat = np.frombuffer(data, np.dtype(kind.order + kind.code))
        self.values = flat.reshape(shape, order=order)


_TYPE: Final = object()
"""Stands for the type `numpy.ndarray`, which a file names and nothing needs."""
_ALLOWED: Final[Mapping[tuple[str, str], object]] = {
    ("numpy", "ndarray"): _TYPE,
    ("numpy", "dtype"): _Kind,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy.core.numeric", "_frombuffer"): _Array.of_buffer,
    ("numpy._core.numeric", "_frombuffer"): _Array.of_buffer,
}


class _ArraysOnly(pickle.Unpickler):
    """Rebuilds plain Python values and NumPy arrays; refuses everything else by name."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """What the file may name.

        Raises:
            OriginalFileError: It may not.
        """
        try:
            return _ALLOWED[module_name, global_name]
        except KeyError:
            raise OriginalFileError(
                f"The file names {f'{module_name}.{global_name}'!r}, which no file of episodes"
                " needs; it was not run. Get the file again from where it is published."
            ) from None
