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


def test_a_worker_killed_from_outside_does_not_speak_against_the_code(monkeypatch, sandbox):
    class KilledOnce:
        def __init__(self, pool):
            self._pool = pool
            self.kills = 2

        def checkout(self, **options):
            if self.kills:
                self.kills -= 1
                raise Killed("signal: 9 (SIGKILL)")
            return self._pool.checkout(**options)

    class Killed(Exception):
        timed_out = False

    monkeypatch.setattr("engine.sandbox.type_check.MontyCrashedError", Killed)
    pools = {
        name: KilledOnce(getattr(sandbox, name)()) for name in ("_started", "_started_checker")
    }
    for name, pool in pools.items():
        monkeypatch.setattr(sandbox, name, lambda pool=pool: pool)
    assert sandbox.check(CODE) == ()
    assert [pool.kills for pool in pools.values()] == [0, 0]
