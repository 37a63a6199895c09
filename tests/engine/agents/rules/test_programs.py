"""The fast agent by rules: all its programs pass the check, and versions really differ."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.agents.plan import CodeProposal, Critique, Outcome, SubAction, Trial
from engine.agents.protocols import CodeDraft, Feedback, TaskContext
from engine.agents.rules.agents import rules_agents
from engine.errors import AgentError
from engine.sandbox.pool import Sandbox
from engine.worlds.registry import get_world

WORLD = get_world("crafter")
AGENTS = rules_agents(WORLD)
TASKS = {task.name: task for task in WORLD.tasks()}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    functions = frozenset({WORLD.primitive_function, *WORLD.queries})
    with Sandbox(WORLD.stub(), functions) as made:
        yield made


def context(task: str) -> TaskContext:
    return TaskContext(TASKS[task], WORLD, 100_000)


def sub_actions(task: str) -> dict[str, SubAction]:
    """Every sub-action the slow agent may come up with: at first, and after failures."""
    found: dict[str, SubAction] = {}
    for subtask in AGENTS.planner.subtasks(context(task)):
        first = AGENTS.slow.sub_actions(context(task), subtask, (), ())
        failed = tuple(critique(action.name) for action in first)
        later = AGENTS.slow.sub_actions(context(task), subtask, first, failed)
        for action in (*first, *later):
            found.setdefault(action.name, action)
    return found


def critique(sub_action: str) -> Critique:
    return Critique(
        sub_action=sub_action,
        version=1,
        success_rate=0.0,
        trials=5,
        works=False,
        typical_failure="died",
        text="It died.",
        suggestion="",
        author="rules",
    )


def trial(outcome: Outcome, detail: str = "", *, started: bool = True) -> Trial:
    return Trial(
        sub_action="x",
        version=1,
        index=0,
        seed=0,
        outcome=outcome,
        detail=detail,
        frames=10,
        actions=(),
        gained={},
        started=started,
    )


def proposal(action: SubAction, version: int, draft: CodeDraft) -> CodeProposal:
    return CodeProposal(
        sub_action=action.name,
        version=version,
        instruction=action.instruction,
        code=draft.code,
        author="rules",
        comment=draft.comment,
    )


def versions(task: str, action: SubAction, outcome: Outcome) -> list[CodeProposal]:
    """All versions until the fast agent has nothing new, when each fails in the same way."""
    draft = AGENTS.fast.write(context(task), action, None, Feedback())
    found = [proposal(action, 1, draft)]
    feedback = Feedback(critique=critique(action.name), trials=(trial(outcome),))
    while True:
        try:
            draft = AGENTS.fast.write(context(task), action, found[-1], feedback)
        except AgentError:
            return found
        found.append(proposal(action, len(found) + 1, draft))
        assert len(found) < 20


@pytest.mark.parametrize("task", TASKS)
def test_every_version_of_every_program_passes_the_check(task: str, sandbox: Sandbox) -> None:
    for action in sub_actions(task).values():
        for version in versions(task, action, "out_of_frames"):
            found = sandbox.check(version.code)
            assert found == (), f"{action.name} version {version.version}: {found}\n{version.code}"


@pytest.mark.parametrize("outcome", ["died", "failed", "out_of_frames", "stuck", "interrupted"])
def test_versions_differ_and_come_to_an_end(outcome: Outcome) -> None:
    for action in sub_actions("collect_diamond").values():
        codes = [version.code for version in versions("collect_diamond", action, outcome)]
        assert len(codes) == len(set(codes))
    gather = sub_actions("collect_diamond")["gather_iron"]
    assert len(versions("collect_diamond", gather, outcome)) >= 4


def test_the_failure_decides_what_changes_first() -> None:
    gather = sub_actions("collect_diamond")["gather_iron"]
    changed = {
        outcome: versions("collect_diamond", gather, outcome)[1]
        for outcome in ("died", "out_of_frames", "stuck")
    }
    assert "def defend()" in changed["died"].code
    assert "PATIENCE = 300" in changed["out_of_frames"].code
    assert 'PREFER = "grass"' in changed["stuck"].code
    assert all(version.comment for version in changed.values())


def rewrite(name: str, feedback: Feedback, author: str = "rules") -> CodeDraft:
    action = sub_actions("collect_diamond")[name]
    draft = AGENTS.fast.write(context("collect_diamond"), action, None, Feedback())
    base = proposal(action, 1, draft).model_copy(update={"author": author})
    return AGENTS.fast.write(context("collect_diamond"), action, base, feedback)


def test_a_person_is_followed_where_the_rules_can() -> None:
    assert "PATIENCE = 250" in rewrite("gather_iron", Feedback(comment="try 250 frames")).code
    defended = rewrite("gather_iron", Feedback(comment="defend yourself against zombies"))
    assert "def defend()" in defended.code
    assert 'PREFER = "grass"' in rewrite("gather_iron", Feedback(comment="look on grass")).code


def test_a_person_is_told_where_the_rules_cannot_follow() -> None:
    draft = rewrite("gather_iron", Feedback(comment="sing a song"))
    assert "cannot follow the comment 'sing a song'" in draft.comment


def test_a_person_is_told_that_edits_are_lost() -> None:
    feedback = Feedback(comment="more patience")
    assert "cannot edit your text" in rewrite("gather_iron", feedback, "rules+person").comment


def test_code_that_never_ran_is_not_changed() -> None:
    feedback = Feedback(
        critique=critique("gather_iron"), trials=(trial("failed", started=False),) * 3
    )
    with pytest.raises(AgentError, match="nothing new"):
        rewrite("gather_iron", feedback)


def test_findings_of_the_check_are_beyond_the_rules() -> None:
    with pytest.raises(AgentError, match="static check") as caught:
        rewrite("gather_iron", Feedback(diagnostics="line 3: no such function"))
    assert "edit it yourself" in caught.value.hint


def test_a_renamed_sub_action_is_known_by_its_success(sandbox: Sandbox) -> None:
    for success, word in {
        "unlocked(make_stone_pickaxe)": 'act("make_stone_pickaxe")',
        "unlocked(place_table)": 'step_to_place("table")',
        "seen(diamond)": "explore(PREFER)",
        "enclosed": "step_to_shelter()",
        "iron >= 2": 'approach("iron")',
        "unlocked(eat_cow)": 'approach("cow")',
    }.items():
        action = sub_actions("collect_diamond")["drink"].model_copy(
            update={"name": "my_own_step", "success": success}
        )
        draft = AGENTS.fast.write(context("collect_diamond"), action, None, Feedback())
        assert word in draft.code
        assert sandbox.check(draft.code) == ()


def test_what_no_behaviour_fits_is_refused() -> None:
    action = sub_actions("collect_diamond")["drink"].model_copy(
        update={"name": "dance", "success": "daylight > 0.5"}
    )
    with pytest.raises(AgentError, match="no behaviour for 'dance'"):
        AGENTS.fast.write(context("collect_diamond"), action, None, Feedback())


def test_an_instruction_cannot_break_out_of_the_docstring(sandbox: Sandbox) -> None:
    action = sub_actions("collect_diamond")["drink"].model_copy(
        update={"instruction": 'Drink.""" + evil() + """\\'}
    )
    draft = AGENTS.fast.write(context("collect_diamond"), action, None, Feedback())
    assert sandbox.check(draft.code) == ()
    assert draft.code.startswith('"""Drink. ')
