"""Which predicates came true in an episode: the source of bonuses and of success figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.worlds.base import PlayerState, World
from engine.worlds.predicate import Predicate, parse


class GoalTracker:
    """Follows named predicates through one episode after another.

    A goal is reached when its predicate comes true after having been false in this episode, and
    at most once per episode: what holds from the start is nobody's merit.
    """

    def __init__(self, world: World, goals: Mapping[str, str]) -> None:
        vocabulary = world.vocabulary()
        self._predicates: dict[str, Predicate] = {
            name: parse(text, vocabulary) for name, text in goals.items()
        }
        self._open: dict[str, Predicate] = {}
        self._armed: set[str] = set()

    @property
    def reached(self) -> tuple[str, ...]:
        """Names reached in this episode, in the order the goals were given."""
        return tuple(name for name in self._predicates if name not in self._open)

    @property
    def armed(self) -> tuple[str, ...]:
        """Names that were false at some time in this episode and are not yet reached."""
        return tuple(name for name in self._open if name in self._armed)

    def begin(self, player: PlayerState) -> None:
        """A new episode begins with this player."""
        self._open = dict(self._predicates)
        self._armed = {name for name, goal in self._open.items() if not goal.holds(player)}

    def resume(self, reached: Sequence[str], armed: Sequence[str]) -> None:
        """Go on in the middle of an episode, from `reached` and `armed` as they were."""
        self._open = {n: goal for n, goal in self._predicates.items() if n not in reached}
        self._armed = set(armed)

    def see(self, player: PlayerState) -> tuple[str, ...]:
        """Names whose predicate came true with this frame."""
        now: list[str] = []
        for name, goal in self._open.items():
            if not goal.holds(player):
                self._armed.add(name)
            elif name in self._armed:
                now.append(name)
        for name in now:
            del self._open[name]
        return tuple(now)
