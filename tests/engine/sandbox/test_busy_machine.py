"""A worker that dies before any code is in it says nothing about the code."""

from __future__ import annotations

import pytest

from engine.errors import SandboxError
from engine.sandbox.pool import Sandbox
from engine.sandbox.turns import Returned

STUB = "def act(action: str) -> bool: ...\n"
CODE = 'def run() -> str:\n    return "done"\n'


class WorkerDied(Exception):
    """Stands for Monty's own crash error, which only Monty can make."""


class DyingSessions:
    """A pool whose first sessions crash when they are entered."""

    def __init__(self, pool, crashes):
        self._pool = pool
        self.crashes = crashes

    def checkout(self, **options):
        if self.crashes == 0:
            return self._pool.checkout(**options)
        self.crashes -= 1
        return self

    def __enter__(self):
        raise WorkerDied("worker killed after exceeding request timeout of 2s")


@pytest.fixture
def sandbox():
    with Sandbox(STUB, frozenset({"act"})) as one:
        yield one


def _let_die(monkeypatch, sandbox, crashes):
    program = sandbox.load(CODE)
    pool = DyingSessions(sandbox._started(), crashes)
    monkeypatch.setattr("engine.sandbox.pool.MontyCrashedError", WorkerDied)
    monkeypatch.setattr(sandbox, "_started", lambda: pool)
    return program, pool


def test_another_worker_is_tried(monkeypatch, sandbox):
    program, pool = _let_die(monkeypatch, sandbox, crashes=2)
    assert program.start() == Returned("done")
    assert pool.crashes == 0


def test_a_machine_that_kills_every_worker_is_told_as_such(monkeypatch, sandbox):
    program, _ = _let_die(monkeypatch, sandbox, crashes=1000)
    with pytest.raises(SandboxError, match="workers in a row") as raised:
        program.start()
    assert "overloaded" in raised.value.hint
