"""The command palette: everything the registry of keys offers at this moment, and the themes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.dom import DOMNode
from textual.types import IgnoreReturnCallbackType

from studio import keymap

if TYPE_CHECKING:
    from studio.app import StudioApp

_NOT_HERE = frozenset({"list", "dialog"})


class StudioCommands(Provider):
    """Commands by their words; the same entries as in footer and help."""

    def _offers(self) -> Iterator[tuple[str, str, IgnoreReturnCallbackType]]:
        app = cast("StudioApp", self.app)
        active = {
            binding.binding.id: (binding.node, binding.binding.action)
            for binding in self.screen.active_bindings.values()
            if binding.enabled and binding.binding.id
        }
        for entry in keymap.KEYS:
            if entry.where in _NOT_HERE or entry.id not in active or entry.id == "studio.palette":
                continue
            node, action = active[entry.id]
            keys = " ".join(keymap.keys_for(entry, app.settings.keymap))
            place = keymap.WHERE_TITLES[entry.where].lower()
            title = f"{place}: {entry.words.lower()}   {keys}"
            yield title, entry.help, partial(self._run, action, node)
        for name in sorted(app.available_themes):
            yield f"theme: {name}", "Change the colours", partial(setattr, app, "theme", name)

    async def _run(self, action: str, node: DOMNode) -> None:
        await self.app.run_action(action, default_namespace=node)

    async def discover(self) -> Hits:
        """Everything that can be done now."""
        for title, text, callback in self._offers():
            if not title.startswith("theme:"):
                yield DiscoveryHit(title, callback, help=text)

    async def search(self, query: str) -> Hits:
        """What fits the typed words."""
        matcher = self.matcher(query)
        for title, text, callback in self._offers():
            score = max(matcher.match(title), 0.8 * matcher.match(text))
            if score > 0:
                yield Hit(score, matcher.highlight(title), callback, help=text)
