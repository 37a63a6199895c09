"""What a suspended program can be doing: calling the world, or finished one way or another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["exception", "time", "memory", "calls", "output", "crash", "questions"]
"""What ended it: an error of the code, a limit, a worker's death, or `questions`: it asks the world
without ever acting (which only an executor that answers questions itself can tell)."""


@dataclass(frozen=True, slots=True)
class WorldCall:
    """The program waits for the answer of one function of the stub."""

    function: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    line: int


@dataclass(frozen=True, slots=True)
class Returned:
    """`run()` returned this text."""

    value: str


@dataclass(frozen=True, slots=True)
class Raised:
    """The program ended by an error of its own or by a limit of the sandbox."""

    message: str
    line: int
    kind: Kind


Ended = Returned | Raised
Turn = WorldCall | Returned | Raised
