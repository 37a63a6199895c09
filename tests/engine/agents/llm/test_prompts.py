"""Prompt files: filled in completely, and as a whole as they were looked at and found good.

After a change on purpose: `UPDATE_GOLDEN=1 pytest tests/engine/agents/llm/test_prompts.py`, then
read the difference.
"""

from __future__ import annotations

import os
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from engine.agents.last_frame import PICTURE_SIZE, LastFrame
from engine.agents.llm import configure, critic, fast, slow, wording
from engine.agents.plan import (
    CodeProposal,
    Critique,
    LearningProposal,
    ShapingTerm,
    SubAction,
    Subtask,
    Trial,
)
from engine.agents.plan_record import Attempt, PlanRecord, TrainingResult
from engine.agents.prompts.render import render
from engine.agents.protocols import Feedback, TaskContext, WorkingCode
from engine.agents.rules.critic import RulesCritic
from engine.llm.messages import Message
from engine.sandbox.language import LANGUAGE_NOTES, MODULES
from engine.sandbox.pool import Sandbox
from engine.worlds.base import World
from engine.worlds.predicate import parse

GOLDEN = Path(__file__).parent / "golden"
PROMPTS = sorted(
    path.name.removesuffix(".md")
    for path in resources.files("engine.agents.prompts").iterdir()
    if path.name.endswith(".md")
)


def golden(name: str, text: str, world: World) -> None:
    """Compare with the golden file; the world's own long texts are left to the world's tests."""
    for long, mark in (
        (world.stub().strip(), "(the stub)"),
        (wording.functions(world.stub()), "(the functions)"),
        (world.facts(), "(the facts)"),
        (wording.predicates(world.vocabulary()), "(the predicates)"),
        (LANGUAGE_NOTES, "(the language)"),
        (wording.example(world), "(the example)"),
    ):
        text = text.replace(long, mark)
    path = GOLDEN / f"{name}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")
    assert text + "\n" == path.read_text()


def test_placeholders_and_values_must_match() -> None:
    with pytest.raises(ValueError, match=r"'system' lacks values for \['world'\]"):
        render("system", role="critic")
    with pytest.raises(ValueError, match=r"'system' has no place for \['mood'\]"):
        render("system", role="critic", world="x", mood="good")
    with pytest.raises(FileNotFoundError):
        render("poet")


def test_values_are_put_in_as_they_are() -> None:
    text = render("reason_person", comment=r"{{comment}} \1 [red]no[/red]")
    assert r"{{comment}} \1 [red]no[/red]" in text


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_renders_with_exactly_its_values(name: str) -> None:
    text = resources.files("engine.agents.prompts").joinpath(f"{name}.md").read_text()
    values = {place: f"<{place}>" for place in re.findall(r"\{\{(\w+)\}\}", text)}
    rendered = render(name, **values)
    assert "{{" not in rendered
    assert all(value in rendered for value in values.values())


def test_the_planner_is_asked(context: TaskContext, world: World) -> None:
    text = render(
        "planner",
        task=context.task.words,
        success=context.task.success,
        facts=world.facts(),
        predicates=wording.predicates(world.vocabulary()),
        skills=wording.skills(context.skills),
    )
    golden("planner", text, world)


def test_the_slow_agent_is_asked(
    context: TaskContext, world: World, subtask: Subtask, action: SubAction, critique: Critique
) -> None:
    first = slow._prompt(context, subtask, (), (), PlanRecord({"stone": ()}))
    golden("slow_first", first, world)
    trained = critique.model_copy(
        update={
            "sub_action": "learn",
            "author": "training",
            "success_rate": 0.02,
            "trials": 100,
            "text": "It starves before it finds a tree.",
            "suggestion": "Code the search for trees.",
        }
    )
    learn = action.model_copy(update={"name": "learn", "mode": "rl", "budget": 20_000})
    record = PlanRecord(
        {"stone": (action.model_copy(update={"name": "dig"}),)},
        (
            Attempt(0, "gather_wood", 1, 0, 0.0, failure="rejected by a person: too timid"),
            Attempt(0, "gather_wood", 2, 3, 1 / 3, {"failed": 2, "success": 1}, 120.4, "stops"),
        ),
        (TrainingResult(0, 20_000, None, {}), TrainingResult(1, 40_000, 0.12, {"learn": 0.02})),
    )
    again = slow._prompt(context, subtask, (action, learn), (critique, trained), record)
    golden("slow_again", again, world)


def test_the_slow_agent_is_asked_for_a_whole_plan(
    context: TaskContext, world: World, subtask: Subtask
) -> None:
    last = Subtask(name="pick", goal="Make it.", success="wood >= 2", reuses=("eat_cow",))
    golden("slow_whole", slow._whole_prompt(context, (subtask, last)), world)


