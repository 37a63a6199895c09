"""What the app does about its terminal: every size, and one too small to show anything."""

from __future__ import annotations

from typing import Any, cast

from textual import events
from textual.app import App
from textual.command import CommandPalette
from textual.screen import Screen

from studio.screens.base import StudioPalette, StudioScreen
from studio.widgets.too_small import is_too_small

LEAVING = {"ctrl+q": "leave", "ctrl+c": "help_quit"}
"""All that can be done by key while nothing but the notice of a too small terminal is shown."""


class TerminalApp(App[str]):
    """Base of the studio: while it cannot show what a key would do, the key does nothing."""

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
