from __future__ import annotations

import pytest

from engine.agents.plan import Plan, SubAction, Subtask
from engine.agents.plan_edit import (
    PlanHistory,
    add_action,
    add_subtask,
    delete_action,
    delete_subtask,
    flip_mode,
    move_action,
    move_subtask,
    problems,
    rename_action,
    rename_subtask,
    set_action,
    set_subtask,
    share_training,
)
from engine.errors import PlanError
from engine.worlds.base import World
from engine.worlds.registry import get_world


def action(name: str, mode: str = "code", budget: int = 200, **fields: object) -> SubAction:
    given = {
        "name": name,
        "mode": mode,
        "reason": "because",
        "instruction": f"do {name}",
        "success": "wood >= 1",
        "budget": budget,
        **fields,
    }
    return SubAction.model_validate(given)


@pytest.fixture
def plan() -> Plan:
    wood = Subtask(
        name="wood",
        goal="Collect wood",
        success="wood >= 5",
        sub_actions=(action("chop"), action("survive", "rl", 60_000)),
    )
    table = Subtask(
        name="table",
        goal="Place a table",
        success="unlocked(place_table)",
        depends_on=("wood",),
        sub_actions=(action("set_up"), action("search", "rl", 40_000)),
    )
    return Plan(task="a table", world="crafter", author="rules", subtasks=(wood, table))


@pytest.fixture(scope="module")
def world() -> World:
    return get_world("crafter")


def names(plan: Plan) -> list[list[str]]:
    return [[s.name, *(a.name for a in s.sub_actions)] for s in plan.subtasks]


def test_edits_leave_the_plan_they_are_given(plan: Plan) -> None:
    before = plan.model_copy(deep=True)
    delete_action(plan, "chop")
    flip_mode(plan, "chop")
    move_subtask(plan, "table", -1)
    assert plan == before


def test_an_edit_says_that_a_person_had_a_hand_in_it_once(plan: Plan) -> None:
    once = rename_action(plan, "chop", "gather")
    assert once.author == "rules+person"
    assert rename_action(once, "gather", "chop").author == "rules+person"
    assert rename_action(plan, "chop", "chop").author == "rules"


def test_add_and_delete(plan: Plan) -> None:
    more = add_subtask(plan, Subtask(name="eat", goal="Eat", success="food >= 8"), at=0)
    more = add_action(more, "eat", action("hunt"))
    more = add_action(more, "table", action("walk"), at=1)
    assert names(more) == [
        ["eat", "hunt"],
        ["wood", "chop", "survive"],
        ["table", "set_up", "walk", "search"],
    ]
    less = delete_subtask(delete_action(more, "walk"), "wood")
    assert names(less) == [["eat", "hunt"], ["table", "set_up", "search"]]
    assert less.subtasks[1].depends_on == ()


def test_move(plan: Plan) -> None:
    assert names(move_action(plan, "chop", 1))[0] == ["wood", "survive", "chop"]
    over = move_action(plan, "survive", 1)
    assert names(over) == [["wood", "chop"], ["table", "survive", "set_up", "search"]]
    assert names(move_action(over, "survive", -1)) == names(plan)
    assert names(move_subtask(plan, "table", -1))[0][0] == "table"
    with pytest.raises(PlanError, match="cannot move by 1: it is number 2 of 2"):
        move_subtask(plan, "table", 1)
    with pytest.raises(PlanError, match="no subtask beyond 'wood'"):
        move_action(plan, "chop", -1)


def test_rename_follows_dependencies(plan: Plan) -> None:
    renamed = rename_subtask(plan, "wood", "trees")
    assert renamed.subtasks[1].depends_on == ("trees",)
    with pytest.raises(PlanError, match="'table' is taken"):
        rename_subtask(plan, "wood", "table")
    with pytest.raises(PlanError, match="name cannot be 'Bad Name'") as caught:
        rename_action(plan, "chop", "Bad Name")
    assert "lower case" in caught.value.hint


def test_set_fields(plan: Plan) -> None:
    assert set_subtask(plan, "wood", "success", "wood >= 9").subtasks[0].success == "wood >= 9"
    assert set_action(plan, "chop", "budget", "350").sub_actions()[0].budget == 350
    assert set_action(plan, "chop", "interrupt", "health <= 2").sub_actions()[0].interrupt
    assert set_action(plan, "chop", "due", "wood <= 2").sub_actions()[0].due == "wood <= 2"
    with pytest.raises(PlanError, match="budget cannot be 0") as caught:
        set_action(plan, "chop", "budget", 0)
    assert "whole number" in caught.value.hint


