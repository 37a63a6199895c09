"""Packages that only language models need: an optional extra, imported where one is used."""

from __future__ import annotations

import importlib
from typing import Any

from engine.errors import EngineError


def extra(package: str, purpose: str) -> Any:
    """The module of a package of the extra `llarp`.

    Raises:
        EngineError: it is not installed; `purpose` says what can't be done without it.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise EngineError(
            f"{purpose} needs the package {package!r}, which cannot be imported: {error}",
            "Install what language models need: pip install 'rlgpt-studio[llarp]'",
        ) from error
