"""Planner and slow agent by rules, for every task of the world."""

from __future__ import annotations

import functools

import pytest

from engine.agents.plan import Critique, Plan, SubAction, Subtask
from engine.agents.plan_choices import without_lost_choices
from engine.agents.plan_edit import problems
from engine.agents.protocols import TaskContext
from engine.agents.rules.agents import rules_agents
from engine.agents.rules.chain import RecipeBook
from engine.errors import AgentError
from engine.worlds.base import TaskSpec
from engine.worlds.registry import get_world

WORLD = get_world("crafter")
AGENTS = rules_agents(WORLD)
TASKS = {task.name: task for task in WORLD.tasks()}
FRAMES = 100_000


@functools.cache
def plan_for(name: str, frames: int = FRAMES) -> Plan:
    context = TaskContext(TASKS[name], WORLD, frames)
    subtasks = tuple(
        subtask.model_copy(
            update={"sub_actions": AGENTS.slow.sub_actions(context, subtask, (), ())}
        )
        for subtask in AGENTS.planner.subtasks(context)
    )
    return Plan(task=TASKS[name].words, world=WORLD.name, author="rules", subtasks=subtasks)


def subtask_of(plan: Plan, name: str) -> Subtask:
    return next(subtask for subtask in plan.subtasks if subtask.name == name)


def critique(sub_action: str, *, author: str = "rules", text: str = "It died.") -> Critique:
    return Critique(
        sub_action=sub_action,
        version=3,
        success_rate=0.2,
        trials=5,
        works=False,
        typical_failure="died",
        text=text,
        suggestion="",
        author=author,
    )


@pytest.mark.parametrize("name", TASKS)
def test_every_task_gets_a_plan_that_stands(name: str) -> None:
    plan = plan_for(name)
    assert problems(plan, WORLD) == ()
    assert plan.training_frames == FRAMES
    assert all(len(action.reason) > 40 for action in plan.sub_actions())
    if name in WORLD.achievements:
        assert plan.subtasks[-1].success == TASKS[name].success


@pytest.mark.parametrize("frames", [1, 2, 1_001, 7_654_321])
def test_training_frames_are_shared_without_loss(frames: int) -> None:
    plan = plan_for("collect_diamond", frames)
    assert plan.training_frames == max(frames, len(plan.sub_actions("rl")))


def test_the_way_to_a_diamond() -> None:
    plan = plan_for("collect_diamond")
    names = [subtask.name for subtask in plan.subtasks]
    assert names[0] == "stay_alive"
    assert names[-1] == "collect_diamond"
    chain = [
        "collect_wood", "place_table", "make_wood_pickaxe", "collect_stone", "make_stone_pickaxe",
        "collect_iron", "make_iron_pickaxe", "collect_diamond",
    ]  # fmt: skip
    assert [name for name in names if name in chain] == chain
    assert set(subtask_of(plan, "make_iron_pickaxe").depends_on) == {
        "collect_wood", "collect_coal", "collect_iron", "place_table", "place_furnace",
    }  # fmt: skip
    modes = {action.name: action.mode for action in plan.sub_actions()}
    assert {name for name, mode in modes.items() if mode == "rl"} == {"survive", "reach_diamond"}
    assert modes["craft_iron_pickaxe"] == modes["gather_diamond"] == "code"


def test_every_achievement_has_its_part_in_the_plan_for_all() -> None:
    plan = plan_for("all_achievements")
    names = [subtask.name for subtask in plan.subtasks]
    assert set(names) == {"stay_alive", *WORLD.achievements}
    done = {subtask.name: subtask.success for subtask in plan.subtasks}
    assert all(done[name] == f"unlocked({name})" for name in WORLD.achievements)
    assert {a.name for a in plan.sub_actions("rl")} == {"survive", "reach_diamond"}


