"""The code-only policy: the plan's coded actions in plan order, nothing learnt."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from engine.agents.plan import Plan
from engine.rl.options import CodedAction
from engine.worlds.base import PlayerState, World
from engine.worlds.predicate import Predicate, parse

SHORT_FRAMES = 4
"""An execution that ends without success within so many frames got nowhere."""
FIRST_REST = 6
"""Frames an action that got nowhere is left out; twice as many each time it happens again."""
LONGEST_REST = 96


@dataclass(frozen=True, slots=True)
class _Choice:
    action: CodedAction
    precondition: Predicate
    due: Predicate
    success: Predicate
    interrupt: Predicate


class PlanExecutive:
    """Chooses the first coded action in plan order that may run, is due and is not done yet.

    An action that ended at once without success is left out for some frames, and longer each time:
    choosing it again in the same state could only repeat that. What it remembers is of one episode;
    it notices by the frame count that another one began.
    """

    def __init__(self, plan: Plan, actions: Sequence[CodedAction], world: World) -> None:
        order = {action.name: index for index, action in enumerate(plan.sub_actions())}
        words = world.vocabulary()
        self._choices = [
            _Choice(
                action,
                parse(action.precondition, words),
                parse(action.due, words),
                parse(action.success, words),
                parse(action.interrupt, words),
            )
            for action in sorted(actions, key=lambda action: order.get(action.name, len(order)))
        ]
        self._has_clock = "frames" in words.numbers
        self._now = -1.0
        self._last: _Choice | None = None
        self._rests_until: dict[str, float] = {}
        self._failures: dict[str, int] = {}

    def fresh(self) -> PlanExecutive:
        """An executive of the same plan and code that remembers nothing, without parsing again."""
        other = copy.copy(self)
        other._now = -1.0
        other._last = None
        other._rests_until, other._failures = {}, {}
        return other

    def choose(self, player: PlayerState) -> CodedAction | None:
        """The coded action to run now; None when there is nothing to do."""
        now = player.term("frames") if self._has_clock else self._now + 1
        if now < self._now:
            self._forget()
        elif self._last is not None:
            self._judge(self._last, player, now - self._now, now)
        self._now = now
        self._last = next(
            (choice for choice in self._choices if self._may_run(choice, player, now)), None
        )
        return None if self._last is None else self._last.action

    def _may_run(self, choice: _Choice, player: PlayerState, now: float) -> bool:
        return (
            self._rests_until.get(choice.action.name, 0.0) <= now
            and choice.precondition.holds(player)
            and choice.due.holds(player)
            and not choice.success.holds(player)
        )

    def _judge(self, last: _Choice, player: PlayerState, took: float, now: float) -> None:
        name = last.action.name
        if last.success.holds(player):
            self._failures.pop(name, None)
        elif took <= SHORT_FRAMES and not (took > 0 and last.interrupt.holds(player)):
            failures = self._failures.get(name, 0)
            self._rests_until[name] = now + min(LONGEST_REST, FIRST_REST * 2**failures)
            self._failures[name] = failures + 1

    def _forget(self) -> None:
        self._last = None
        self._rests_until.clear()
        self._failures.clear()
