"""A reply that comes in pieces: put together as they arrive, and told on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

TELL_SECONDS = 0.1
"""A reader follows no faster, and every telling may cost a write."""
MOST_CHARACTERS = 1_000_000
"""No model writes so much in one reply; a server that does is not read to its end."""


@dataclass(slots=True)
class Draft:
    """A reply on its way: written by the thread that reads it, looked at by the one that waits."""

    pieces: list[str] = field(default_factory=list)
    characters: int = 0
    heard: float | None = None
    """When the last chunk came; None until the first text is there: a model may think before."""

    @property
    def text(self) -> str:
        """What is written so far."""
        return "".join(self.pieces)

    def is_silent(self, seconds: float, now: float) -> bool:
        """Whether nothing has come for longer than `seconds` since the text began."""
        heard = self.heard
        return heard is not None and now - heard > seconds


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
    draft: Draft,
    ended: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
) -> Streamed:
    """Put a stream of chat completion chunks together.

    Args:
        tell: is handed the text so far, at most ten times a second.
        draft: filled on the way; it keeps what came when the stream ends in an error.
        ended: asked at every chunk; when true, nobody waits for the rest.
    """
    finish_reason: str | None = None
    usage: Any = None
    count, told = 0, clock()
    for chunk in chunks:
        if ended():
            break
        count += 1
        if draft.pieces:
            draft.heard = clock()
        usage = getattr(chunk, "usage", None) or usage
        choices = getattr(chunk, "choices", None)
        first = choices[0] if isinstance(choices, list) and choices else None
        finish_reason = getattr(first, "finish_reason", None) or finish_reason
        piece = getattr(getattr(first, "delta", None), "content", None)
        if not isinstance(piece, str) or not piece:
            continue
        draft.pieces.append(piece)
        draft.characters += len(piece)
        if draft.characters > MOST_CHARACTERS:
            break
        draft.heard = clock()
        if draft.heard - told >= TELL_SECONDS:
            told = draft.heard
            tell(draft.text)
    return Streamed(draft.text, finish_reason, usage, count)
