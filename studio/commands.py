"""The command palette: everything the registry of keys offers at this moment, and the themes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.dom import DOMNode
from textual.types import IgnoreReturnCallbackType

from studio import keymap
from studio.widgets.paint import MUTED

if TYPE_CHECKING:
    from studio.app import StudioApp

_NOT_HERE = frozenset({"list", "dialog"})


class StudioCommands(Provider):
    """Commands by their words; the same entries as in footer and help."""

    def _offers(self) -> Iterator[tuple[str, str, str, IgnoreReturnCallbackType]]:
        """Words, keys, what it does in a sentence, and the way to do it."""
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
            words = f"{place}: {entry.words.lower()}"
            yield words, keys, entry.help, partial(self._run, action, node)
        for name in sorted(app.available_themes):
            change = partial(setattr, app, "theme", name)
            yield f"theme: {name}", "", "Change the colours", change

    async def _run(self, action: str, node: DOMNode) -> None:
        await self.app.run_action(action, default_namespace=node)

    async def discover(self) -> Hits:
        """Everything that can be done now."""
        for words, keys, text, callback in self._offers():
            if not words.startswith("theme:"):
                # Keys such as [ would be taken for markup.
                title = Content.assemble(words, (f"   {keys}", MUTED))
                yield DiscoveryHit(title, callback, text=words, help=text)

    async def search(self, query: str) -> Hits:
        """What fits the typed words."""
        matcher = self.matcher(query)
        for words, keys, text, callback in self._offers():
            score = max(matcher.match(words), 0.8 * matcher.match(text))
            if score > 0:
                title = Content.assemble(matcher.highlight(words), (f"   {keys}", MUTED))
                yield Hit(score, title, callback, text=words, help=text)
