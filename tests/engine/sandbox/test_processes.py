"""Sandboxes and processes: a spawned one makes its own, a forked one is told that it cannot."""

from __future__ import annotations

import json
import multiprocessing
import os
import runpy
import select
import signal
from pathlib import Path

import pytest

from engine.errors import SandboxError
from engine.sandbox.pool import Sandbox
from engine.sandbox.turns import WorldCall

CODE = 'def run() -> str:\n    for _ in range(3):\n        act("noop")\n    return "done"\n'
CHILD = """
import json
from pathlib import Path
from engine.sandbox.fast.sandbox import FastSandbox
from engine.sandbox.pool import Sandbox
from engine.sandbox.shelf import ProgramShelf

ends = []
with Sandbox({stub!r}, frozenset({{"act"}}), harden=False) as monty:
    for load in (monty.load, FastSandbox(monty, "act").load):
        with ProgramShelf(load) as shelf:
            for _ in range(2):
                programs = [shelf.take({code!r}) for _ in range(16)]
                for program in programs:
                    program.start()
                for _ in range(3):
                    turns = [program.answer(True) for program in programs]
                ends += [turn.value for turn in turns]
                for program in programs:
                    shelf.give_back({code!r}, program)
Path({answer!r}).write_text(json.dumps(ends))
"""


def test_a_spawned_process_runs_many_programs_at_once(
    sandbox: Sandbox, stub: str, tmp_path: Path
) -> None:
    sandbox.load(CODE)
    script, answer = tmp_path / "child.py", tmp_path / "answer"
    script.write_text(CHILD.format(stub=stub, code=CODE, answer=str(answer)))
    process = multiprocessing.get_context("spawn").Process(
        target=runpy.run_path, args=(str(script),)
    )
    process.start()
    process.join(timeout=120)
    assert process.exitcode == 0
    assert json.loads(answer.read_text()) == ["done"] * 64


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_is_told_so_and_does_not_hang(sandbox: Sandbox) -> None:
    program = sandbox.load(CODE)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        said = []
        for work in (program.start, lambda: sandbox.load(CODE)):
            try:
                work()
            except SandboxError as error:
                said.append(error.message)
        os.write(writer, json.dumps(said).encode())
        os._exit(0)
    try:
        ready, _, _ = select.select([reader], [], [], 30)
        said = json.loads(os.read(reader, 4096)) if ready else "it hangs"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)
    assert len(said) == 2
    assert all("fork" in message for message in said)
    assert isinstance(program.start(), WorldCall)
    program.abort()
