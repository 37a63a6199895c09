"""The shelf of programs: used again, bounded, and closed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from engine.errors import SandboxError
from engine.sandbox.fast.sandbox import FastSandbox
from engine.sandbox.pool import Limits, Sandbox
from engine.sandbox.shelf import ProgramShelf
from engine.sandbox.turns import Returned, WorldCall

CODE = 'def run() -> str:\n    act("noop")\n    return "done"\n'


@dataclass
class Book:
    code: str
    log: list[str] = field(default_factory=list)

    def abort(self) -> None:
        self.log.append("abort")

    def close(self) -> None:
        self.log.append("close")


def test_a_program_is_used_again() -> None:
    shelf = ProgramShelf(Book)
    first = shelf.take("a")
    assert (shelf.taken, shelf.idle) == (1, 0)
    shelf.give_back("a", first)
    assert (shelf.taken, shelf.idle) == (0, 1)
    assert first.log == ["abort"]
    assert shelf.take("b") is not first
    assert shelf.take("a") is first


def test_at_once_there_are_as_many_as_are_taken() -> None:
    shelf = ProgramShelf(Book, most_idle=4)
    taken = [shelf.take("a") for _ in range(16)]
    assert len({id(book) for book in taken}) == 16
    for book in taken:
        shelf.give_back("a", book)
    assert (shelf.taken, shelf.idle) == (0, 4)
    assert [book.log[-1] for book in taken] == ["close"] * 12 + ["abort"] * 4


def test_what_was_not_used_for_longest_falls_off() -> None:
    shelf = ProgramShelf(Book, most_idle=3)
    a, b, c, d = (shelf.take(code) for code in "abcd")
    for book in (a, b, c):
        shelf.give_back(book.code, book)
    shelf.give_back("a", shelf.take("a"))
    shelf.give_back("d", d)
    assert [book.log[-1] for book in (a, b, c, d)] == ["abort", "close", "abort", "abort"]
    assert shelf.take("a") is a
    assert shelf.take("b") is not b


def test_nothing_is_kept_where_nothing_may_be() -> None:
    shelf = ProgramShelf(Book, most_idle=0)
    book = shelf.take("a")
    shelf.give_back("a", book)
    assert book.log == ["abort", "close"]
    assert shelf.idle == 0


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(SandboxError, match="-1"):
        ProgramShelf(Book, most_idle=-1)
    shelf = ProgramShelf(Book)
    book = shelf.take("a")
    shelf.give_back("a", book)
    with pytest.raises(SandboxError, match="not taken"):
        shelf.give_back("a", book)


def test_closing_ends_idle_and_taken_ones() -> None:
    with ProgramShelf(Book) as shelf:
        idle, taken = shelf.take("a"), shelf.take("a")
        shelf.give_back("a", idle)
    assert idle.log[-1] == taken.log[-1] == "close"
    shelf.close()
    with pytest.raises(SandboxError, match="closed"):
        shelf.take("a")


def test_from_several_threads_no_program_is_used_twice_at_once() -> None:
    shelf = ProgramShelf(Book, most_idle=8)
    used: set[int] = set()
    clashes: list[int] = []

    def work() -> None:
        for turn in range(200):
            book = shelf.take("ab"[turn % 2])
            if id(book) in used:
                clashes.append(id(book))
            used.add(id(book))
            used.discard(id(book))
            shelf.give_back(book.code, book)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not clashes
    assert shelf.taken == 0


@pytest.mark.parametrize("fast", [False, True])
def test_it_serves_both_executors(stub: str, fast: bool) -> None:
    functions = frozenset({"act", "count", "approach"})
    with Sandbox(stub, functions, Limits(), max_processes=8, harden=False) as monty:
        load = FastSandbox(monty, "act").load if fast else monty.load
        with ProgramShelf(load, most_idle=2) as shelf:
            for _ in range(3):
                programs = [shelf.take(CODE) for _ in range(8)]
                assert all(isinstance(program.start(), WorldCall) for program in programs)
                assert programs[0].answer(True) == Returned("done")
                for program in programs:
                    shelf.give_back(CODE, program)
                assert shelf.idle == 2


def test_code_that_does_not_load_takes_no_place(sandbox: Sandbox) -> None:
    shelf = ProgramShelf(sandbox.load)
    with pytest.raises(SandboxError, match="does not load"):
        shelf.take("def run(:\n")
    assert (shelf.taken, shelf.idle) == (0, 0)
