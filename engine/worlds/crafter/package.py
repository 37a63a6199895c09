"""The modules of the package `crafter`, which has no types: everything of it is `Any` from here."""

from __future__ import annotations

from typing import Any

from crafter import constants as _constants
from crafter import engine as _engine
from crafter import env as _env
from crafter import objects as _objects

constants: Any = _constants
engine: Any = _engine
env: Any = _env
objects: Any = _objects
