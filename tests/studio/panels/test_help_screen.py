from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from textual.pilot import Pilot
from textual.widgets import Static

from studio import keymap
from studio.app import StudioApp
from studio.screens.help import HelpScreen

Settle = Callable[[Pilot[str]], Awaitable[None]]
OpenScreen = Callable[[Pilot[str], str], Awaitable[None]]


def page(app: StudioApp) -> str:
    return str(app.screen.query_one("#help-page Static", Static).content)


async def test_every_key_of_the_registry_is_explained(
    studio: StudioApp, settle: Settle, open_screen: OpenScreen
) -> None:
    async with studio.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, "f1")
        assert isinstance(studio.screen, HelpScreen)
        text = page(studio)
        for key in keymap.KEYS:
            assert key.help in text
        for title in keymap.WHERE_TITLES.values():
            assert f"\n{title}\n" in text or text.startswith(f"{title}\n")
        assert str(studio.paths.config_file) in text
        assert studio.data.database_url in text
        assert "approx_kl" in text
        await pilot.press("escape")
        await settle(pilot)
        assert not isinstance(studio.screen, HelpScreen)


async def test_what_applies_here_comes_first(
    studio: StudioApp, settle: Settle, open_screen: OpenScreen
) -> None:
    async with studio.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, "f2")
        await open_screen(pilot, "f1")
        here, rest = page(studio).split("\n\n", 1)
        assert here.startswith("Here and now")
        assert keymap.key("skills.kind").help in here
        assert keymap.key("skills.watch").help not in here, "there is no skill to watch"
        assert keymap.key("runs.resume").help not in here
        assert keymap.key("skills.watch").help in rest


async def test_remapped_keys_are_shown(
    studio: StudioApp, settle: Settle, open_screen: OpenScreen
) -> None:
    studio.settings = replace(studio.settings, keymap={"skills.kind": "ctrl+k"})
    async with studio.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, "f1")
        line = next(
            line for line in page(studio).splitlines() if keymap.key("skills.kind").help in line
        )
        assert line.startswith("^k ")
