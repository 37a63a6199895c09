"""The outer wall: found where it works, left out without a word where it does not."""

from __future__ import annotations

import multiprocessing
import os
import runpy
from pathlib import Path

import pytest

from engine.errors import SandboxError
from engine.sandbox.hardening import hardening_status, write_wrapper
from engine.sandbox.pool import Limits, Sandbox
from engine.sandbox.turns import Raised, Returned

FUNCTIONS = frozenset({"act", "count", "approach"})
FINE = 'def run() -> str:\n    return "fine"\n'


def _fake_bwrap(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_without_bwrap_the_sandbox_still_works(
    stub: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status = hardening_status()
    assert not status.active
    assert "bubblewrap" in status.detail
    with Sandbox(stub, FUNCTIONS) as sandbox:
        assert sandbox.load(FINE).start() == Returned("fine")


def test_a_bwrap_that_may_not_make_namespaces_is_left_out(
    stub: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fake_bwrap(tmp_path, "echo 'No permissions to create new namespace' >&2; exit 1", monkeypatch)
    status = hardening_status()
    assert not status.active
    assert "No permissions to create new namespace" in status.detail
    assert write_wrapper(tmp_path) is None
    with Sandbox(stub, FUNCTIONS) as sandbox:
        assert sandbox.load(FINE).start() == Returned("fine")


@pytest.mark.skipif(not hardening_status().active, reason=hardening_status().detail)
def test_inside_bwrap_programs_run_and_a_killed_worker_is_replaced(stub: str) -> None:
    with Sandbox(stub, FUNCTIONS, Limits(seconds_per_turn=0.3)) as sandbox:
        assert sandbox.load(FINE).start() == Returned("fine")
        end = sandbox.load("def run() -> str:\n    return str(7**(10**8 // 3) % 7)\n").start()
        assert isinstance(end, Raised)
        assert end.kind == "time"
        assert sandbox.load(FINE).start() == Returned("fine")


def test_a_spawned_process_has_a_sandbox_of_its_own(
    sandbox: Sandbox, stub: str, tmp_path: Path
) -> None:
    sandbox.load(FINE)
    script, answer = tmp_path / "child.py", tmp_path / "answer"
    script.write_text(
        "from pathlib import Path\nfrom engine.sandbox.pool import Sandbox\n"
        f"with Sandbox({stub!r}, frozenset({{'act'}}), harden=False) as sandbox:\n"
        f"    Path({str(answer)!r}).write_text(repr(sandbox.load({FINE!r}).start()))\n"
    )
    process = multiprocessing.get_context("spawn").Process(
        target=runpy.run_path, args=(str(script),)
    )
    process.start()
    process.join(timeout=60)
    assert answer.read_text() == repr(Returned("fine"))


def test_a_fork_is_refused(sandbox: Sandbox, stub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox.load(FINE)
    monkeypatch.setattr("engine.sandbox.pool.os.getpid", lambda: -1)
    with Sandbox(stub, FUNCTIONS) as forked, pytest.raises(SandboxError, match="fork"):
        forked.load(FINE)
