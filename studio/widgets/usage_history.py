"""Where the frames of a training went, update by update, in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean

PLAN = "<plan>"
"""Name under which the share of plan-following is kept; no identifier, so it cannot clash."""
PRIMITIVES = "<primitives>"
"""Name of what the coded actions leave of the frames."""
_NOW = 10
"""Updates that a present share is the mean of: a single one jumps about."""
_LATE = 0.25
"""Part of the training, its latest, that the order of the actions looks at."""


@dataclass(slots=True)
class _Bucket:
    """Neighbouring updates as one: sums of share times frames, over the frames (x0, x1]."""

    x0: float
    x1: float
    sums: dict[str, float] = field(default_factory=dict)
    plan: float | None = None
    """Mean share of plan-following; None where it was not measured."""

    def merged(self, right: _Bucket) -> _Bucket:
        sums = dict(self.sums)
        for name, amount in right.sums.items():
            sums[name] = sums.get(name, 0.0) + amount
        plans = [(b.plan, b.x1 - b.x0) for b in (self, right) if b.plan is not None]
        frames = sum(weight for _, weight in plans)
        plan = sum(share * weight for share, weight in plans) / frames if plans else None
        return _Bucket(self.x0, right.x1, sums, plan)


class UsageHistory:
    """Shares of the frames by action, from the start of a training; at most `capacity` buckets."""

    def __init__(self, capacity: int = 256) -> None:
        self._capacity = max(4, capacity)
        self._buckets: list[_Bucket] = []
        self._per_bucket = 1
        self._in_last = 0
        self._first: tuple[float, Mapping[str, float]] | None = None
        self._recent: deque[tuple[float, Mapping[str, float]]] = deque(maxlen=_NOW)

    def __len__(self) -> int:
        return len(self._buckets)

    def add(self, frames: float, usage: Mapping[str, float], plan_share: float | None) -> None:
        """Append an update.

        An update that is not later than the last one means that work since was lost (a run resumed
        from its checkpoint): what lay at or behind it is dropped. Without usage and plan share
        nothing was recorded, as in runs of older versions.
        """
        if not usage and plan_share is None:
            return
        if self._buckets and self._buckets[-1].x1 >= frames:
            self.rewind(frames - 1)
        before = self._buckets[-1].x1 if self._buckets else 0.0
        length = max(1.0, frames - before)
        shares = {**usage, PRIMITIVES: max(0.0, 1.0 - sum(usage.values()))}
        sums = {name: share * length for name, share in shares.items()}
        if plan_share is not None:
            shares[PLAN] = plan_share
        if self._first is None:
            self._first = (frames, shares)
        self._recent.append((frames, shares))
        self._append(_Bucket(before, before + length, sums, plan_share))

    def rewind(self, frames: float) -> None:
        """Drop what was measured behind this frame."""
        while self._buckets and self._buckets[-1].x1 > frames:
            self._buckets.pop()
            self._in_last = self._per_bucket
        while self._recent and self._recent[-1][0] > frames:
            self._recent.pop()
        if self._first is not None and self._first[0] > frames:
            self._first = None

    def clear(self) -> None:
        """Forget everything."""
        self.rewind(-1.0)
        self._per_bucket, self._in_last = 1, 0

    def names(self) -> list[str]:
        """All actions that were ever used, those used most of late first; without `PLAN`."""
        if not self._buckets:
            return []
        late = self._buckets[-1].x1 - _LATE * (self._buckets[-1].x1 - self._buckets[0].x0)
        recent: dict[str, float] = {}
        ever: dict[str, float] = {}
        for bucket in self._buckets:
            for name, amount in bucket.sums.items():
                ever[name] = ever.get(name, 0.0) + amount
                if bucket.x1 > late:
                    recent[name] = recent.get(name, 0.0) + amount
        used = [name for name, amount in ever.items() if amount > 0]
        return sorted(used, key=lambda name: (-recent.get(name, 0.0), -ever[name], name))

    def now(self, names: Iterable[str]) -> float | None:
        """Share of these together over the last updates; None where nothing was measured."""
        wanted = tuple(names)
        values = [_share(shares, wanted) for _, shares in self._recent]
        known = [value for value in values if value is not None]
        return fmean(known) if known else None

    def change(self, names: Iterable[str]) -> float | None:
        """How much larger the present share is than that of the first update."""
        wanted = tuple(names)
        first = None if self._first is None else _share(self._first[1], wanted)
        now = self.now(wanted)
        return None if first is None or now is None else now - first

    def trend(self, names: Iterable[str], columns: int) -> list[float | None]:
        """Mean share of these together in each of so many equal parts of the training."""
        if not self._buckets or columns <= 0:
            return []
        wanted = tuple(names)
        start, end = self._buckets[0].x0, self._buckets[-1].x1
        width = (end - start) / columns
        totals, weights = [0.0] * columns, [0.0] * columns
        for bucket in self._buckets:
            share = _bucket_share(bucket, wanted)
            if share is None:
                continue
            first = int((bucket.x0 - start) / width)
            for column in range(first, columns):
                left = start + column * width
                if left >= bucket.x1:
                    break
                weight = min(bucket.x1, left + width) - max(bucket.x0, left)
                if weight > 0:
                    totals[column] += share * weight
                    weights[column] += weight
        return [t / w if w else None for t, w in zip(totals, weights, strict=True)]

    def _append(self, bucket: _Bucket) -> None:
        if self._buckets and self._in_last < self._per_bucket:
            self._buckets[-1] = self._buckets[-1].merged(bucket)
            self._in_last += 1
        else:
            self._buckets.append(bucket)
            self._in_last = 1
        if len(self._buckets) > self._capacity:
            old = self._buckets
            pairs = len(old) - len(old) % 2
            self._buckets = [old[i].merged(old[i + 1]) for i in range(0, pairs, 2)]
            self._per_bucket *= 2
            if len(old) % 2:
                self._buckets.append(old[-1])
            else:
                self._in_last = self._per_bucket


def _share(shares: Mapping[str, float], names: tuple[str, ...]) -> float | None:
    if names == (PLAN,):
        return shares.get(PLAN)
    return sum(shares.get(name, 0.0) for name in names)


def _bucket_share(bucket: _Bucket, names: tuple[str, ...]) -> float | None:
    if names == (PLAN,):
        return bucket.plan
    return sum(bucket.sums.get(name, 0.0) for name in names) / (bucket.x1 - bucket.x0)
