"""A reply that comes in pieces: put together as they arrive, and told on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

TELL_SECONDS = 0.1
"""A reader follows no faster, and every telling may cost a write."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """Everything a stream brought."""

    text: str
    finish_reason: str | None
    """None: the stream broke off before the model had ended."""
    usage: Any
    """As the server gave it with the last chunk; None where it gave none."""
    chunks: int


def read_stream(
    chunks: Iterable[Any],
    tell: Callable[[str], None],
    ended: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
) -> Streamed:
    """Put a stream of chat completion chunks together.

    Args:
        tell: is handed the text so far, at most ten times a second.
        ended: asked at every chunk; when true, nobody waits for the rest.
    """
    pieces: list[str] = []
    finish_reason: str | None = None
    usage: Any = None
    count, told = 0, clock()
    for chunk in chunks:
        if ended():
            break
        count += 1
        usage = getattr(chunk, "usage", None) or usage
        choices = getattr(chunk, "choices", None)
        first = choices[0] if isinstance(choices, list) and choices else None
        finish_reason = getattr(first, "finish_reason", None) or finish_reason
        piece = getattr(getattr(first, "delta", None), "content", None)
        if not isinstance(piece, str) or not piece:
            continue
        pieces.append(piece)
        if clock() - told >= TELL_SECONDS:
            told = clock()
            tell("".join(pieces))
    return Streamed("".join(pieces), finish_reason, usage, count)
