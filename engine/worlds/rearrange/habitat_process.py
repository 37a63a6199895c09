"""One environment of real Habitat in a process of its own, under a Python of its own."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange import habitat_side
from engine.worlds.rearrange.habitat_actions import HabitatError

_CLOSE_SECONDS: Final = 10.0
_END_SECONDS: Final = 2.0
_TAIL: Final = 2000
"""Bytes of what a process said last."""
_OTHERS: Final = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Variables that tell of this Python's packages, not of the other's."""

Answer = tuple[dict[str, Any], NDArray[np.uint8] | None]


class HabitatProcess:
    """Asks the other side; a question can be put to many before their answers are read."""

    def __init__(self, python: str, folder: Path) -> None:
        """Start the other side.

        Args:
            python: the program of a Python in which Habitat is installed.
            folder: it works there; the original's paths are relative to its checkout.

        Raises:
            HabitatError: it cannot be started.
        """
        kept = {name: value for name, value in os.environ.items() if name not in _OTHERS}
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        try:
            self._process = subprocess.Popen(
                [python, str(Path(habitat_side.__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                cwd=folder,
                env=kept,
            )
        except OSError as error:
            self._said.close()
            raise HabitatError(
                f"the Python {python!r} cannot be started in {str(folder)!r}: {error}",
                "Name the `python` of the environment that Habitat is installed in, and the "
                "checkout of ml-llarp.",
            ) from error

    def open(self, config: Path, overrides: Sequence[str]) -> None:
        """Open an environment; the simulator is loaded.

        Raises:
            HabitatError: the other side cannot.
        """
        self.ask({"ask": "open", "config": str(config), "overrides": list(overrides)})
        self.answer()

    def ask(self, question: Mapping[str, Any]) -> None:
        """Put a question; its answer must be read before the next one.

        Raises:
            HabitatError: the process has ended.
        """
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(json.dumps(question).encode() + b"\n")
            pipe.flush()
        except OSError as error:
            raise self._ended() from error

    def answer(self) -> Answer:
        """The answer to the question put last, and its picture (height, width, 3) if it has one.

        Raises:
            HabitatError: the other side failed, or has ended.
        """
        pipe = self._process.stdout
        assert pipe is not None
        line = pipe.readline()
        if not line.endswith(b"\n"):
            raise self._ended()
        told: dict[str, Any] = json.loads(line)
        if "error" in told and "missing" not in told:
            raise HabitatError(
                f"Habitat failed: {told['error']}",
                f"It said last: {self._tail() or 'nothing'}",
            )
        shape = told.pop("shape", None)
        if shape is None:
            return told, None
        data = pipe.read(int(np.prod(shape)))
        if len(data) != int(np.prod(shape)):
            raise self._ended()
        return told, np.frombuffer(data, np.uint8).reshape(shape)

    def close(self) -> None:
        """End the other side; safe to call again."""
        if self._said.closed:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except OSError:  # what was still to be written has no reader any more
                continue
        try:
            self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.close()

    def __enter__(self) -> Self:
        """The process itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.close()

    def _ended(self) -> HabitatError:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return HabitatError(
            f"Habitat's process has ended with {code}",
            f"It said last: {self._tail() or 'nothing'}",
        )

    def _tail(self) -> str:
        file = self._said.fileno()  # read by place: the process writes where its own place is
        start = max(0, os.fstat(file).st_size - _TAIL)
        return os.pread(file, _TAIL, start).decode("utf-8", "replace").strip()
