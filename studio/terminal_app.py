"""What the app does about its terminal: every size, one too small to show anything, none at all."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, cast

from textual import events
from textual.app import App
from textual.command import CommandPalette
from textual.screen import Screen

from studio.screens.base import StudioPalette, StudioScreen
from studio.widgets.too_small import is_too_small

LEAVING = {"ctrl+q": "leave", "ctrl+c": "help_quit"}
"""All that can be done by key while nothing but the notice of a too small terminal is shown."""
LOOK_SECONDS = 0.5
GONE_SECONDS = 1.5
"""How long the studio may take to leave in order once its terminal is gone."""


class TerminalApp(App[str]):
    """Base of the studio: while it cannot show what a key would do, the key does nothing.

    It ends with its terminal, also where no SIGHUP tells of it.
    """

    def on_mount(self) -> None:
        """Look after the terminal from a thread: the loop itself may be waiting for it."""
        if self.is_headless or sys.__stdin__ is None or not hasattr(select, "poll"):
            return
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        self._left = threading.Event()

        def leave() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(self.exit, context=context)

        arguments = (sys.__stdin__.fileno(), leave, self._left.is_set)
        threading.Thread(
            target=end_with_terminal, args=arguments, name="terminal", daemon=True
        ).start()

    def on_unmount(self) -> None:
        """The terminal is the shell's again."""
        if not self.is_headless and hasattr(self, "_left"):
            self._left.set()

    @property
    def is_too_small(self) -> bool:
        """True while the terminal shows nothing but the notice that it is too small."""
        return is_too_small(self.size)

    async def on_event(self, event: events.Event) -> None:
        """Keep keys and pasted text from what is hidden."""
        typed = isinstance(event, events.Key | events.Paste)
        if not typed or event.is_forwarded or not self.is_too_small:
            await super().on_event(event)
        elif isinstance(event, events.Key) and event.key in LEAVING:
            await self.run_action(LEAVING[event.key], self)

    def get_default_screen(self) -> Screen[Any]:
        """The empty screen below all others."""
        return StudioScreen(id="_default")

    def action_command_palette(self) -> None:
        """Find a command by its words."""
        if self.use_command_palette and not CommandPalette.is_open(cast(App[object], self)):
            self.push_screen(StudioPalette(id="--command-palette"))


def end_with_terminal(
    terminal: int, leave: Callable[[], None], has_left: Callable[[], bool]
) -> None:
    """End this process soon after its terminal was hung up.

    Textual's thread that writes to the terminal dies with it. Once its queue is full, the loop
    waits for it for ever, and no signal is heard any more. Runs are processes of their own.

    Args:
        terminal: its file descriptor.
        leave: asks the app to leave in order.
        has_left: when true, nobody looks after the terminal any longer.
    """
    poll = select.poll()
    poll.register(terminal, 0)  # a hang-up is told unasked
    while not has_left():
        for _, told in poll.poll(LOOK_SECONDS * 1000):
            if not told & select.POLLHUP:
                return  # macOS cannot poll every kind of terminal
            leave()
            time.sleep(GONE_SECONDS)
            os._exit(128 + signal.SIGHUP)
