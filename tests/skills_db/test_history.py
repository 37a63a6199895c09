"""Events without gaps, progress and events together, calls, frames and the watch marker."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import StatementError

from skills_db.errors import DatabaseError
from skills_db.records import LlmCallRecord


def test_events_are_numbered_from_one_and_read_in_pages(database, run, clock):
    journal = database.journal
    assert journal.append(run.id, [("log", {"n": n}) for n in range(3)]) == 3
    assert journal.append(run.id, []) == 3
    assert journal.append(run.id, [("metrics", {"n": 3})]) == 4
    events = journal.events(run.id)
    assert [(event.seq, event.kind, event.payload["n"]) for event in events] == [
        (1, "log", 0), (2, "log", 1), (3, "log", 2), (4, "metrics", 3),
    ]  # fmt: skip
    assert events[0].time == clock.now
    assert [event.seq for event in journal.events(run.id, after=1, limit=2)] == [2, 3]
    assert [event.seq for event in journal.events(run.id, kinds={"metrics"})] == [4]
    assert journal.events(run.id, kinds=()) == ()


def test_no_gaps_with_many_threads(database, run):
    def write(name: int) -> None:
        for n in range(25):
            database.journal.append(run.id, [("log", {"who": name, "n": n})] * (1 + n % 3))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = database.journal.events(run.id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len(events) == 4 * sum(1 + n % 3 for n in range(25))
    for name in range(4):
        own = [event.payload["n"] for event in events if event.payload["who"] == name]
        assert own == sorted(own)


def test_no_gaps_with_many_processes(database, run, url):
    code = (
        "from skills_db.database import Database\n"
        f"with Database.open({url!r}) as database:\n"
        "    for n in range(60):\n"
        f"        database.journal.append({run.id!r}, [('log', {{'n': n}})] * 2)\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(3)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
    seqs = [event.seq for event in database.journal.events(run.id)]
    assert seqs == list(range(1, 361))


def test_progress_and_events_are_written_together(database, run):
    journal = database.journal
    assert journal.save_progress(run.id, {"phase": "code"}, [("log", {})]) == 1
    assert journal.run(run.id).progress == {"phase": "code"}
    with pytest.raises(StatementError, match="cannot be stored"):
        journal.save_progress(run.id, {"phase": "train", "bad": object()}, [("log", {})])
    assert journal.run(run.id).progress == {"phase": "code"}
    assert len(journal.events(run.id)) == 1
    assert journal.save_progress(run.id, {"phase": "train"}) == 1
    assert journal.append(run.id, [("log", {})]) == 2


def test_calls_come_back_in_order(database, run, clock):
    call = LlmCallRecord(
        run_id=run.id, role="fast", model="m", mode="json", prompt="[/p]", reply="{}",
        prompt_tokens=10, completion_tokens=2, seconds=0.5, cost_usd=0.01, error="",
    )  # fmt: skip
    database.journal.record_call(call)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    database.journal.record_call(LlmCallRecord(**{**_fields(call), "time": moment}))
    first, second = database.journal.calls(run.id)
    assert first == LlmCallRecord(**{**_fields(call), "time": clock.now})
    assert second.time == moment


def _fields(call: LlmCallRecord) -> dict[str, object]:
    return {name: getattr(call, name) for name in call.__slots__}


def test_only_the_newest_frame_is_kept(database, run):
    journal = database.journal
    assert journal.frame(run.id) is None
    journal.put_frame(run.id, 2, 1, b"abcdef", "one")
    journal.put_frame(run.id, 1, 1, b"xyz", "two")
    frame = journal.frame(run.id)
    assert (frame.seq, frame.width, frame.height, frame.rgb, frame.caption) == (
        2, 1, 1, b"xyz", "two",
    )  # fmt: skip
    assert journal.frame(run.id, after=1) == frame
    assert journal.frame(run.id, after=2) is None
    with pytest.raises(DatabaseError, match="12 bytes, not 3"):
        journal.put_frame(run.id, 2, 2, b"abc", "")


def test_watching_ends_by_itself(database, run, clock):
    journal = database.journal
    assert not journal.is_watched(run.id)
    journal.watch(run.id, 3.0)
    journal.watch(run.id, 1.0)  # another studio's shorter look does not end the longer one
    clock.pass_seconds(2.9)
    assert journal.is_watched(run.id)
    clock.pass_seconds(0.2)
    assert not journal.is_watched(run.id)
    assert not journal.is_watched("nope")


def test_only_the_newest_completion_is_kept(database, run):
    journal = database.journal
    assert journal.completion(run.id) is None
    journal.put_completion(run.id, "slow", "collect_wood", "I would", finished=False)
    journal.put_completion(run.id, "slow", "collect_wood", "I would code it.", finished=True)
    found = journal.completion(run.id)
    assert (found.seq, found.role, found.subject) == (2, "slow", "collect_wood")
    assert (found.text, found.finished) == ("I would code it.", True)
    assert journal.completion(run.id, after=2) is None
