"""The curve of a training on disk: appended while it runs, cut back to where it goes on from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from engine.bench.records import CurvePoint
from engine.errors import EngineError
from engine.files import write_atomically

POINTS = 100
"""About so many points a training has at least, where its updates are that many."""
MOST_FRAMES = 5_000
"""Env frames between two points at most, where updates are that short."""
PARTS = 10


class CurveLog:
    """Points of one training, one JSON line each.

    Figures that come between two points are gathered, so the file stays small however short the
    updates are. `flush` makes a point at once: a checkpoint wants one, since a training that was
    killed goes on from there, and its time and usage have to be known.
    """

    def __init__(self, path: Path, frames: int | None) -> None:
        """Read what an earlier process has left; nothing is written yet.

        Args:
            frames: the training's budget, None when time is its only one.
        """
        self._path = path
        self._every = max(1, min(MOST_FRAMES, (frames or MOST_FRAMES * POINTS) // POINTS))
        self.points = _read(path)
        self._newest: CurvePoint | None = None
        self._gathered: dict[str, float] = {}
        self._told = 0

    @property
    def seconds(self) -> float:
        """Wall clock at work up to the last point."""
        return self.points[-1].seconds if self.points else 0.0

    @property
    def frames(self) -> int:
        """Env frames up to the last point."""
        return self.points[-1].frames if self.points else 0

    def go_on_from(self, frames: int) -> None:
        """Forget what came after the checkpoint at `frames`: it is done again."""
        self.points = [point for point in self.points if point.frames <= frames]
        self._newest, self._gathered = None, {}
        self._told = max(frames, self.frames)
        _write(self._path, self.points)

    def add(self, point: CurvePoint) -> None:
        """Take the figures of one update; `usage` is of the frames since the one before."""
        since = point.frames - self._told
        for name, share in point.usage.items():
            self._gathered[name] = self._gathered.get(name, 0.0) + share * since
        self._told = point.frames
        self._newest = point
        if point.frames - self.frames >= self._every:
            self.flush()

    def flush(self) -> None:
        """Write what is gathered as a point."""
        newest, self._newest = self._newest, None
        span = self._told - self.frames
        if newest is None or span <= 0:
            return
        usage = {name: gathered / span for name, gathered in self._gathered.items()}
        self._gathered = {}
        self.points.append(newest.model_copy(update={"usage": usage}))
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(_line(self.points[-1]))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _unwritable(self._path, error) from error


def usage_by_part(points: Sequence[CurvePoint], parts: int = PARTS) -> tuple[dict[str, float], ...]:
    """Share of frames by coded action in each of `parts` equal parts of the training's frames.

    A point that lies in two parts counts in each by its frames there. Empty when no point tells of
    usage.
    """
    if not any(point.usage for point in points):
        return ()
    width = points[-1].frames / parts
    sums: list[dict[str, float]] = [{} for _ in range(parts)]
    before = 0
    for point in points:
        for part in range(parts):
            low, high = max(before, part * width), min(point.frames, (part + 1) * width)
            if high > low:
                _add(sums[part], point.usage, high - low)
        before = point.frames
    names = sorted({name for part in sums for name in part})
    return tuple({name: part.get(name, 0.0) / width for name in names} for part in sums)


def _add(sums: dict[str, float], usage: Mapping[str, float], frames: float) -> None:
    for name, share in usage.items():
        sums[name] = sums.get(name, 0.0) + share * frames


def _read(path: Path) -> list[CurvePoint]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise EngineError(
            f"the curve {str(path)!r} cannot be read: {error.strerror}", "Mend its permissions."
        ) from error
    points: list[CurvePoint] = []
    for line in text.splitlines():
        try:
            points.append(CurvePoint.model_validate_json(line))
        except ValidationError:
            break  # the process was killed while it wrote this line
    return points


def _write(path: Path, points: Iterable[CurvePoint]) -> None:
    write_atomically(path, "".join(map(_line, points)).encode())


def _line(point: CurvePoint) -> str:
    return point.model_dump_json() + "\n"


def _unwritable(path: Path, error: OSError) -> EngineError:
    return EngineError(
        f"cannot write {str(path)!r}: {error.strerror or error}",
        "Free some disk space, then run the same command again: it goes on.",
    )
