"""Where the key of a language model server comes from; it is never stored or shown."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping

from engine.config import LlmConfig
from engine.errors import LlmError

KEYRING_SERVICE = "rlgpt-studio"
NO_KEY = "none"
"""Sent where there is no key: the client wants one, a local server does not look at it."""

_log = logging.getLogger(__name__)
_SHORTEST_SECRET = 6


def find_key(config: LlmConfig, env: Mapping[str, str] | None = None) -> str | None:
    """The key from the environment variable the configuration names, else from the keyring.

    Raises:
        LlmError: it holds characters no key can have.
    """
    name = config.api_key_env
    key = ((os.environ if env is None else env).get(name) or "").strip() or _from_keyring(name)
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise LlmError(
            f"the key in {name!r} holds spaces or characters that no key has",
            f"Set the environment variable {name} again, to the key alone.",
        )
    return key


def without_key(text: str, key: str | None) -> str:
    """The text with the key blotted out, should a server have repeated it."""
    if key is None or len(key) < _SHORTEST_SECRET:
        return text
    return text.replace(key, "[key]")


def without_key_so_far(text: str, key: str | None) -> str:
    """Text that is still being written without the key, nor the beginning of one at its end."""
    if key is None or len(key) < _SHORTEST_SECRET:
        return text
    text = without_key(text, key)
    for length in range(len(key) - 1, _SHORTEST_SECRET - 1, -1):
        if text.endswith(key[:length]):
            return text[:-length]
    return text


def _from_keyring(name: str) -> str | None:
    try:
        import keyring

        found = keyring.get_password(KEYRING_SERVICE, name)
    except Exception as error:  # a backend may fail in any way; a missing key is no failure
        _log.debug("the keyring cannot be read: %s", type(error).__name__)
        return None
    return found.strip() or None if found else None
