"""A model too weak for its role ends no run: RL is given what it could not plan or code."""

from __future__ import annotations

import pytest

from engine.agents.plan import Plan, SubAction, Subtask
from engine.agents.protocols import Agents, CodeDraft
from engine.agents.rules.agents import rules_agents
from engine.errors import AgentError, NoValidAnswer
from engine.run.work import FAILED, FINISHED, WAITING

USELESS = 'def run() -> str:\n    act("noop")\n    return "waited"\n'


class Weak:
    """Has no valid answer in any role."""

    author = "llm:weak"

    def subtasks(self, _context):
        raise NoValidAnswer("llm:weak gave no valid answer as planner", "Choose a stronger one.")

    def divide(self, _context, _subtasks):
        raise NoValidAnswer("llm:weak gave no valid plan as slow", "Choose a stronger one.")

    def sub_actions(self, _context, _subtask, _earlier, _critiques, _record):
        raise NoValidAnswer("llm:weak gave no valid answer as slow", "Choose a stronger one.")


class Exhausted:
    """A recording that has come to its end."""

    author = "llm:recorded"

    def subtasks(self, _context):
        raise AgentError("the recording has no more answers of the planner", "Use another.")


class OnlyCode:
    """Would have all of a subtask coded; has no other plan afterwards."""

    author = "llm:weak"

    def divide(self, _context, _subtasks):
        return {}

    def sub_actions(self, _context, subtask, earlier, _critiques, _record):
        if earlier:
            raise NoValidAnswer("llm:weak gave no valid answer as slow", "Choose a stronger one.")
        return (
            SubAction(
                name=f"do_{subtask.name}", mode="code", reason="easy", instruction=subtask.goal,
                success=subtask.success, budget=20,
            ),
        )  # fmt: skip


class Useless:
    """Writes code that waits."""

    author = "llm:weak"

    def __init__(self):
        self.asked = 0

    def write(self, _context, _sub_action, _base, _feedback):
        self.asked += 1
        return CodeDraft(USELESS.replace("waited", f"waited {self.asked}"), "waits")

    def configure(self, *_about):
        return None


@pytest.fixture
def roles(monkeypatch):
    """Puts others in the place of some of the agents."""

    def replaced(**others):
        def agents(world):
            rules = rules_agents(world)
            names = ("planner", "slow", "fast", "critic")
            return Agents(**{name: others.get(name, getattr(rules, name)) for name in names})

        monkeypatch.setattr("engine.run.setup.rules_agents", agents)

    return replaced


def _texts(bench, run_id, kind):
    rows = bench.database.journal.events(run_id, kinds={kind}, limit=10_000)
    return [row.payload["text"] for row in rows]


def _plans(bench, run_id):
    rows = bench.database.journal.events(run_id, kinds={"plan_approved"})
    return [
        [(a["name"], a["mode"]) for part in row.payload["plan"]["subtasks"]
         for a in part["sub_actions"]]
        for row in rows
    ]  # fmt: skip


def test_without_any_plan_rl_learns_the_whole_task(bench, roles):
    roles(planner=Weak(), slow=Weak())
    run = bench.create("collect wood", approve="all")
    assert bench.work(run.id) == FINISHED
    assert _plans(bench, run.id) == [[("learn_collect_wood", "rl")]]
    assert bench.database.journal.run(run.id).result["frames"] >= 2_000
    said = _texts(bench, run.id, "agent")
    assert any("no valid answer as planner" in text and "one piece" in text for text in said)
    assert any("RL is to learn `collect_wood`" in text for text in said)
    warnings = _texts(bench, run.id, "log")
    assert any("Choose a stronger one." in text for text in warnings)


@pytest.mark.parametrize(
    ("names", "learnt"),
    [
        (["wood", "learn_wood"], ["learn_wood_2", "learn_learn_wood"]),
        (["w" * 46 + "a", "w" * 46 + "b"], ["learn_" + "w" * 42, "learn_" + "w" * 40 + "_2"]),
    ],
)
def test_what_rl_is_to_learn_has_a_name_of_its_own(bench, roles, names, learnt):
    class Namer:
        author = "llm:weak"

        def subtasks(self, _context):
            return tuple(Subtask(name=name, goal="g", success="wood >= 1") for name in names)

    roles(planner=Namer(), slow=Weak())
    run = bench.create("collect wood", approve="none")
    assert bench.work(run.id) == WAITING, bench.database.journal.run(run.id).detail
    subtasks = bench.database.journal.pending(run.id).payload["plan"]["subtasks"]
    assert [part["sub_actions"][0]["name"] for part in subtasks] == learnt


@pytest.mark.parametrize("weak", [False, True])
def test_all_frames_that_a_run_may_have_can_be_planned(bench, roles, weak):
    if weak:
        roles(planner=Weak(), slow=Weak())
    run = bench.create("collect wood", approve="none", frames=10_000_000_000)
    assert bench.work(run.id) == WAITING, bench.database.journal.run(run.id).detail
    plan = Plan.model_validate(bench.database.journal.pending(run.id).payload["plan"])
    assert plan.training_frames == 10_000_000_000


@pytest.mark.parametrize("iterations", [1, 3])
def test_what_never_came_to_work_as_code_is_learnt(bench, roles, iterations):
    roles(planner=Weak(), slow=OnlyCode(), fast=Useless())
    run = bench.create(
        "collect wood", approve="all", trials=1, code_retries=0, plan_iterations=iterations
    )
    assert bench.work(run.id) == FINISHED
    first, *_, last = _plans(bench, run.id)
    assert first == [("do_collect_wood", "code")]
    assert [mode for _, mode in last] == ["rl"]
    assert bench.database.journal.run(run.id).result["frames"] >= 2_000


def test_a_recording_that_ends_too_early_still_ends_the_run(bench, roles):
    roles(planner=Exhausted())
    run = bench.create("collect wood", approve="all")
    assert bench.work(run.id) == FAILED
    assert "no more answers" in bench.database.journal.run(run.id).detail
