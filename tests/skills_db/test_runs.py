"""Runs: ids, finding them, who works on them, and what a person is told of them."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from skills_db.errors import LostRun, NotFound, NotRunning, RunIsAlive
from skills_db.liveness import this_host
from skills_db.records import Owner, RunState
from skills_db.runs import new_run_id


def me(token: str = "mine") -> Owner:
    import os

    return Owner(os.getpid(), this_host(), token)


@pytest.fixture
def dead() -> Owner:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return Owner(process.pid, this_host(), "dead")


@pytest.fixture
def zombie():
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    process.stdout.read()  # its end of the pipe is closed when it has ended
    yield Owner(process.pid, this_host(), "zombie")
    process.wait()


def new_run(journal, task="t", kind="task"):
    return journal.create_run(kind=kind, task=task, world="crafter", agents="rules", config={})


def test_a_run_comes_back_as_it_was_created(database, run, clock):
    found = database.journal.run(run.id)
    assert found == run
    assert (found.state, found.seen_state) == (RunState.CREATED, RunState.CREATED)
    assert found.created_at == clock.now
    assert found.created_at.tzinfo is not None
    assert found.config == {"seed": 1}
    assert found.progress is None
    assert found.result is None


def test_ids_are_short_and_sort_by_time(clock):
    first = new_run_id(clock())
    clock.pass_seconds(1)
    second = new_run_id(clock())
    assert first.startswith("20261130-140312-")
    assert len(first) == 20
    assert first < second


def test_the_newest_run_comes_first_and_kinds_are_apart(database, clock):
    journal = database.journal
    ids = []
    for _ in range(3):
        ids.append(new_run(journal).id)
        clock.pass_seconds(1)
    played = new_run(journal, kind="play")
    assert [run.id for run in journal.runs()] == ids[::-1]
    assert [run.id for run in journal.runs(limit=1)] == ids[-1:]
    assert [run.id for run in journal.runs(kind="play")] == [played.id]
    assert len(journal.runs(kind=None)) == 4
    assert journal.run("latest").id == ids[-1]


def test_a_run_is_found_by_what_fits_it_alone(database, clock):
    journal = database.journal
    first = new_run(journal)
    clock.pass_seconds(60)
    second = new_run(journal)
    assert journal.run(first.id[:13]).id == first.id
    assert journal.run(second.id[-4:]).id == second.id
    with pytest.raises(NotFound, match="More than one") as several:
        journal.run("2026")
    assert first.id in several.value.message
    with pytest.raises(NotFound) as wrong:
        journal.run(first.id[:-2] + "!!")
    assert first.id in wrong.value.hint
    for nothing in ("", "%", "_"):
        with pytest.raises(NotFound):
            journal.run(nothing)


def test_latest_of_nothing_says_how_to_start(database):
    with pytest.raises(NotFound, match="no run yet"):
        database.journal.run("latest")


def test_one_process_works_on_a_run(database, run, clock):
    journal = database.journal
    claimed = journal.claim(run.id, me())
    assert claimed.owner == me()
    assert claimed.heartbeat_at == clock.now
    with pytest.raises(RunIsAlive) as alive:
        journal.claim(run.id, me("other"))
    assert run.id in alive.value.hint
    journal.release(run.id, "other")  # not its run: nothing happens
    assert journal.run(run.id).owner == me()
    journal.release(run.id, "mine")
    assert journal.run(run.id).owner is None
    assert journal.claim(run.id, me("other")).owner == me("other")


def test_only_one_of_many_claims_wins(database, run):
    won, lost = [], []
    start = threading.Barrier(6)

    def claim(number: int) -> None:
        start.wait()
        try:
            won.append(database.journal.claim(run.id, me(str(number))))
        except RunIsAlive as error:
            lost.append(error)

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 5)
    assert database.journal.run(run.id).owner == won[0].owner


def test_a_dead_process_is_noticed_at_once_and_replaced(database, run, dead):
    journal = database.journal
    journal.claim(run.id, dead)
    journal.set_state(run.id, RunState.TRAINING)
    found = journal.run(run.id)
    assert (found.state, found.seen_state) == (RunState.TRAINING, RunState.INTERRUPTED)
    assert journal.claim(run.id, me()).seen_state is RunState.TRAINING
    with pytest.raises(LostRun):
        journal.heartbeat(run.id, dead.token)


def test_a_zombie_is_dead(database, run, zombie):
    database.journal.claim(run.id, zombie)
    database.journal.set_state(run.id, RunState.CODING)
    import psutil

    while psutil.Process(zombie.pid).status() != psutil.STATUS_ZOMBIE:
        pass
    assert database.journal.run(run.id).seen_state is RunState.INTERRUPTED


def test_a_process_elsewhere_is_dead_when_its_heart_stops(database, run, clock):
    journal = database.journal
    journal.claim(run.id, Owner(1, "another-machine", "far"))
    journal.set_state(run.id, RunState.TRAINING)
    clock.pass_seconds(20)
    journal.heartbeat(run.id, "far", frames=5000)
    clock.pass_seconds(20)
    assert journal.run(run.id).seen_state is RunState.TRAINING
    assert journal.run(run.id).frames == 5000
    with pytest.raises(RunIsAlive):
        journal.claim(run.id, me())
    clock.pass_seconds(11)
    assert journal.run(run.id).seen_state is RunState.INTERRUPTED
    journal.claim(run.id, me())


@pytest.mark.parametrize("state", [s for s in RunState if s.is_final])
def test_a_run_that_is_over_stays_what_it_is(database, run, dead, state):
    database.journal.claim(run.id, dead)
    database.journal.set_state(run.id, state, "why", result={"score": 1.5})
    found = database.journal.run(run.id)
    assert (found.seen_state, found.detail, found.result) == (state, "why", {"score": 1.5})


def test_a_free_run_may_wait_but_not_work(database, run):
    journal = database.journal
    journal.set_state(run.id, RunState.WAITING)
    assert journal.run(run.id).seen_state is RunState.WAITING
    journal.set_state(run.id, RunState.TRAINING)
    assert journal.run(run.id).seen_state is RunState.INTERRUPTED


def test_a_run_whose_process_never_came_is_interrupted(database, run, clock):
    clock.pass_seconds(59)
    assert database.journal.run(run.id).seen_state is RunState.CREATED
    clock.pass_seconds(2)
    assert database.journal.run(run.id).seen_state is RunState.INTERRUPTED


def test_a_result_outlives_later_states(database, run):
    database.journal.set_state(run.id, RunState.FINISHED, result={"a": 1})
    database.journal.set_state(run.id, RunState.CODING)
    assert database.journal.run(run.id).result == {"a": 1}


def test_unknown_runs_are_named(database):
    journal = database.journal
    for call in (
        lambda: journal.set_state("nope", RunState.CODING),
        lambda: journal.claim("nope", me()),
        lambda: journal.append("nope", []),
        lambda: journal.send("nope", "pause"),
        lambda: journal.put_frame("nope", 1, 1, b"123", ""),
        lambda: journal.request_approval("nope", "plan", "s", {}),
    ):
        with pytest.raises(NotFound, match="'nope'"):
            call()


def test_a_command_reaches_the_process_at_work_and_no_later_one(database, run, dead):
    journal = database.journal
    journal.send(run.id, "pause")  # its process is still starting
    journal.claim(run.id, me())
    assert journal.take_commands(run.id) == ("pause",)
    journal.send(run.id, "abort")
    journal.send(run.id, "approve_all")
    journal.set_state(run.id, RunState.STOPPED)
    journal.release(run.id, "mine")
    with pytest.raises(NotRunning, match="abort") as refused:
        journal.send(run.id, "abort")
    assert run.id in refused.value.hint
    assert journal.take_commands(run.id) == ("approve_all",)
    journal.claim(run.id, dead)
    with pytest.raises(NotRunning):
        journal.send(run.id, "pause")


def test_commands_are_handed_out_once_and_in_order(database, run):
    journal = database.journal
    sent = ("pause", "continue", "stop_and_keep", "approve_all", "abort")
    for command in sent:
        journal.send(run.id, command)
    taken = []
    start = threading.Barrier(4)

    def take() -> None:
        start.wait()
        taken.append(journal.take_commands(run.id))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [(), (), (), sent]
