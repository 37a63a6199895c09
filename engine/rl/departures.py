"""Where a policy leaves the plan: what it chose, what code alone would have run, and when.

Every decision counts at which code alone would have run something (`comes_next` of
`engine.rl.plan_features`); where the plan has nothing to say there is nothing to leave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from engine.agents.plan import Record
from engine.rl.decisions import Ints
from engine.rl.learned_action import Action
from engine.rl.plan_features import plan_says
from engine.worlds.base import Observation, World

if TYPE_CHECKING:
    from engine.rl.option_batch import OptionBatch

MOST_PAIRS: Final = 20
"""How many pairs a record keeps, the most frequent ones; the rest is counted."""
_DIGITS: Final = 3
"""Of means: enough to read, and the order in which episodes end is not seen in them."""
_NOTHING: Final = -1

_Vector = NDArray[np.float64]


class Step(Record):
    """All decisions at which code alone would have run one coded action."""

    decisions: int
    followed: int
    """At how many of them the policy chose it too."""
    situation: dict[str, float]
    """Means over the decisions at which it was followed; empty where it never was."""


class Departure(Record):
    """All decisions at which the policy chose one action where code would have run another."""

    code: str
    """What code alone would have run."""
    policy: str
    """What the policy chose instead: a coded action or a primitive."""
    decisions: int
    episodes: int
    """In how many episodes it happened."""
    situation: dict[str, float]
    """Means over these decisions, as in `Departures`."""


class Departures(Record):
    """How a policy and the plan differ over finished episodes."""

    episodes: int
    decisions: int
    """Those at which code alone would have run something."""
    followed: int
    """Those at which the policy chose the same."""
    silent: int
    """Further decisions, at which the plan had nothing to say."""
    flags: tuple[str, ...]
    """Words that are true or false: their mean is the share of decisions at which they hold."""
    situation: dict[str, float]
    """Mean of each word over `decisions`.

    A number that stands for none, as the distance to nothing does, counts as it is.
    """
    spread: dict[str, float]
    """Standard deviation of each word over `decisions`."""
    steps: dict[str, Step]
    """By what code alone would have run; those of `pairs`."""
    pairs: tuple[Departure, ...]
    """The most frequent first, `MOST_PAIRS` at most."""
    rarer_pairs: int
    """Pairs that were left out; each came at most as often as the last of `pairs`."""

    @property
    def departed(self) -> int:
        """Decisions at which the policy left the plan."""
        return self.decisions - self.followed


@dataclass(slots=True)
class _Mean:
    """A sum on its way to a mean."""

    total: _Vector
    count: int = 0

    def add(self, values: _Vector, count: int = 1) -> None:
        self.total += values
        self.count += count


@dataclass(slots=True)
class _Tally:
    """What was counted of one episode, or of many."""

    words: int
    silent: int = 0
    episodes: int = 0
    squares: _Vector = field(init=False)
    pairs: dict[tuple[int, int], _Mean] = field(default_factory=dict)
    """By (number of the coded action, action of the policy); followed ones too."""
    seen_in: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Episodes in which each pair came up."""

    def __post_init__(self) -> None:
        self.squares = np.zeros(self.words)

    def mean(self, pair: tuple[int, int]) -> _Mean:
        return self.pairs.setdefault(pair, _Mean(np.zeros(self.words)))

    def merge(self, episode: _Tally) -> None:
        self.silent += episode.silent
        self.episodes += 1
        self.squares += episode.squares
        for pair, mean in episode.pairs.items():
            self.mean(pair).add(mean.total, mean.count)
        self.seen_in.update(episode.pairs.keys())


