"""What the command line writes: results on stdout, everything else on stderr."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TextIO

from engine.errors import EngineError
from studio.program_name import NAME, program_name

FINISHED, BROKEN, USAGE, FAILED, WAITING, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""The exit codes; `studio.cli` says what they mean."""

Output = Literal["text", "json"]
_COMMAND = re.compile(
    rf"(?<![\w./-]){NAME}(?= (?:run|resume|attach|runs|skills|eval|bench|doctor|paths)\b)"
)


class OutputLost(EngineError):
    """What was to be written to stdout could not be written."""


def tell(message: str, hint: str = "") -> None:
    """A line for the person, and what to do next, on stderr; commands in it can be typed."""
    message, hint = runnable(plain(message)), runnable(plain(hint))
    if sys.stderr is None:
        return  # closed by the caller (`2>&-`): who does that wants to hear nothing
    try:
        sys.stderr.write(f"{message}\n" + (f"  {hint}\n" if hint else ""))
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def give(output: Output, data: Mapping[str, Any], text: str) -> None:
    """The result on stdout: the JSON object and nothing else, or the text.

    Raises:
        OutputLost: stdout is closed or its disk is full.
    """
    import json

    if output == "json":
        text = json.dumps(_finite(data), indent=2, allow_nan=False, default=_iso)
    if sys.stdout is None:
        raise _lost("it is closed")
    try:
        sys.stdout.write(plain(text) + "\n")
        sys.stdout.flush()
    except OSError as error:
        _drop(sys.stdout)
        if error.errno == errno.EPIPE:
            return  # `| head` has seen enough
        raise _lost(str(error.strerror)) from error


def _lost(reason: str) -> OutputLost:
    return OutputLost(
        f"The result cannot be written to stdout: {reason}.",
        "Send it somewhere else, or free some space on that disk.",
    )


def _drop(stream: TextIO) -> None:
    """Sends what is left of the stream nowhere: Python would write it, and fail, at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def runnable(text: str) -> str:
    """The text with every command as it works here, also where the program is not on `PATH`."""
    return _COMMAND.sub(lambda _: program_name(), text)


def brief(text: str, length: int = 400) -> str:
    """The text without its middle where it is longer: beginning and reason stay."""
    half = length // 2
    return text if len(text) <= length else f"{text[:half]}…{text[-half:]}"


def plain(text: str) -> str:
    """Text without control characters: what a model or a file wrote cannot steer the terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else "�" for c in text)


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Aligned columns with headings; cells are shown on one line each."""
    lines = [list(headings), *([" ".join(str(cell).split()) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def pairs(items: Mapping[str, object]) -> str:
    """One `name  value` line for each item that has a value."""
    width = max((len(name) for name in items), default=0)
    return "\n".join(
        f"{name.ljust(width)}  {value}" for name, value in items.items() if value not in (None, "")
    )


def _finite(value: Any) -> Any:
    """NaN and infinities become null: JSON has no word for them."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _iso(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"{value!r} is no JSON")
