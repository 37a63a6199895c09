"""A fake of habitat-lab 0.3.0: what the adapter touches of it."""

from __future__ import annotations

from pathlib import Path

__version__ = "0.3.0"
print("noise on stdout, as Habitat makes it")  # noqa: T201


def get_config(path, overrides):
    if not Path(path).is_file():
        raise FileNotFoundError(path)
    return dict(one.split("=", 1) for one in overrides)
