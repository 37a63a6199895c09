"""Coded actions as options: a suspended program whose every step is one primitive action."""

from __future__ import annotations

from dataclasses import dataclass

from engine.agents.plan import Outcome


@dataclass(frozen=True, slots=True)
class CodedAction:
    """Approved code as one action of the RL action space (an option; Sutton et al. 1999).

    `precondition` is the initiation set (the action mask), the code is the policy; it terminates
    when the code returns, when `interrupt` holds, or after `max_frames` env frames.
    """

    name: str
    code: str
    success: str
    precondition: str
    interrupt: str
    max_frames: int
    version: int = 1


@dataclass(frozen=True, slots=True)
class OptionEnd:
    """How one execution of a coded action ended."""

    outcome: Outcome
    detail: str
    frames: int
