"""numba's compiler with types kept: the one place where it is called.

numba keeps machine code on disk and makes it anew when the function's own file has changed. But
functions and constants of other files are compiled in as well, so what is kept here is good only
while none of the files it is made of has changed.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import numba

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_ROOT: Final = Path(__file__).parents[3]
_IMPORT: Final = re.compile(
    r"^from (engine\.worlds\.crafter[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE
)


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile on first call and keep the machine code on disk for later processes."""
    dispatcher: Any = numba.njit(cache=True)(function)
    # numba has no public way to tell it of other files; a test would notice if this had no effect.
    dispatcher._cache._cache_file._source_stamp = fingerprint(Path(inspect.getfile(function)))
    return cast("Callable[_Parameters, _Result]", dispatcher)


def fingerprint(path: Path) -> str:
    """Changes with the text of a module and of all it imports from this world."""
    digest = hashlib.sha256()
    for source in sorted(sources(path)):
        digest.update(_text(source).encode())
    return digest.hexdigest()


def sources(path: Path) -> frozenset[Path]:
    """Files of a module and of all it imports from this world, and what they import."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        source = waiting.pop()
        if source not in found:
            found.add(source)
            waiting += _imports(source)
    return frozenset(found)


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Modules of this world that a module imports."""
    names = set()
    for module, imported in _IMPORT.findall(_text(path)):
        names |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", imported))}
    files = (_ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in sorted(names))
    return tuple(file for file in files if file.is_file())
