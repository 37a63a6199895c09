"""What a proposal of how to learn may name: checked alike for agents, runs and a person's edit."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.agents.plan import LearningProposal, ShapingTerm
from engine.errors import PredicateError
from engine.worlds.base import World
from engine.worlds.predicate import parse


class Wrong(NamedTuple):
    """One thing that cannot stand."""

    field: str
    """Of the proposal: `actions`, `observation` or `shaping`."""
    value: str
    """What was named there."""
    reason: str


def wrong_in(proposal: LearningProposal, coded: Iterable[str], world: World) -> tuple[Wrong, ...]:
    """All that cannot stand in a proposal, given the names of the coded actions there are."""
    return tuple(
        wrong_learning(
            proposal.actions, proposal.observation, proposal.shaping, coded=coded, world=world
        )
    )


def wrong_learning(
    actions: Iterable[str],
    observation: Iterable[str],
    shaping: Iterable[ShapingTerm],
    *,
    coded: Iterable[str],
    world: World | None,
) -> Iterator[Wrong]:
    """All that cannot stand; without a world its predicates and observation are not checked."""
    yield from _unknown("actions", actions, tuple(coded), "coded action there is")
    if world is None:
        return
    parts = tuple(world.observation_parts())
    yield from _unknown("observation", observation, parts, "part of the observation there is")
    for term in shaping:
        try:
            parse(term.predicate, world.vocabulary())
        except PredicateError as error:
            reason = f"the predicate {term.predicate!r}: {error.message}"
            yield Wrong("shaping", term.predicate, reason)


def _unknown(
    field: str, names: Iterable[str], known: tuple[str, ...], what: str
) -> Iterator[Wrong]:
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            step = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
            yield Wrong(field, name, f"{name!r} is no {what}: {step if known else 'there is none'}")
