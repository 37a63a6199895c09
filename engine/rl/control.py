"""Pause and stop, asked for often enough that a person never waits, and cheaply."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

Control = Literal["go", "pause", "stop_and_keep", "abort"]
POLL_SECONDS = 0.2


class Stopped(Exception):
    """The training shall end now; raised out of the env step it was noticed in."""

    def __init__(self, how: Literal["stop_and_keep", "abort"]) -> None:
        super().__init__(how)
        self.how = how


class Valve:
    """Asks `control` a few times a second, waits while it says pause, raises when it says stop."""

    def __init__(
        self,
        control: Callable[[], Control],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._control = control
        self._clock = clock
        self._sleep = sleep
        self._asked = clock()
        self.paused_seconds = 0.0
        """Time spent waiting in pauses so far."""

    def tick(self) -> None:
        """Call after each env frame.

        Raises:
            Stopped: the training shall end.
        """
        if self._clock() - self._asked >= POLL_SECONDS:
            self.ask()

    def ask(self) -> None:
        """Ask now, whenever it was last asked."""
        order = self._control()
        began = self._clock()
        while order == "pause":
            self._sleep(POLL_SECONDS)
            order = self._control()
        self._asked = self._clock()
        self.paused_seconds += self._asked - began
        if order != "go":
            raise Stopped(order)
