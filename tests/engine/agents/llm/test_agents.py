"""The four agents against a scripted model: typed answers, and errors that go back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.agents.last_frame import LastFrame
from engine.agents.llm.agents import llm_agents
from engine.agents.plan import CodeProposal, Critique, Plan, SubAction, Subtask, Trial
from engine.agents.plan_edit import problems
from engine.agents.plan_record import PlanRecord
from engine.agents.prompts.render import PromptBook
from engine.agents.protocols import Feedback, LearningDraft, TaskContext, WorkingCode
from engine.config import LlmConfig
from engine.errors import AgentError, LlmError, NoValidAnswer
from engine.llm.client import LlmClient
from engine.sandbox.pool import Sandbox
from engine.worlds.base import World

Play = Callable[..., Any]
PICKAXE = "unlocked(make_wood_pickaxe)"


def subtasks(*parts: dict[str, Any]) -> str:
    return json.dumps({"subtasks": parts})


def part(name: str, success: str, *needs: str) -> dict[str, Any]:
    return {"name": name, "goal": name, "success": success, "depends_on": needs}


def actions(action: SubAction, *changes: dict[str, Any]) -> str:
    return json.dumps({"sub_actions": [action.model_dump() | change for change in changes]})


def in_turn(fake: Any, *replies: str) -> Any:
    return fake.in_turn(*replies)


def test_a_whole_plan_and_its_code_come_from_the_model(
    play: Play, fake: Any, context: TaskContext, world: World
) -> None:
    played = play(fake.CrafterModel(slips=True))
    agents = played.agents
    found = agents.planner.subtasks(context)
    given = agents.slow.divide(context, found)
    divided = tuple(s.model_copy(update={"sub_actions": given[s.name]}) for s in found)
    plan = Plan(task=context.task.words, world=world.name, author="llm", subtasks=divided)
    assert problems(plan, world) == ()
    assert plan.training_frames == context.training_frames
    (coded,) = plan.sub_actions("code")
    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        draft = agents.fast.write(context, coded, None, Feedback())
        (finding,) = sandbox.check(draft.code)
        assert "birch" in finding.message
        base = CodeProposal(
            sub_action=coded.name,
            version=1,
            instruction="",
            code=draft.code,
            author="llm",
            diagnostics=(finding,),
        )
        said = Feedback(diagnostics=f"line {finding.line}: {finding.message}")
        mended = agents.fast.write(context, coded, base, said)
        assert sandbox.check(mended.code) == ()
    assert finding.message in played.prompts[-1]
    assert [call.role for call in played.calls] == ["planner", "slow", "fast", "fast"]
    assert agents.planner.author == "llm:test-model"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (subtasks(part("pick", "unlocked(make_wood_axe)")), "make_wood_axe"),
        (subtasks(part("pick", "wood + 1 >= 2")), "pick"),
        (subtasks(part("pick", "wood >= 1")), f"must have the success `{PICKAXE}`"),
        (subtasks(part("pick", PICKAXE, "wood")), "not in the plan"),
        (subtasks(part("do", PICKAXE), part("do", PICKAXE)), "2 times"),
        (subtasks(part("Make It", PICKAXE)), "String should match pattern"),
        (subtasks(), "at least 1 item"),
    ],
)
def test_a_plan_that_cannot_stand_goes_back_to_the_planner(
    play: Play, fake: Any, context: TaskContext, bad: str, said: str
) -> None:
    good = subtasks(part("wood", "wood >= 1"), part("pick", PICKAXE, "wood"))
    played = play(in_turn(fake, bad, good))
    found = played.agents.planner.subtasks(context)
    assert [(s.name, s.depends_on) for s in found] == [("wood", ()), ("pick", ("wood",))]
    assert said in played.prompts[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"success": "wod >= 1"}, "wod"),
        ({"precondition": "false"}, "precondition is always false"),
        ({"interrupt": "true"}, "interrupt is always true"),
        ({"budget": 0}, "greater than 0"),
        ({"budget": 20_000}, "episode"),
        ({"mode": "rl", "budget": 20_001}, "only 20000 are left"),
        ({"mode": "magic"}, "Input should be 'code' or 'rl'"),
        ({"name": "noop"}, "primitive action"),
        ({"name": "wood"}, "2 times"),
        ({"instruction": ""}, "no instruction"),
        ({"mood": "good"}, "Extra inputs"),
    ],
)
def test_sub_actions_that_cannot_stand_go_back_to_the_slow_agent(
    play: Play,
    fake: Any,
    context: TaskContext,
    subtask: Subtask,
    action: SubAction,
    change: dict[str, Any],
    said: str,
) -> None:
    played = play(in_turn(fake, actions(action, change), actions(action, {})))
    assert played.agents.slow.sub_actions(context, subtask, (), ()) == (action,)
    assert said in played.prompts[1]


def test_names_and_training_frames_are_shared_by_the_subtasks(
    play: Play, fake: Any, context: TaskContext, subtask: Subtask, action: SubAction
) -> None:
    learn = {"name": "learn", "mode": "rl", "budget": 15_000}
    played = play(
        in_turn(
            fake,
            actions(action, learn),
            actions(action, learn | {"name": "third", "budget": 5_000}),
            actions(action, learn | {"budget": 5_000}),
            actions(action, {"name": "more", "mode": "rl", "budget": 6_000}),
            actions(action, {"name": "more", "mode": "rl", "budget": 5_000}),
        )
    )
    slow = played.agents.slow
    first = slow.sub_actions(context, subtask, (), ())
    other = Subtask(name="rest", goal="rest", success="energy >= 9")
    record = PlanRecord({subtask.name: first, "third": ()})
    (more,) = slow.sub_actions(context, other, (), (), record)
    assert (more.name, more.budget) == ("more", 5_000)
    assert "5000 env frames of training are left" in played.prompts[1]
    assert "'third' is used in another subtask" in played.prompts[2]
    assert "'learn' is used in another subtask" in played.prompts[3]
    assert "ask for 6000 env frames of training, only 5000 are left" in played.prompts[4]


WHOLE = (
    Subtask(name="wood", goal="hold wood", success="wood >= 1"),
    Subtask(name="rest", goal="rest", success="energy >= 9"),
)


def whole(action: SubAction, **changes: dict[str, Any] | None) -> str:
    """An answer for some subtasks, each with one sub-action: the given one with changes."""
    parts = [
        {"name": name, "sub_actions": [action.model_dump() | {"name": f"do_{name}"} | change]}
        for name, change in changes.items()
        if change is not None
    ]
    return json.dumps({"subtasks": parts})


def test_one_question_is_enough_for_all_subtasks(
    play: Play, fake: Any, context: TaskContext, action: SubAction
) -> None:
    learn = {"mode": "rl", "budget": 20_000, "choices": ["do_wood"]}
    played = play(in_turn(fake, whole(action, wood={}, rest=learn)))
    given = played.agents.slow.divide(context, WHOLE)
    assert [(name, [a.name for a in actions]) for name, actions in given.items()] == [
        ("wood", ["do_wood"]),
        ("rest", ["do_rest"]),
    ]
    (prompt,) = played.prompts
    assert "- `wood` until `wood >= 1`: hold wood\n- `rest` until `energy >= 9`: rest\n" in prompt
    assert played.agents.slow.divide(context, WHOLE[:1]) == {}
    assert len(played.prompts) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"wood": {}, "rest": {"success": "enrgy >= 9"}}, "subtask 'rest': sub-action 'do_rest'"),
        ({"wood": {}, "rest": {"success": "enrgy >= 9"}}, "enrgy"),
        ({"wood": {"budget": 20_000}, "rest": {}}, "subtask 'wood': sub-action 'do_wood' has a"),
        ({"wood": {"name": "rest"}, "rest": {}}, "subtask 'wood': the name 'rest' is used in"),
        ({"wood": {"name": "do_rest"}, "rest": {}}, "subtask 'rest': the name 'do_rest' is used"),
        ({"wood": {}, "rest": {"choices": ["x"], "mode": "rl"}}, "subtask 'rest': sub-action"),
        ({"wood": {}}, "subtask 'rest' is missing"),
        ({"wood": {}, "rest": {}, "sing": {}}, "'sing' is none of the subtasks"),
        (
            {"wood": {"mode": "rl", "budget": 9_000}, "rest": {"mode": "rl", "budget": 11_001}},
            "ask for 20001 env frames of training, only 20000 are left",
        ),
    ],
)
def test_what_is_wrong_with_a_whole_plan_goes_back_with_its_subtask(
    play: Play,
    fake: Any,
    context: TaskContext,
    action: SubAction,
    changes: dict[str, Any],
    said: str,
) -> None:
    played = play(in_turn(fake, whole(action, **changes), whole(action, wood={}, rest={})))
    assert list(played.agents.slow.divide(context, WHOLE)) == ["wood", "rest"]
    assert said in played.prompts[1]


def test_a_subtask_is_divided_once(
    play: Play, fake: Any, context: TaskContext, action: SubAction
) -> None:
    (wood, rest) = json.loads(whole(action, wood={}, rest={}))["subtasks"]
    twice = json.dumps({"subtasks": [wood, rest, wood]})
    played = play(in_turn(fake, twice, whole(action, wood={}, rest={})))
    played.agents.slow.divide(context, WHOLE)
    assert "subtask 'wood' is there 2 times" in played.prompts[1]


def test_a_whole_plan_that_is_too_much_is_given_up_early(
    play: Play, fake: Any, context: TaskContext
) -> None:
    played = play(in_turn(fake, '{"subtasks": []}'))
    with pytest.raises(NoValidAnswer, match="in 3 attempts"):
        played.agents.slow.divide(context, WHOLE)
    played = play(in_turn(fake, fake.Reply('{"subtasks": [', finish="length")))
    with pytest.raises(NoValidAnswer, match=r"in 1 attempt; .* was cut off"):
        played.agents.slow.divide(context, WHOLE)


def test_a_new_plan_may_ask_for_an_equal_share_of_the_training(
    play: Play,
    fake: Any,
    context: TaskContext,
    subtask: Subtask,
    action: SubAction,
    critique: Critique,
) -> None:
    # The shares of an agreed plan sum up to all there is.
    all_of_it = action.model_copy(update={"name": "learn", "mode": "rl", "budget": 20_000})
    share = {"name": "more", "mode": "rl", "budget": 10_000}
    played = play(
        in_turn(fake, actions(action, share | {"budget": 10_001}), actions(action, share))
    )
    record = PlanRecord({"rest": (all_of_it,)})
    (more,) = played.agents.slow.sub_actions(context, subtask, (action,), (critique,), record)
    assert more.budget == 10_000
    assert "only 10000 are left" in played.prompts[1]


def test_a_new_plan_may_keep_its_names(
    play: Play,
    fake: Any,
    context: TaskContext,
    subtask: Subtask,
    action: SubAction,
    critique: Critique,
) -> None:
    played = play(in_turn(fake, actions(action, {}), actions(action, {"budget": 250})))
    slow = played.agents.slow
    first = slow.sub_actions(context, subtask, (), ())
    (again,) = slow.sub_actions(context, subtask, first, (critique,))
    assert again.budget == 250
    assert "1 of 3 trials succeeded. It stands still. Walk to a tree." in played.prompts[1]


def test_the_same_code_again_goes_back_to_the_fast_agent(
    play: Play, fake: Any, context: TaskContext, action: SubAction, proposal: CodeProposal
) -> None:
    same = json.dumps({"code": f"```python\n{proposal.code}```", "comment": "better"})
    other = json.dumps({"code": 'def run() -> str:\n    return "new"', "comment": "new "})
    played = play(in_turn(fake, same, other))
    draft = played.agents.fast.write(context, action, proposal, Feedback(comment="No."))
    assert (draft.code, draft.comment) == ('def run() -> str:\n    return "new"\n', "new")
    assert "not good enough; change it" in played.prompts[1]


def test_the_same_code_for_ever_is_given_up(
    play: Play, fake: Any, context: TaskContext, action: SubAction, proposal: CodeProposal
) -> None:
    played = play(in_turn(fake, json.dumps({"code": proposal.code, "comment": ""})))
    with pytest.raises(AgentError, match="fast in 4 attempts"):
        played.agents.fast.write(context, action, proposal, Feedback(comment="No."))


def test_a_small_models_fenced_block_is_code(
    play: Play, fake: Any, context: TaskContext, action: SubAction
) -> None:
    reply = 'I walk.\n```python\ndef run() -> str:\n    d = {"a": 1}\n    return "x"\n```\nDone.'
    draft = play(in_turn(fake, reply)).agents.fast.write(context, action, None, Feedback())
    assert draft.code == 'def run() -> str:\n    d = {"a": 1}\n    return "x"\n'
    assert draft.comment == "I walk."


def test_the_critics_figures_are_the_programs_and_the_words_the_models(
    play: Play,
    fake: Any,
    context: TaskContext,
    action: SubAction,
    proposal: CodeProposal,
    trials: tuple[Trial, ...],
) -> None:
    answer = {"typical_failure": "sleeps", "text": "All is well: 100 %.", "suggestion": "Walk."}
    played = play(in_turn(fake, json.dumps(answer)))
    found = played.agents.critic.judge(context, action, proposal, trials, 0.6)
    assert (found.success_rate, found.trials, found.works) == (1 / 3, 3, False)
    assert (found.text, found.suggestion) == ("All is well: 100 %.", "Walk.")
    assert found.author == "llm:test-model"
    assert "1 of 3 trials succeeded" in played.prompts[0]


@pytest.mark.parametrize("images", [True, False])
def test_the_critic_sees_the_last_frame_where_the_model_takes_images(
    play: Play,
    fake: Any,
    context: TaskContext,
    action: SubAction,
    proposal: CodeProposal,
    trials: tuple[Trial, ...],
    *,
    images: bool,
) -> None:
    answer = {"typical_failure": "sleeps", "text": "A tree is near.", "suggestion": "Walk."}
    played = play(in_turn(fake, json.dumps(answer)), images=images)
    seen = LastFrame(500_001, np.full((32, 48, 3), 7, np.uint8))
    found = played.agents.critic.judge(context, action, proposal, trials, 0.6, seen)
    assert found.text == "A tree is near."
    (request,) = played.server.requests
    assert len(request.pictures) == int(images)
    assert ("picture" in request.text) == images
    assert ("the one with seed 500001" in request.text) == images
    # Where nothing failed nobody looks.
    played.agents.critic.judge(context, action, proposal, trials[:1], 0.6, seen)
    assert len(played.server.requests) == 1


def test_no_model_is_asked_where_nothing_failed(
    play: Play,
    fake: Any,
    context: TaskContext,
    action: SubAction,
    proposal: CodeProposal,
    trials: tuple[Trial, ...],
) -> None:
    played = play(in_turn(fake, ""))
    for some in (trials[:1], trials[3:]):
        found = played.agents.critic.judge(context, action, proposal, some, 0.6)
        assert found.works == (some == trials[:1])
        assert found.author == "rules"
    assert played.prompts == []


def test_a_critic_without_a_valid_answer_leaves_the_words_to_rules(
    play: Play,
    fake: Any,
    context: TaskContext,
    action: SubAction,
    proposal: CodeProposal,
    trials: tuple[Trial, ...],
) -> None:
    played = play(in_turn(fake, "I would rather not."))
    found = played.agents.critic.judge(context, action, proposal, trials, 0.6)
    assert (found.author, found.success_rate) == ("rules", 1 / 3)
    assert found.text


def test_a_server_that_refuses_is_the_runs_affair(
    play: Play, fake: Any, context: TaskContext
) -> None:
    played = play(lambda _request: fake.Reply(status=401))
    with pytest.raises(LlmError, match="refused the key"):
        played.agents.planner.subtasks(replace(context, training_frames=1))


def test_agents_ask_with_a_persons_own_prompts(
    fake: Any,
    world: World,
    context: TaskContext,
    subtask: Subtask,
    action: SubAction,
    tmp_path: Path,
) -> None:
    (tmp_path / "system.md").write_text("You are the {{role}} of Bo's house.\n")
    (tmp_path / "predicates.md").write_text("Flags: {{flags}}\n")
    book = PromptBook(tmp_path)
    texts = []
    with fake.serving(
        in_turn(fake, subtasks(part("pick", PICKAXE)), actions(action, {}))
    ) as server:
        client = LlmClient(
            LlmConfig(base_url=server.base_url, model="m", api_key_env="TEST_KEY"),
            env={"TEST_KEY": "sk-1234567"},
        )
        agents = llm_agents(world, client, book)
        agents.planner.subtasks(context)
        agents.slow.sub_actions(context, subtask, (), ())
        texts = [request.text for request in server.requests]
        client.close()
    assert "the task planner of Bo's house" in texts[0]
    assert "the slow agent of Bo's house" in texts[1]
    assert all("Flags: danger" in text and "No arithmetic" not in text for text in texts)


def test_the_planner_reuses_skills_that_are_there_and_the_slow_agent_hears_of_it(
    play: Play, fake: Any, context: TaskContext, action: SubAction
) -> None:
    wrong = subtasks(part("pick", PICKAXE) | {"reuses": ["eat_pig"]})
    right = subtasks(part("pick", PICKAXE) | {"reuses": ["eat_cow"]})
    played = play(in_turn(fake, wrong, right, actions(action, {"name": "eat_cow"})))
    (found,) = played.agents.planner.subtasks(context)
    assert found.reuses == ("eat_cow",)
    assert (
        "reuses 'eat_pig', which is no skill that is there; there are: eat_cow"
        in (played.prompts[1])
    )
    (reused,) = played.agents.slow.sub_actions(context, found, (), ())
    assert reused.name == "eat_cow"
    assert "Skills the planner wants reused here: `eat_cow`" in played.prompts[2]


def test_what_cannot_be_learnt_from_goes_back_to_the_fast_agent(
    play: Any, fake: Any, context: TaskContext, action: SubAction
) -> None:
    wrong = {
        "actions": ["gather_wod"],
        "observation": ["sonar"],
        "shaping": [{"predicate": "love >= 1", "bonus": 1}],
        "reason": "It helps.",
    }
    right = {"actions": ["gather_wood"], "observation": ["body"], "shaping": [], "reason": " So. "}
    played = play(fake.in_turn(*(json.dumps(one) for one in (wrong, right))))
    learnt = action.model_copy(update={"name": "survive", "mode": "rl"})
    draft = played.agents.fast.configure(context, learnt, (WorkingCode(action, 1.0),), None, "")
    assert draft == LearningDraft(("gather_wood",), ("body",), (), "So.")
    assert "did you mean 'gather_wood'?" in played.prompts[1]
    assert "'sonar' is no part of the observation there is: known are view" in played.prompts[1]
    assert "the predicate 'love >= 1'" in played.prompts[1]
    assert [call.role for call in played.calls] == ["fast", "fast"]
