"""Agents of a run that asks a model: what it writes is kept, recordings answer, limits are told."""

from __future__ import annotations

import json

import pytest

from engine.run.work import FAILED
from engine.run.writing import Writing
from skills_db.errors import DatabaseError


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_what_is_written_is_kept_a_few_times_a_second_and_at_its_end(bench):
    run, journal, clock = bench.create(), bench.database.journal, Clock()
    writing = Writing(journal, run.id, clock)
    writing("slow", "wood", "a", finished=False)
    clock.now = 0.1
    writing("slow", "wood", "ab", finished=False)
    assert journal.completion(run.id).text == "a"
    clock.now = 0.3
    writing("slow", "wood", "abc", finished=False)
    assert (journal.completion(run.id).text, journal.completion(run.id).finished) == ("abc", False)
    clock.now = 0.31
    writing("slow", "wood", "abcd", finished=True)
    assert (journal.completion(run.id).text, journal.completion(run.id).finished) == ("abcd", True)


def test_a_database_that_cannot_be_written_does_not_end_the_call(bench, monkeypatch):
    def full(*_args, **_more):
        raise DatabaseError("the disk is full", "make room")

    monkeypatch.setattr(type(bench.database.journal), "put_completion", full)
    Writing(bench.database.journal, "r1")("slow", "wood", "a", finished=True)


@pytest.mark.parametrize("reply", ["no answer at all", '{"subtasks": []}'])
def test_a_recording_answers_instead_of_a_server(bench, tmp_path, reply):
    file = tmp_path / "calls.jsonl"
    call = {"role": "planner", "prompt": "another", "reply": reply, "error": ""}
    file.write_text(f"{json.dumps(call)}\n{json.dumps(call)}\n")
    run = bench.create(agents=f"replay:{file}", approve="all")
    assert bench.work(run.id) == FAILED
    journal = bench.database.journal
    calls = journal.calls(run.id)
    assert [call.reply for call in calls] == [reply, reply]
    assert [call.prompt_tokens for call in calls] == [0, 0]
    (failed,) = journal.events(run.id, kinds={"failed"})
    assert "no more answers of the planner" in failed.payload["message"]
    told = journal.events(run.id, kinds={"tokens"})[-1].payload
    assert (told["tokens"], told["max_tokens"], told["max_cost_usd"]) == (0, 500_000, None)
    warnings = [e.payload["text"] for e in journal.events(run.id, kinds={"log"})]
    assert any("is not the recorded one" in text for text in warnings)


def test_a_run_answers_for_another(bench):
    first = bench.create(agents="rules")
    run = bench.create(agents=f"replay:{first.id}", approve="all")
    assert bench.work(run.id) == FAILED
    (failed,) = bench.database.journal.events(run.id, kinds={"failed"})
    assert "no more answers of the planner" in failed.payload["message"]