def test_what_is_beside_the_way_waits_until_it_costs_little() -> None:
    plan = plan_for("all_achievements")
    names = [subtask.name for subtask in plan.subtasks]
    grown = ["collect_sapling", "place_plant"]
    assert names[1:3] == grown, "what has to grow comes first"
    assert names.index("make_wood_sword") == names.index("make_wood_pickaxe") + 1
    assert names.index("collect_stone") < names.index("place_stone") < names.index("collect_coal")
    assert names.index("make_iron_sword") == names.index("make_iron_pickaxe") + 1
    actions = {action.name: action for action in plan.sub_actions()}
    assert "frames >= 120 or unlocked(make_iron_pickaxe)" in actions["gather_sapling"].due
    assert actions["gather_iron"].success == "iron >= 1 or unlocked(make_iron_pickaxe)"
    assert "unlocked(collect_diamond)" in actions["gather_more_iron"].due
    assert "unlocked(collect_diamond)" in actions["tend_plant"].due
    order = list(actions)
    assert order.index("craft_iron_sword") < order.index("gather_diamond")
    assert order[-1] == "look_around"


def test_a_grown_thing_is_fenced() -> None:
    plan = plan_for("eat_plant")
    actions = {action.name: action for action in plan.sub_actions()}
    assert actions["gather_stone"].success == "stone >= 4 or unlocked(eat_plant)"
    assert actions["fence_plant"].success == "fenced or unlocked(eat_plant)"
    assert {"hunt_plant", "gather_more_sapling", "set_up_another_plant", "tend_plant"} <= set(
        actions
    )


def test_code_alone_runs_less_than_a_policy_may() -> None:
    actions = {action.name: action for action in plan_for("collect_diamond").sub_actions("code")}
    assert actions["drink"].precondition == "drink <= 8"
    assert "near(water)" in actions["drink"].due
    never = {name for name, action in actions.items() if action.due == "false"}
    assert {"flee", "block", "fight", "wait_in_shelter", "go_to_water", "go_to_cow"} <= never
    assert 6 <= len(never) <= 10
    assert all(actions[name].budget <= 250 for name in never)


def test_what_survive_may_choose_against_the_plan() -> None:
    def choices(task: str) -> tuple[str, ...]:
        actions = plan_for(task).sub_actions("rl")
        return next(action.choices for action in actions if action.name == "survive")

    everything = (
        "wait_for_day", "hide_until_day", "recover", "drink", "eat", "explore_mountains",
    )  # fmt: skip
    assert choices("all_achievements") == choices("collect_diamond") == everything
    assert choices("place_table") == tuple(n for n in everything if n != "recover")
    failed = (critique("wait_for_day"), critique("eat"))
    after = revise(plan_for("collect_diamond"), "stay_alive", *failed)
    survive = next(action for action in after if action.name == "survive")
    assert survive.choices == ("hide_until_day", "recover", "drink", "eat", "explore_mountains")


def test_a_manoeuvre_that_fails_is_left_out() -> None:
    plan = plan_for("collect_diamond")
    before = subtask_of(plan, "stay_alive").sub_actions
    after = revise(plan, "stay_alive", critique("flee"))
    assert [a.name for a in after] == [a.name for a in before if a.name != "flee"]


def test_rest_takes_tools_and_stones() -> None:
    assert "sleep_safely" in {a.name for a in plan_for("make_iron_pickaxe").sub_actions()}
    assert "sleep_safely" not in {a.name for a in plan_for("place_table").sub_actions()}
    assert "nap" in {a.name for a in plan_for("wake_up").sub_actions()}
    assert "nap" in {a.name for a in plan_for("survive_day").sub_actions()}


def test_a_short_task_has_a_short_plan() -> None:
    assert [subtask.name for subtask in plan_for("place_table").subtasks] == [
        "stay_alive",
        "collect_wood",
        "place_table",
    ]


def test_gathering_is_enough_for_all_that_is_ahead() -> None:
    chain = RecipeBook(WORLD).chain(TASKS["make_iron_pickaxe"])
    assert chain.enough("wood") == (
        "wood >= 5 or (unlocked(place_table) and wood >= 3)"
        " or (unlocked(make_wood_pickaxe) and wood >= 2)"
        " or (unlocked(make_stone_pickaxe) and wood >= 1) or unlocked(make_iron_pickaxe)"
    )
    assert chain.enough("iron") == "iron >= 1 or unlocked(make_iron_pickaxe)"
    assert chain.enough("sapling") is None


def test_a_place_to_rest_takes_stones() -> None:
    gather = next(a for a in plan_for("wake_up").sub_actions() if a.name == "gather_stone")
    assert gather.success == "stone >= 4 or unlocked(wake_up)"


