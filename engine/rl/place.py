"""One place of a batch between two frames: what runs there, and what was set aside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from engine.rl.decisions import Rechoice
from engine.rl.learned_option import LearnedExecution
from engine.rl.options import OptionExecution

Execution = OptionExecution | LearnedExecution
"""Of a coded or of a learned action."""


@dataclass(slots=True)
class Place:
    """One place of the batch between two frames."""

    seed: int = 0
    running: Execution | None = None
    """Runs, or stands still until the policy has chosen."""
    index: int = -1
    """Of the running one in the action space."""
    following: int = 0
    """The primitive the running one wants next; `REST` while a learned one was not asked."""
    was_interrupt: bool = False
    since: int = 0
    """Frames since the policy was asked."""
    aside: Execution | None = None
    """Yielded to something else, and may go on later."""
    aside_index: int = -1
    spent: set[int] = field(default_factory=set)
    """Options that ended in this very state without a frame: asking again is no use."""

    def put_aside(self) -> None:
        """Keep what stands still for later, in place of what was kept before."""
        if self.running is None:
            return
        if self.aside is not None:
            self.aside.drop("another action was interrupted since")
        self.aside, self.aside_index = self.running, self.index
        self.running = None

    def take_up(self, action: int) -> Execution | None:
        """What was set aside of this option, to go on with; None when there is none."""
        if self.aside is None or self.aside_index != action:
            return None
        wanted, self.aside = self.aside, None
        return wanted

    def asks(self, rechoice: Rechoice, *, interrupt: bool) -> bool:
        """Whether what still runs after one more frame is put to the policy.

        Args:
            interrupt: whether its interrupt rule holds now.
        """
        self.since += 1
        fired = interrupt and (rechoice.interrupt == "level" or not self.was_interrupt)
        self.was_interrupt = interrupt
        return fired or 0 < rechoice.every <= self.since

    def end(self, *, died: bool) -> None:
        """The episode has ended, and with it what ran or was set aside."""
        if self.running is not None:
            outcome: Literal["died", "out_of_frames"] = "died" if died else "out_of_frames"
            self.running.cut(outcome, "the episode ended")
            self.running = None
        if self.aside is not None:
            self.aside.drop("the episode ended")
            self.aside = None

    def drop(self, detail: str) -> None:
        """Nothing goes on here; `detail` says why."""
        for execution in (self.running, self.aside):
            if execution is not None:
                execution.drop(detail)
        self.running = self.aside = None
        self.spent.clear()