def test_an_unknown_name_offers_a_close_one(plan: Plan) -> None:
    with pytest.raises(PlanError, match="no sub-action 'chopp'") as caught:
        delete_action(plan, "chopp")
    assert caught.value.hint == "did you mean 'chop'?"
    with pytest.raises(PlanError, match="no subtask 'xyz'") as caught:
        delete_subtask(plan, "xyz")
    assert caught.value.hint == "there are wood, table"


def test_flipping_keeps_the_frames_of_training(plan: Plan) -> None:
    to_rl = flip_mode(plan, "chop")
    assert to_rl.sub_actions()[0].mode == "rl"
    assert to_rl.training_frames == plan.training_frames
    assert [a.budget for a in to_rl.sub_actions("rl")] == [33_333, 40_000, 26_667]
    to_code = flip_mode(plan, "survive")
    assert to_code.training_frames == plan.training_frames
    assert to_code.sub_actions()[1].mode == "code"
    assert to_code.sub_actions()[1].budget <= 1_000
    assert flip_mode(plan, "chop", budget=7).training_frames == plan.training_frames + 7
    all_code = flip_mode(flip_mode(plan, "survive"), "search")
    assert all_code.training_frames == 0
    assert flip_mode(all_code, "chop").training_frames > 10_000


def test_training_frames_can_be_shared_anew(plan: Plan) -> None:
    shared = share_training(plan, 1_000)
    assert [action.budget for action in shared.sub_actions("rl")] == [600, 400]
    assert shared.author == plan.author
    assert share_training(plan, 100_001).training_frames == 100_001
    assert share_training(plan, 90_000, keep=("search",)).sub_actions("rl")[0].budget == 50_000
    all_code = flip_mode(flip_mode(plan, "survive"), "search")
    assert share_training(all_code, 500) == all_code


def test_a_good_plan_has_no_problems(plan: Plan, world: World) -> None:
    assert problems(plan, world) == ()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"success": "wod >= 1"}, "did you mean `wood`"),
        ({"success": " "}, "has no success predicate"),
        ({"success": "true"}, "success is always true"),
        ({"precondition": "false"}, "precondition is always false"),
        ({"interrupt": "true"}, "interrupt is always true"),
        ({"due": " "}, "has no due predicate"),
        ({"due": "drnk <= 4"}, "did you mean `drink`"),
        ({"precondition": "near(tabel)"}, "did you mean `table`"),
        ({"instruction": ""}, "has no instruction"),
        ({"budget": 20_000}, "an episode has 10000"),
        ({"name": "place_table"}, "the name of a primitive action"),
        ({"name": "wood"}, "the name 'wood' is used 2 times"),
        ({"name": "survive"}, "the name 'survive' is used 2 times"),
    ],
)
def test_problems_of_a_sub_action(
    plan: Plan, world: World, changes: dict[str, object], expected: str
) -> None:
    bad = plan.subtasks[0].model_copy(
        update={"sub_actions": (action("chop", **changes), plan.subtasks[0].sub_actions[1])}
        if "name" not in changes
        else {"sub_actions": (action(**changes), plan.subtasks[0].sub_actions[1])}
    )
    found = problems(plan.model_copy(update={"subtasks": (bad, plan.subtasks[1])}), world)
    assert len(found) == 1
    assert expected in found[0]


@pytest.mark.parametrize(
    ("wood_needs", "table_needs", "expected"),
    [
        (("wood",), (), "depends on itself"),
        (("wod",), (), "did you mean 'wood'"),
        (("table",), (), "which comes later: move 'table' before it"),
        (("table",), ("wood",), "which comes later"),
    ],
)
def test_problems_of_the_order(
    plan: Plan,
    world: World,
    wood_needs: tuple[str, ...],
    table_needs: tuple[str, ...],
    expected: str,
) -> None:
    changed = set_subtask(plan, "table", "depends_on", table_needs)
    found = problems(set_subtask(changed, "wood", "depends_on", wood_needs), world)
    assert len(found) == 1
    assert expected in found[0]