def test_an_amount_that_is_asked_for_is_gathered() -> None:
    task = TaskSpec("nine_wood", "nine wood", "wood > 8 and near(table)")
    context = TaskContext(task, WORLD, FRAMES)
    subtasks = AGENTS.planner.subtasks(context)
    assert [subtask.name for subtask in subtasks][1:] == ["collect_wood", "place_table"]
    assert subtasks[1].success == "wood >= 9"
    (gather,) = AGENTS.slow.sub_actions(context, subtasks[1], (), ())
    assert gather.success == "wood >= 9"


def test_what_no_recipe_gives_is_refused() -> None:
    class Poor:
        """Crafter without any recipe."""

        def __getattr__(self, name: str) -> object:
            return getattr(WORLD, name)

        def recipes(self) -> tuple[()]:
            return ()

    poor = Poor()
    planner = rules_agents(poor).planner  # type: ignore[arg-type]
    context = TaskContext(TASKS["make_iron_pickaxe"], poor, FRAMES)  # type: ignore[arg-type]
    with pytest.raises(AgentError, match="brings about 'make_iron_pickaxe'") as caught:
        planner.subtasks(context)
    assert "the rules can plan for" in caught.value.hint


def revise(plan: Plan, subtask: str, *critiques: Critique) -> tuple[SubAction, ...]:
    context = TaskContext(TASKS["collect_diamond"], WORLD, FRAMES)
    part = subtask_of(plan, subtask)
    return AGENTS.slow.sub_actions(context, part, part.sub_actions, critiques)


def test_failed_code_is_split_first() -> None:
    plan = plan_for("collect_diamond")
    found, gather = revise(plan, "collect_iron", critique("gather_iron"))
    assert (found.name, found.mode, found.success) == ("find_iron", "code", "seen(iron)")
    assert (gather.name, gather.mode) == ("gather_iron", "code")
    assert gather.precondition.endswith("and seen(iron)")
    assert "20%" in found.reason


def test_what_cannot_be_split_any_further_is_learnt() -> None:
    plan = plan_for("collect_diamond")
    parts = revise(plan, "collect_iron", critique("gather_iron"))
    part = subtask_of(plan, "collect_iron").model_copy(update={"sub_actions": parts})
    again = plan.model_copy(update={"subtasks": (part,)})
    found, gather = revise(again, "collect_iron", critique("find_iron"), critique("gather_iron"))
    assert (found.mode, gather.mode) == ("rl", "rl")
    assert "It died." in gather.reason


def test_a_learnt_part_takes_its_frames_from_its_subtask() -> None:
    plan = plan_for("collect_diamond")
    before = subtask_of(plan, "stay_alive").sub_actions
    after = revise(plan, "stay_alive", critique("fend_off"))
    assert [a.mode for a in after if a.name == "fend_off"] == ["rl"]
    assert sum(a.budget for a in after if a.mode == "rl") == sum(
        a.budget for a in before if a.mode == "rl"
    )


def test_split_plans_stand() -> None:
    plan = plan_for("collect_diamond")
    context = TaskContext(TASKS["collect_diamond"], WORLD, FRAMES)
    subtasks = tuple(
        subtask.model_copy(
            update={
                "sub_actions": AGENTS.slow.sub_actions(
                    context,
                    subtask,
                    subtask.sub_actions,
                    tuple(critique(action.name) for action in subtask.sub_actions),
                )
            }
        )
        for subtask in plan.subtasks
    )
    divided = without_lost_choices(plan.model_copy(update={"subtasks": subtasks}), plan)
    assert problems(divided, WORLD) == ()


def test_a_person_may_ask_for_another_mode() -> None:
    plan = plan_for("collect_diamond")
    wish = critique("fend_off", author="person", text="learn fend_off by rl. code survive, please")
    before = {action.name: action.mode for action in subtask_of(plan, "stay_alive").sub_actions}
    modes = {action.name: action.mode for action in revise(plan, "stay_alive", wish)}
    assert modes == {**before, "fend_off": "rl", "survive": "code"}


def test_a_comment_that_asks_for_nothing_changes_nothing() -> None:
    plan = plan_for("collect_diamond")
    vague = critique("fend_off", author="person", text="I do not like it")
    assert revise(plan, "stay_alive", vague) == subtask_of(plan, "stay_alive").sub_actions