def test_many_attempts_are_told_in_short() -> None:
    many = [Attempt(0, "go", n, 2, 0.5, {"died": 1}, 9.0, "why\n" * 200) for n in range(1, 31)]
    told = wording.attempts(many)
    assert told.startswith("- 18 older ones are left out\n- iteration 0, `go` version 19: 1 of 2")
    assert "version 30" in told
    assert max(len(line) for line in told.splitlines()) < 300
    assert len(told.splitlines()) == 13
    assert wording.attempts([]) == "- none was tried"
    assert wording.trainings([]) == "- no training"


def test_a_persons_word_is_told_once(critique: Critique) -> None:
    rejected = critique.model_copy(
        update={
            "author": "person",
            "trials": 0,
            "text": "Fewer steps.",
            "suggestion": "Fewer steps.",
        }
    )
    assert wording.critiques([rejected]) == "- `gather_wood`: rejected by a person. Fewer steps."


def test_the_fast_agent_is_asked(
    context: TaskContext,
    world: World,
    action: SubAction,
    proposal: CodeProposal,
    critique: Critique,
    trials: tuple[Trial, ...],
) -> None:
    golden("fast_first", fast._prompt(context, action, None, Feedback()), world)
    feedback = Feedback(critique=critique, trials=trials)
    golden("fast_after_trials", fast._prompt(context, action, proposal, feedback), world)
    feedback = Feedback(diagnostics="line 2: act() is wrong", comment="Too timid.")
    golden("fast_after_words", fast._prompt(context, action, proposal, feedback), world)


def test_the_fast_agent_is_asked_how_to_learn(
    context: TaskContext, world: World, action: SubAction
) -> None:
    learnt = action.model_copy(
        update={"name": "survive", "mode": "rl", "budget": 20_000, "choices": ("gather_wood",)}
    )
    other = action.model_copy(update={"name": "rest", "instruction": "Sleep till morning."})
    working = (WorkingCode(action, 0.9), WorkingCode(other, None))
    golden("learning_first", configure.prompt(context, learnt, working), world)
    before = LearningProposal(
        sub_action="survive",
        version=1,
        observation=("view", "body"),
        shaping=(ShapingTerm(predicate="wood >= 2", bonus=0.5),),
        reason="Wood comes first.",
        author="llm:test-model",
    )
    again = configure.prompt(context, learnt, (), before, "Reward nothing but the task.")
    golden("learning_again", again, world)


def test_the_critic_is_asked(
    context: TaskContext,
    world: World,
    action: SubAction,
    proposal: CodeProposal,
    trials: tuple[Trial, ...],
) -> None:
    judged = RulesCritic().judge(context, action, proposal, trials, 0.6)
    text = critic._prompt(context, action, proposal, trials, judged)
    golden("critic", text, world)
    # What a record says of it, where a picture goes along; of its bytes only their digest.
    seen = LastFrame(500_001, np.zeros((PICTURE_SIZE, PICTURE_SIZE, 3), np.uint8))
    message = Message("user", text, critic._picture(seen))
    told = re.sub("[0-9a-f]{64}", "(the digest)", message.recorded)
    golden("critic_with_picture", told, world)
    assert Message("user", text, critic._picture(None)).recorded == text


def test_the_words_of_predicates_are_listed_once_and_explained(world: World) -> None:
    words = wording.predicates(world.vocabulary())
    assert "- `unlocked(...)`: collect_coal, collect_diamond" in words
    assert words.count("sapling, stone") == 1
    assert "as in `" in words
    vocabulary = world.vocabulary()
    explained = world.facts()
    assert all(f"`{flag}`" in explained for flag in vocabulary.flags - {"sleeping"})
    assert all(f"`{test}(x)`" in explained for test in vocabulary.tests)


def test_the_example_of_a_predicate_is_one(world: World) -> None:
    words = world.vocabulary()
    example = re.search(r"Example: `(.+)`", wording.predicates(words))
    assert example is not None
    parse(example[1], words)


def test_the_example_is_a_program_that_passes_the_check(world: World) -> None:
    code = wording.example(world).removeprefix("```python\n").removesuffix("```")
    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        assert sandbox.check(code) == ()


def test_the_language_notes_name_every_module() -> None:
    assert all(name in LANGUAGE_NOTES for name in MODULES)


def test_who_plans_is_told_every_function_with_one_sentence(world: World) -> None:
    told = wording.functions(world.stub())
    for name in world.queries | {world.primitive_function}:
        assert f"- `{name}(" in told
    assert "- `near(material: Material) -> bool`: Whether it stands in the 3 x 3 cells" in told
    assert len(told) < 0.7 * len(world.stub())
