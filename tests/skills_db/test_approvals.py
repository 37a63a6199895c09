"""Approval requests: asked once, decided once, with the hash of exactly what was approved."""

from __future__ import annotations

import threading

import pytest

from skills_db.errors import AlreadyDecided, DatabaseError, NotFound
from skills_db.types import json_hash


def ask(journal, run, payload, kind="code", subject="collect_wood"):
    return journal.request_approval(run.id, kind, subject, payload)


def test_the_same_question_is_asked_once(database, run):
    journal = database.journal
    first = ask(journal, run, {"code": "a", "x": 1})
    assert first.payload_hash == json_hash({"x": 1, "code": "a"})
    assert ask(journal, run, {"x": 1, "code": "a"}) == first
    assert journal.pending(run.id) == first
    journal.decide(first.id, "approve", by="person")
    assert journal.pending(run.id) is None
    again = ask(journal, run, {"code": "a", "x": 1})
    assert again.id != first.id
    assert [request.id for request in journal.approvals(run.id)] == [first.id, again.id]


def test_a_new_question_withdraws_an_open_one(database, run):
    journal = database.journal
    decided = ask(journal, run, {"code": "0"})
    journal.decide(decided.id, "reject", by="person")
    old = ask(journal, run, {"code": "1"})
    new = ask(journal, run, {"code": "2"})
    assert journal.pending(run.id) == new
    with pytest.raises(NotFound, match=str(old.id)) as gone:
        journal.decide(old.id, "approve", by="person")
    assert "withdrawn" in gone.value.hint
    assert journal.approval(decided.id).decision == "reject"


def test_a_decision_keeps_who_what_and_when(database, run, clock):
    journal = database.journal
    asked = ask(journal, run, {"code": "a"})
    clock.pass_seconds(5)
    done = journal.decide(
        asked.id, "approve", by="ann", comment="fine", expected_hash=asked.payload_hash
    )
    assert (done.decision, done.decided_by, done.comment) == ("approve", "ann", "fine")
    assert done.decided_at == clock.now
    assert done.decided_hash == asked.payload_hash
    assert journal.approval(asked.id) == done


def test_a_change_is_kept_with_its_own_hash(database, run):
    asked = ask(database.journal, run, {"code": "a"})
    done = database.journal.decide(asked.id, "modify", by="ann", payload={"code": "b"})
    assert done.payload == {"code": "a"}
    assert done.decided_payload == {"code": "b"}
    assert done.decided_hash == json_hash({"code": "b"})


@pytest.mark.parametrize("decision", ["reject", "stop"])
def test_what_was_not_approved_has_no_approved_hash(database, run, decision):
    asked = ask(database.journal, run, {"code": "a"})
    assert database.journal.decide(asked.id, decision, by="ann").decided_hash is None


@pytest.mark.parametrize(("decision", "payload"), [("modify", None), ("approve", {"code": "b"})])
def test_only_a_change_comes_with_a_changed_version(database, run, decision, payload):
    asked = ask(database.journal, run, {"code": "a"})
    with pytest.raises(DatabaseError, match=decision):
        database.journal.decide(asked.id, decision, by="ann", payload=payload)
    assert database.journal.pending(run.id) == asked


def test_what_was_not_shown_cannot_be_approved(database, run):
    asked = ask(database.journal, run, {"code": "a"})
    with pytest.raises(DatabaseError, match="not the one that was shown"):
        database.journal.decide(asked.id, "approve", by="ann", expected_hash=json_hash({}))
    assert database.journal.pending(run.id) == asked


def test_of_many_decisions_one_counts(database, run):
    asked = ask(database.journal, run, {"code": "a"})
    won, lost = [], []
    start = threading.Barrier(6)

    def decide(number: int) -> None:
        decision = "approve" if number % 2 else "reject"
        start.wait()
        try:
            won.append(database.journal.decide(asked.id, decision, by=f"person{number}"))
        except AlreadyDecided as error:
            lost.append(error)

    threads = [threading.Thread(target=decide, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 5)
    assert database.journal.approval(asked.id) == won[0]
    assert all(won[0].decided_by in error.message for error in lost)
