"""Code and plans that come again after they failed; and what is told of each iteration."""

from __future__ import annotations

import pytest

from engine.agents.protocols import CodeDraft
from engine.run.dead_loops import same_code
from engine.run.work import FINISHED, WAITING

CODE = '''
def run() -> str:
    """Wait."""
    act("noop")  # it waits
    return "waited"
'''


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (CODE.replace("# it waits", ""), True),
        (CODE.replace("Wait.", "Wait a little."), True),
        (CODE.replace("    act", "\n\n    act"), True),
        (CODE.replace("noop", "do"), False),
        ("def run( -> str", False),
    ],
)
def test_programs_are_compared_by_what_they_do(other, same):
    assert same_code(CODE, other) == same


def test_what_does_not_parse_is_compared_line_by_line():
    assert same_code("def run( ->\n  pass", "def run( ->\n\n      pass\n")
    assert not same_code("def run( ->\n  pass", "def run( ->\n  fail")


class Waverer:
    """Writes two useless programs in turn; the plan is that of the rules."""

    author = "waverer"

    def __init__(self):
        self.asked = 0

    def write(self, _context, _sub_action, _base, _feedback):
        self.asked += 1
        action = ("noop", "move_left")[self.asked % 2]
        return CodeDraft(CODE.replace("noop", action), f"attempt {self.asked}")

    def configure(self, *_about):
        return None


class Stubborn:
    """Has one plan and no other."""

    author = "stubborn"

    def __init__(self, slow):
        self.slow = slow

    def divide(self, context, subtasks):
        return self.slow.divide(context, subtasks)

    def sub_actions(self, context, subtask, _earlier, _critiques, _record):
        return self.slow.sub_actions(context, subtask, (), ())


@pytest.fixture
def wavering(monkeypatch):
    from engine.agents.protocols import Agents
    from engine.agents.rules.agents import rules_agents

    def agents(world):
        rules = rules_agents(world)
        return Agents(planner=rules.planner, slow=Stubborn(rules.slow), fast=Waverer(),
                      critic=rules.critic)  # fmt: skip

    monkeypatch.setattr("engine.run.setup.rules_agents", agents)


def test_a_program_that_comes_again_ends_the_inner_loop(bench, wavering):
    run = bench.create("collect wood", approve="all", code_retries=10, trials=1, plan_iterations=1)
    assert bench.work(run.id) == FINISHED
    journal = bench.database.journal
    said = [event.payload["text"] for event in journal.events(run.id, kinds={"agent"})]
    assert any("version 3 is version 1 again: a dead loop" in text for text in said)
    proposed = [e.payload["proposal"] for e in journal.events(run.id, kinds={"code_proposed"})]
    gathered = [p["version"] for p in proposed if p["sub_action"] == "gather_wood"]
    assert gathered == [1, 2]


def test_a_plan_that_comes_again_ends_the_outer_loop(bench, wavering):
    run = bench.create("collect wood", approve="all", code_retries=0, trials=1, plan_iterations=9)
    assert bench.work(run.id) == FINISHED
    journal = bench.database.journal
    assert len(journal.events(run.id, kinds={"plan_approved"})) == 1
    reviews = [event.payload for event in journal.events(run.id, kinds={"iteration"})]
    assert reviews[0]["iteration"] == 0
    assert reviews[0]["code"]["gather_wood"] == 0.0
    assert "gather_wood" in reviews[0]["given_up"]
    assert (reviews[1]["iteration"], reviews[1]["verdict"][-11:]) == (1, "a dead loop")
    warnings = [event.payload["text"] for event in journal.events(run.id, kinds={"log"})]
    assert any("that of iteration 0 again, which failed: a dead loop" in text for text in warnings)


def test_a_person_is_told_that_the_plan_asked_about_has_failed_before(bench, wavering, monkeypatch):
    monkeypatch.setattr("engine.run.approval.SHORT_PATIENCE_SECONDS", 0.0)
    run = bench.create("collect wood", approve="none", code_retries=0, trials=1, plan_iterations=9)
    journal = bench.database.journal

    def told():
        logged = [event.payload for event in journal.events(run.id, kinds={"log"})]
        said = "this is the plan of iteration 0 again, which failed"
        return [payload["level"] for payload in logged if payload["text"] == said]

    asked = []
    for _ in range(25):
        assert bench.work(run.id) == WAITING
        question = journal.pending(run.id)
        if question.payload.get("plan", {}).get("iteration") == 1:
            break
        asked.append(question.subject)
        assert told() == []  # nothing is known of a first plan, nor of code
        journal.decide(question.id, "approve", by="ada")
    assert len(asked) == len(set(asked))  # what was given up is not begun anew by a new process
    assert told() == ["warning"]
    assert bench.work(run.id) == WAITING  # asked again by another process: told once
    assert told() == ["warning"]
    journal.decide(journal.pending(run.id).id, "reject", by="ada", comment="no")
    assert bench.work(run.id) == WAITING
    assert told() == ["warning"] * 2


def test_the_end_of_training_is_reviewed_too(bench):
    run = bench.create(approve="all")
    assert bench.work(run.id) == FINISHED
    *_, last = bench.database.journal.events(run.id, kinds={"iteration"})
    assert last.payload["frames"] >= 2_000
    assert last.payload["given_up"] == []
    assert "training ended" in last.payload["verdict"]