class DepartureRecorder:
    """Compares the decisions of an evaluation with the plan; one recorder for one evaluation."""

    def __init__(self, world: World, actions: Sequence[Action]) -> None:
        """Nothing is counted yet.

        Args:
            actions: coded and learned, in the order of the action space.
        """
        self._names = (*world.primitives, *(action.name for action in actions))
        self._primitives = len(world.primitives)
        self._coded = len(actions)
        vocabulary = world.vocabulary()
        self._words = vocabulary.numbers | vocabulary.flags
        self._flags = vocabulary.flags
        self._columns: Ints = np.zeros(0, np.int64)
        self._named: tuple[str, ...] = ()
        self._all: _Tally | None = None
        self._open: dict[int, _Tally] = {}
        """Of the episodes under way, by seed."""

    def note(
        self, batch: OptionBatch, places: Ints, observations: Observation, actions: Ints
    ) -> None:
        """The policy has chosen these actions at these places, and nothing is begun yet."""
        if not self._coded or not places.size:
            return
        if self._all is None:
            names = batch.batch.term_names
            columns = [at for at, name in enumerate(names) if name in self._words]
            self._columns = np.array(columns, np.int64)
            self._named = tuple(names[at] for at in columns)
            self._all = _Tally(len(self._named))
        comes_next = plan_says(observations, self._coded).comes_next
        code = np.where(comes_next.any(axis=1), comes_next.argmax(axis=1), _NOTHING).tolist()
        values = batch.batch.terms[np.ix_(places, self._columns)]
        for row, place in enumerate(places.tolist()):
            tally = self._open.setdefault(batch.seed(place), _Tally(len(self._named)))
            if code[row] == _NOTHING:
                tally.silent += 1
                continue
            tally.mean((code[row], int(actions[row]))).add(values[row])
            tally.squares += values[row] ** 2

    def episode_over(self, seed: int) -> None:
        """The episode of this seed is finished: only now it counts."""
        episode = self._open.pop(seed, None)
        if episode is not None and self._all is not None:
            self._all.merge(episode)

    def found(self) -> Departures | None:
        """What the finished episodes show; None where there are no coded actions or decisions."""
        tally = self._all
        if tally is None or not tally.episodes:
            return None
        everything = _sum(list(tally.pairs.values()), len(self._named))
        left = [pair for pair in tally.pairs if not self._follows(pair)]
        # Of equally frequent ones the first in the action space, whatever was seen first.
        left.sort(key=lambda pair: (-tally.pairs[pair].count, pair))
        kept = left[:MOST_PAIRS]
        return Departures(
            episodes=tally.episodes,
            decisions=everything.count,
            followed=sum(m.count for pair, m in tally.pairs.items() if self._follows(pair)),
            silent=tally.silent,
            flags=tuple(name for name in self._named if name in self._flags),
            situation=self._situation(everything),
            spread=self._spread(everything, tally.squares),
            steps={
                self._code(step): self._step(tally, step) for step in sorted({p[0] for p in kept})
            },
            pairs=tuple(self._departure(tally, pair) for pair in kept),
            rarer_pairs=len(left) - len(kept),
        )

    def _follows(self, pair: tuple[int, int]) -> bool:
        return pair[1] == self._primitives + pair[0]

    def _code(self, step: int) -> str:
        return self._names[self._primitives + step]

    def _departure(self, tally: _Tally, pair: tuple[int, int]) -> Departure:
        mean = tally.pairs[pair]
        return Departure(
            code=self._code(pair[0]),
            policy=self._names[pair[1]],
            decisions=mean.count,
            episodes=tally.seen_in[pair],
            situation=self._situation(mean),
        )

    def _step(self, tally: _Tally, step: int) -> Step:
        own = [(pair, mean) for pair, mean in tally.pairs.items() if pair[0] == step]
        followed = _sum([m for pair, m in own if self._follows(pair)], len(self._named))
        return Step(
            decisions=sum(mean.count for _, mean in own),
            followed=followed.count,
            situation=self._situation(followed),
        )

    def _situation(self, mean: _Mean) -> dict[str, float]:
        return self._by_word(mean.total / mean.count) if mean.count else {}

    def _spread(self, mean: _Mean, squares: _Vector) -> dict[str, float]:
        if not mean.count:
            return {}
        variance = squares / mean.count - (mean.total / mean.count) ** 2
        return self._by_word(np.sqrt(np.maximum(variance, 0.0)))

    def _by_word(self, values: _Vector) -> dict[str, float]:
        rounded = [round(value, _DIGITS) for value in values.tolist()]
        return dict(zip(self._named, rounded, strict=True))


def _sum(means: Sequence[_Mean], words: int) -> _Mean:
    everything = _Mean(np.zeros(words))
    for mean in means:
        everything.add(mean.total, mean.count)
    return everything
