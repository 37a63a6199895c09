"""A sandbox over a small stub, shared by the tests of a module's run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.sandbox.pool import Limits, Sandbox

STUB = '''
"""A world of one row of cells."""
from typing import Literal

Action = Literal["noop", "left", "right", "do"]
Item = Literal["wood", "stone"]

def act(action: Action) -> bool:
    """One frame."""

def count(item: Item) -> int:
    """How many."""

def approach(item: Item) -> Action | None:
    """Next action."""
'''
FUNCTIONS = frozenset({"act", "count", "approach"})


@pytest.fixture(scope="session")
def stub() -> str:
    return STUB


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    limits = Limits(seconds_per_turn=0.5, memory_bytes=32 * 2**20, calls=500, output_bytes=4096)
    with Sandbox(STUB, FUNCTIONS, limits, harden=False) as made:
        yield made
