"""A person's whole way through the studio: the real binary in a real pseudo-terminal."""

from __future__ import annotations

import os
import signal
import time

import pytest

from skills_db.database import Database
from skills_db.records import RunState

pytestmark = pytest.mark.e2e

TASK = "make a wood pickaxe"


@pytest.fixture
def journal(home):
    database = Database.open(f"sqlite:///{home}/studio.db")
    yield database.journal
    database.close()


def _type_task(terminal, words):
    terminal.wait("collect a diamond")
    terminal.press("ctrl+u")
    terminal.wait("What should be learnt?", gone="collect a diamond")
    for letter in words:
        terminal.process.send(letter)
    terminal.wait(words)


def _wait_state(terminal, journal, run_id, *states, seconds=120.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        terminal.pump(0.05)
        run = journal.run(run_id)
        if run.seen_state in states:
            return run
    raise AssertionError(f"state {journal.run(run_id).seen_state} is none of {states}")


def test_the_first_screen_offers_the_default_task(studio):
    terminal = studio(columns=80, rows=24)
    terminal.wait("collect a diamond", "crafter", "rules")
    terminal.press("f1")
    terminal.wait("Here and now", "Start what the task line says")
    terminal.press("escape")
    terminal.wait("collect a diamond")
    terminal.press("ctrl+q")
    assert terminal.leave() == 0
    assert b"\x1b[?1049l" in terminal.raw


def test_from_a_task_in_words_to_a_saved_skill_that_plays(studio, home, journal):
    terminal = studio()
    _type_task(terminal, TASK)
    terminal.press("enter")

    # The plan: an edit, undone, and one that stays.
    terminal.wait("Your turn", "gather_wood", "craft_wood_pickaxe", "m Mode")
    run = journal.runs()[0]
    assert journal.pending(run.id).kind == "plan"
    terminal.press("j", "m")
    terminal.wait("your edits", "marked it rl")
    terminal.press("u")
    terminal.wait("Your turn", gone="your edits")
    time.sleep(0.6)
    terminal.press("a")

    # The first code: sent back with a reason, the second version approved, then all.
    terminal.wait("Your turn", "version 1", "check passed")
    first = journal.pending(run.id)
    time.sleep(0.6)
    terminal.press("r")
    terminal.wait("Send the code back")
    for letter in "be more patient":
        terminal.process.send(letter)
    terminal.press("enter")
    terminal.wait("Your turn", "version 2")
    second = journal.pending(run.id)
    assert second.payload["proposal"]["version"] == 2
    assert journal.approval(first.id).comment == "be more patient"
    assert not journal.events(run.id, kinds={"trial"})
    time.sleep(0.6)
    terminal.press("a")
    _wait_for(terminal, lambda: journal.events(run.id, kinds={"trial"}))
    terminal.wait("Your turn", "version 1")
    time.sleep(0.6)
    terminal.press("A")
    terminal.wait("Approve all")
    time.sleep(0.6)
    terminal.press("A")

    # Trials, training with live curves, evaluation: nothing more is asked.
    terminal.wait("success rate", "episodic return")
    done = _wait_state(terminal, journal, run.id, RunState.FINISHED, RunState.FAILED, seconds=240)
    assert done.state is RunState.FINISHED, done.detail
    terminal.press("5")
    terminal.wait("untrained", "score")
    decided = journal.approvals(run.id)
    assert all(one.decision is not None for one in decided)
    assert decided[0].kind == "plan"
    assert decided[-1].kind == "save"

    # The skill browser, and the skill at play.
    terminal.press("f2")
    terminal.wait("make_a_wood_pickaxe", "gather_wood", "weights sha256")
    terminal.press("w")
    terminal.wait("▀")
    play = _wait_for(terminal, lambda: next(iter(journal.runs(kind="play")), None))
    _wait_for(terminal, lambda: journal.frame(play.id))
    terminal.press("escape")
    terminal.wait(" skills", "weights sha256")
    terminal.press("escape")
    terminal.wait("5 Results", gone="weights sha256")
    terminal.press("q")
    assert terminal.leave() == 0


def test_detach_leaves_the_run_alone_and_attach_shows_what_happened(studio, home, journal):
    (home / "config.toml").write_text((home / "config.toml").read_text() + "\n")
    terminal = studio("run", TASK, "--approve", "all", "--frames", "400000")
    run = _wait_for(terminal, lambda: next(iter(journal.runs()), None))
    _wait_for(terminal, lambda: journal.events(run.id, kinds={"metrics"}))
    terminal.press("q")
    terminal.wait("Detach", "Stop and keep")
    terminal.press("d")
    assert terminal.leave() == 0
    assert f"rlgpt-studio attach {run.id}".encode() in terminal.raw

    before = len(journal.events(run.id, kinds={"metrics"}, limit=100_000))
    pid = journal.run(run.id).owner.pid
    _wait_for(
        None, lambda: len(journal.events(run.id, kinds={"metrics"}, limit=100_000)) > before + 2
    )

    again = studio("attach", columns=80, rows=24)
    again.wait("training", TASK)
    assert journal.run(run.id).owner.pid == pid
    again.press("4")
    again.wait("success")
    again.press("p")
    _wait_state(again, journal, run.id, RunState.PAUSED)
    again.wait("paused")
    again.press("p")
    _wait_state(again, journal, run.id, RunState.TRAINING)
    again.press("s")
    again.wait("keep")
    time.sleep(0.6)
    again.press("s", "enter")
    done = _wait_state(again, journal, run.id, RunState.FINISHED, RunState.FAILED)
    assert done.state is RunState.FINISHED, done.detail
    result = _wait_for(again, lambda: journal.run(run.id).result)
    assert 0 < result["frames"] < 400_000
    again.wait("Finished")
    again.press("q")
    assert again.leave() == 0


def test_a_terminated_studio_leaves_the_terminal_clean_and_the_run_alive(studio, journal):
    terminal = studio("run", TASK, "--approve", "all", "--frames", "400000")
    run = _wait_for(terminal, lambda: next(iter(journal.runs()), None))
    _wait_state(terminal, journal, run.id, RunState.TRIALS, RunState.TRAINING)
    terminal.process.kill(signal.SIGTERM)
    terminal.leave()
    assert b"\x1b[?1049l" in terminal.raw
    assert b"\x1b[?1000l" in terminal.raw
    owner = journal.run(run.id).owner
    os.kill(owner.pid, 0)
    journal.send(run.id, "abort")
    _wait_for(None, lambda: journal.run(run.id).seen_state.is_final)


def _wait_for(terminal, condition, seconds=120.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if terminal is not None:
            terminal.pump(0.05)
        else:
            time.sleep(0.05)
        if found := condition():
            return found
    raise AssertionError("waited in vain" + ("" if terminal is None else ":\n" + terminal.text()))
