"""A metric's history in bounded memory: however long a training, a chart reads the same amount."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple


class Bucket(NamedTuple):
    """Neighbouring points as one: where they start and end, the extremes and the mean between.

    A gap (a value that was missing, NaN or infinite) has NaN in all y fields and no points.
    """

    x0: float
    x1: float
    first: float
    last: float
    low: float
    high: float
    mean: float
    points: int

    @property
    def is_gap(self) -> bool:
        """True when nothing was measured here."""
        return math.isnan(self.low)


def merge(left: Bucket, right: Bucket) -> Bucket:
    """One bucket for two neighbours; minimum and maximum survive, so no spike is ever lost."""
    if left.is_gap or right.is_gap:
        known = right if left.is_gap else left
        return known._replace(x0=left.x0, x1=right.x1)
    points = left.points + right.points
    return Bucket(
        left.x0,
        right.x1,
        left.first,
        right.last,
        min(left.low, right.low),
        max(left.high, right.high),
        (left.mean * left.points + right.mean * right.points) / points,
        points,
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """Smallest and largest x and y; y leaves out gaps."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float


class Series:
    """Points (env frames, value) in at most `capacity` buckets of equally many points each."""

    def __init__(self, capacity: int = 512) -> None:
        self._capacity = max(4, capacity)
        self._buckets: list[Bucket] = []
        self._per_bucket = 1
        self._in_last = 0
        self.latest: float | None = None
        """The newest value that was measured."""

    def __len__(self) -> int:
        return len(self._buckets)

    @property
    def points(self) -> int:
        """How many measured points the history stands for."""
        return sum(bucket.points for bucket in self._buckets)

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        """The history in order of x."""
        return tuple(self._buckets)

    def add(self, x: float, y: float | None) -> None:
        """Append a point.

        A point that is not to the right of the last one means that work since then was lost (a
        run resumed from its checkpoint): what lay at or behind it is dropped.
        """
        self._rewind(x)
        if y is None or not math.isfinite(y):
            point = Bucket(x, x, *(math.nan,) * 5, 0)
        else:
            point = Bucket(x, x, y, y, y, y, y, 1)
            self.latest = y
        if self._buckets and self._in_last < self._per_bucket:
            self._buckets[-1] = merge(self._buckets[-1], point)
            self._in_last += 1
        else:
            self._buckets.append(point)
            self._in_last = 1
        if len(self._buckets) > self._capacity:
            self._halve()

    def clear(self) -> None:
        """Forget everything."""
        self._buckets.clear()
        self._per_bucket = 1
        self._in_last = 0
        self.latest = None

    def bounds(self) -> Bounds | None:
        """Extent of the history; None while nothing was measured."""
        known = [bucket for bucket in self._buckets if not bucket.is_gap]
        if not known:
            return None
        return Bounds(
            self._buckets[0].x0,
            self._buckets[-1].x1,
            min(bucket.low for bucket in known),
            max(bucket.high for bucket in known),
        )

    def _rewind(self, x: float) -> None:
        while self._buckets and self._buckets[-1].x0 >= x:
            self._buckets.pop()
            self._in_last = self._per_bucket
        if self._buckets and self._buckets[-1].x1 >= x:
            self._buckets[-1] = self._buckets[-1]._replace(x1=self._buckets[-1].x0)

    def _halve(self) -> None:
        old = self._buckets
        pairs = len(old) - len(old) % 2
        self._buckets = [merge(old[i], old[i + 1]) for i in range(0, pairs, 2)]
        self._per_bucket *= 2
        if len(old) % 2:
            self._buckets.append(old[-1])
        else:
            self._in_last = self._per_bucket
