"""Is a key of the settings' keymap one that Textual can send, and which one was meant?"""

from __future__ import annotations

import difflib
import unicodedata

from textual.keys import KEY_NAME_REPLACEMENTS, KEY_TO_UNICODE_NAME, Keys

MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")
_NAMES = frozenset(
    {key.value for key in Keys} | set(KEY_TO_UNICODE_NAME) | set(KEY_NAME_REPLACEMENTS.values())
)


def key_problem(keys: str) -> str:
    """What is wrong with keys separated by commas (`ctrl+e,f4`), as a sentence; empty: nothing."""
    for key in keys.split(","):
        name = key.strip()
        if not name:
            return "There is no key between its commas."
        *modifiers, last = name.split("+")
        for modifier in modifiers:
            if modifier not in MODIFIERS:
                return f"There is no modifier {modifier!r}.{_alike(modifier, MODIFIERS)}"
        if not _is_key(last):
            return f"There is no key {last!r}.{_alike(last, sorted(_NAMES))}"
    return ""


def _is_key(name: str) -> bool:
    if len(name) == 1:
        return name.isprintable() and not name.isspace()
    if name in _NAMES:
        return True
    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return False
    return name == name.lower()


def _alike(name: str, known: tuple[str, ...] | list[str]) -> str:
    alike = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return f" Did you mean {alike[0]!r}?" if alike else ""
