"""What every screen of the studio shares: it settles, and its widgets know their sizes."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.command import CommandPalette
from textual.screen import ModalScreen, Screen, ScreenResultType

from studio.screens.telling import TellingCompositor
from studio.widgets.too_small import is_too_small


class StudioScreen(Screen[ScreenResultType]):
    """Base of all screens.

    Textual lays a screen out with the size a resize event names, and each layout that changes the
    screen's size posts it another resize event of that size. With events of two sizes in the queue,
    and anything between them so that they are not merged, the layouts answer each other for ever
    and the studio is deaf. Here a late event counts as one of the terminal's present size, so that
    only the first layout of a size posts another event.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._compositor = TellingCompositor()

    async def _on_resize(self, event: events.Resize) -> None:
        was_too_small = self.has_class("-tiny") or self.has_class("-flat")
        present = self.app.size
        if event.size != present:
            event.prevent_default()
            event.stop()
            await super()._on_resize(events.Resize(present, present, present))
        if was_too_small and not is_too_small(present):
            self.call_after_refresh(self.seen_again)

    def seen_again(self) -> None:
        """The terminal was too small to show this screen and is large enough now."""


class StudioModal(ModalScreen[ScreenResultType], StudioScreen[ScreenResultType]):
    """Base of the dialogs: what is below them stays to be seen."""


class StudioPalette(CommandPalette, StudioScreen[None]):
    """Textual's command palette."""
