"""Trained policies as actions: what a later policy may choose beside primitives and coded actions.

The words are those of a coded action; in place of code there is a network that chooses frame by
frame among its own actions (an option whose policy is learnt; Sutton, Precup & Singh 1999).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.rl.options import CodedAction

if TYPE_CHECKING:
    from engine.rl.policy_file import PolicyFile


@dataclass(frozen=True, slots=True)
class LearnedEntry:
    """A learned action as a spec names it; the policy itself lies beside the spec's weights."""

    name: str
    policy: str
    """Its digest (`engine.rl.policy_bundle.digest_of`)."""
    success: str
    precondition: str
    interrupt: str
    due: str = field(default="true", kw_only=True)
    max_frames: int


@dataclass(frozen=True, slots=True)
class LearnedAction:
    """A learned action with its policy, ready to be run.

    It may begin where `precondition` holds. It ends as soon as `success` holds, after `max_frames`
    env frames, with the episode, or when whoever chose it goes on with something else; `interrupt`
    and `due` mean what they mean for a coded action.
    """

    name: str
    policy: PolicyFile
    success: str
    precondition: str
    interrupt: str
    due: str = field(default="true", kw_only=True)
    max_frames: int


Action = CodedAction | LearnedAction
"""What an action space has beside the primitives."""
Entry = CodedAction | LearnedEntry
"""The same as plain data."""


def coded_only(actions: Iterable[Action]) -> Iterator[CodedAction]:
    """The coded actions among them, without those inside of learned ones."""
    return (action for action in actions if isinstance(action, CodedAction))
