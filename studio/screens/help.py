"""Help, generated from the registry of keys: what can be done here first, then everything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from studio import keymap
from studio.screens.base import StudioScreen
from studio.widgets.key_bar import KeyBar
from studio.widgets.paint import toned
from studio.widgets.reader import Reader
from studio.widgets.too_small import TooSmall

if TYPE_CHECKING:
    from studio.app import StudioApp
    from studio.keymap import Key
    from studio.run_bridge import StudioData

_KEYS = 16


class HelpScreen(StudioScreen[None]):
    """One long page to scroll; esc goes back."""

    app: StudioApp
    BINDINGS = keymap.bindings("dialog", only=frozenset({"dialog.back"}))

    def __init__(self, data: StudioData) -> None:
        super().__init__()
        self._data = data

    def compose(self) -> ComposeResult:
        """Title and page."""
        yield TooSmall()
        yield Static(
            Content.assemble(("Help", "bold $text-accent"), toned("  esc goes back", "muted")),
            markup=False,
            classes="screen-title",
        )
        yield Reader(id="help-page")
        yield KeyBar()

    def on_mount(self) -> None:
        """Written once: keys do not change while one reads."""
        reader = self.query_one(Reader)
        _, *lines = self._lines()  # every title begins with an empty line
        reader.show_text(Content("\n").join(lines))
        reader.focus()

    def action_back(self) -> None:
        """Back to where one was."""
        self.dismiss()

    def _lines(self) -> Iterable[Content]:
        remapped = self.app.settings.keymap
        here = self._here()
        if here:
            yield from _section("Here and now", here, remapped)
        for place, title in keymap.WHERE_TITLES.items():
            yield from _section(title, keymap.keys_of(place), remapped)
        yield from _curves()
        yield from self._files()

    def _here(self) -> tuple[Key, ...]:
        """What the screen below offers at this moment, in the order of the registry."""
        stack = self.app.screen_stack
        if len(stack) < 2:
            return ()
        active = stack[-2].active_bindings.values()
        ids = {binding.binding.id for binding in active if binding.enabled}
        return tuple(
            key for key in keymap.KEYS if key.id in ids and key.where not in ("studio", "list")
        )

    def _files(self) -> Iterable[Content]:
        paths = self.app.paths
        rows = (
            ("runs", f"{paths.home}", "one folder a run: checkpoint and log of its process"),
            ("database", self._data.database_url, "runs, skills, everything that happened"),
            ("settings", f"{paths.config_file}", "TOML; keys are remapped under [keymap]"),
            ("log", f"{paths.log_file}", "what the studio itself had to say"),
        )
        yield from _title("Where things are")
        for name, place, words in rows:
            yield Content.assemble((f"{name:<{_KEYS}}", "$text-accent"), place)
            yield toned(f"{'':<{_KEYS}}{words}", "muted")


def _title(text: str) -> Iterable[Content]:
    yield Content()
    yield Content.styled(text, "bold")


def _section(title: str, keys: tuple[Key, ...], remapped: Mapping[str, str]) -> Iterable[Content]:
    if not keys:
        return
    yield from _title(title)
    for key in keys:
        pressed = " ".join(keymap.keys_for(key, remapped))
        yield Content.assemble((f"{pressed:<{_KEYS}}", "$text-accent"), key.help)


def _curves() -> Iterable[Content]:
    from studio.widgets.training_panel import ABOUT

    yield from _title("What the training curves mean")
    for name, about in ABOUT.items():
        yield Content.assemble((f"{name:<{_KEYS + 4}}", "$text-accent"), about)
    yield toned(
        "The bright line is the mean, the faint band around it every value; "
        "the x axis counts env frames.",
        "muted",
    )