def test_problems_of_the_whole(plan: Plan, world: World) -> None:
    empty = plan.model_copy(update={"subtasks": ()})
    assert problems(empty, world) == ("the plan has no subtask: add one",)
    hollow = delete_action(delete_action(plan, "chop"), "survive")
    assert "'wood' has no sub-action" in problems(hollow, world)[0]
    elsewhere = plan.model_copy(update={"world": "minedojo"})
    assert "this is 'crafter'" in problems(elsewhere, world)[0]
    unchecked = plan.sub_actions()[0].model_copy(update={"budget": 0})
    subtask = plan.subtasks[0].model_copy(update={"sub_actions": (unchecked,)})
    found = problems(plan.model_copy(update={"subtasks": (subtask,)}), world)
    assert "budget of 0 frames" in found[0]


def test_history_undoes_and_redoes(plan: Plan) -> None:
    history = PlanHistory(plan)
    assert not history.changed
    first = history.apply(lambda p: rename_action(p, "chop", "gather"))
    second = history.apply(lambda p: delete_action(p, "set_up"))
    assert (history.undo(), history.undo(), history.undo()) == (first, plan, plan)
    assert not history.changed
    assert history.redo() == first
    third = history.apply(lambda p: flip_mode(p, "gather"))
    assert history.redo() == third
    assert history.undo() == first
    assert second not in (history.redo(), history.undo())
    assert history.changed


def test_history_refuses_what_makes_a_plan_worse(plan: Plan, world: World) -> None:
    history = PlanHistory(plan, world)
    with pytest.raises(PlanError, match="unknown number 'wod'"):
        history.apply(lambda p: set_action(p, "chop", "success", "wod >= 1"))
    with pytest.raises(PlanError, match="comes later"):
        history.apply(lambda p: move_subtask(p, "table", -1))
    assert history.current == plan
    empty = Subtask(name="eat", goal="Eat", success="food >= 8")
    history.apply(lambda p: add_subtask(p, empty))
    assert "has no sub-action" in problems(history.current, world)[0]


def test_history_lets_a_bad_plan_be_mended(plan: Plan, world: World) -> None:
    broken = set_action(set_action(plan, "chop", "success", "wod >= 1"), "set_up", "success", "?")
    history = PlanHistory(broken, world)
    history.apply(lambda p: set_action(p, "chop", "success", "wood >= 1"))
    assert len(problems(history.current, world)) == 1


def choices_of(plan: Plan, name: str = "search") -> tuple[str, ...]:
    return next(action.choices for action in plan.sub_actions() if action.name == name)


def test_choices_follow_what_they_name(plan: Plan, world: World) -> None:
    plan = set_action(plan, "search", "choices", ["chop", "set_up", "noop"])
    assert problems(plan, world) == ()
    assert choices_of(rename_action(plan, "chop", "fell")) == ("fell", "set_up", "noop")
    assert choices_of(delete_action(plan, "chop")) == ("set_up", "noop")
    assert choices_of(delete_subtask(plan, "wood")) == ("set_up", "noop")
    assert choices_of(flip_mode(flip_mode(plan, "search"), "search")) == ("chop", "set_up", "noop")


def test_unknown_choices_are_problems_of_what_is_learnt(plan: Plan, world: World) -> None:
    wrong = set_action(plan, "search", "choices", ["chopp", "search", "fly_away_home"])
    assert problems(wrong, world) == (
        "sub-action 'search' may choose 'chopp', which is no other sub-action of the plan and no "
        "primitive: did you mean 'chop'?",
        "sub-action 'search' may choose 'search', which is no other sub-action of the plan and no "
        "primitive: remove it, or leave all out for any",
        "sub-action 'search' may choose 'fly_away_home', which is no other sub-action of the plan "
        "and no primitive: remove it, or leave all out for any",
    )
    assert problems(flip_mode(wrong, "search"), world) == ()
    history = PlanHistory(plan, world)
    with pytest.raises(PlanError, match="may choose 'chopp'"):
        history.apply(lambda now: set_action(now, "search", "choices", ["chopp"]))
    with pytest.raises(PlanError, match=r"choices\.0 cannot be 'Chop wood'") as caught:
        set_action(plan, "search", "choices", ["Chop wood"])
    assert "names are lower case" in caught.value.hint


def test_a_plan_without_choices_is_read(plan: Plan) -> None:
    stored = plan.model_dump(mode="json")
    for subtask in stored["subtasks"]:
        for action in subtask["sub_actions"]:
            del action["choices"]
    assert Plan.model_validate(stored) == plan
