"""Which form of answer each server takes: found once, remembered from run to run."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from engine.errors import EngineError
from engine.files import write_atomically
from engine.llm.messages import MODES, Mode

_log = logging.getLogger(__name__)


class ModeMemory:
    """Modes by server and model, in a small JSON file that may be deleted at any time.

    Args:
        file: None remembers nothing.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def get(self, base_url: str, model: str) -> Mode | None:
        """The mode that worked last; None where it is unknown or the file is damaged."""
        found = self._read().get(_name(base_url, model))
        return next((mode for mode in MODES if mode == found), None)

    def put(self, base_url: str, model: str, mode: Mode) -> None:
        """Remember a mode; a file that cannot be written costs one refused call next time."""
        if self._file is None or self.get(base_url, model) == mode:
            return
        known = {**self._read(), _name(base_url, model): mode}
        try:
            write_atomically(self._file, json.dumps(known, indent=1, sort_keys=True).encode())
        except EngineError as error:
            _log.debug("the answer mode is not remembered: %s", error.message)

    def _read(self) -> dict[str, object]:
        if self._file is None:
            return {}
        try:
            known = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


def _name(base_url: str, model: str) -> str:
    return f"{base_url.rstrip('/')} {model}"
