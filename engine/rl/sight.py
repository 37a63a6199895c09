"""What of the observation a policy sees: the rest is zero, in training as in every use of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.errors import ConfigError
from engine.worlds.base import Observation

Spans = tuple[tuple[int, int], ...]
"""Half-open ranges of indices."""


class Sight:
    """Blanks what is unseen."""

    def __init__(self, unseen: Spans) -> None:
        """Take what is not seen; an empty tuple sees everything."""
        self._unseen = unseen

    def of(self, observations: Observation) -> Observation:
        """The observations with zeros for what is unseen, shape (rows, observation_size)."""
        if not self._unseen or not observations.size:
            return observations
        seen = observations.copy()
        for first, end in self._unseen:
            seen[:, first:end] = 0.0
        return seen


def unseen_spans(parts: Mapping[str, Sequence[int]], seen: Sequence[str]) -> Spans:
    """Ranges of all indices outside the parts that are seen; nothing when `seen` is empty.

    Raises:
        ConfigError: there is no part of that name.
    """
    if not seen:
        return ()
    unknown = sorted(set(seen) - set(parts))
    if unknown:
        raise ConfigError(
            f"the observation has no part {', '.join(map(repr, unknown))}",
            f"There are: {', '.join(parts)}.",
        )
    spans: list[tuple[int, int]] = []
    for index in sorted(i for name, part in parts.items() if name not in seen for i in part):
        if spans and spans[-1][1] == index:
            spans[-1] = (spans[-1][0], index + 1)
        else:
            spans.append((index, index + 1))
    return tuple(spans)
