from __future__ import annotations

import pytest

from engine.worlds.crafter.stub import query_names, stub_functions


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "text"),
    [
        ("count", ("woood",), {}, "'woood' for 'item'; did you mean 'wood'"),
        ("count", (), {}, "misses the argument 'item'"),
        ("count", ("wood", "stone"), {}, "takes 1 arguments, not 2"),
        ("count", ("wood",), {"item": "wood"}, "got 'item' twice"),
        ("count", (), {"thing": "wood"}, "misses the argument 'item'"),
        ("frames", (), {"of": 1}, "no argument 'of'"),
        ("approach", (["tree"],), {}, "got .'tree'. for 'what'"),
        ("approach", ("sword",), {}, "'water', 'grass'"),
        ("look", (1.5, 0), {}, "needs an int for 'dx', not 1.5"),
        ("look", (True, 0), {}, "needs an int"),
        ("step_near", ("table", "zombie"), {}, "for 'second'"),
        ("explore", ("sea",), {}, "'any', 'grass', 'mountain'"),
        ("act", ("noop",), {}, "takes a frame"),
        ("open", ("x",), {}, "not in the stub"),
        ("__class__", (), {}, "not in the stub"),
    ],
)
def test_bad_calls_are_refused_with_a_text_for_their_author(scene, function, args, kwargs, text):
    with pytest.raises(ValueError, match=text):
        scene("@").env.player.answer(function, args, kwargs)


def test_every_query_of_the_stub_answers(scene):
    here = scene("T . @ . ~", fill=".")
    for name in query_names():
        args = []
        for parameter in stub_functions()[name].parameters:
            args.append(1 if parameter.takes_int else parameter.texts[0])
        answer = here.ask(name, *args)
        assert isinstance(answer, bool | int | float | str | tuple | None), name
    assert here.env.player.answer("step_near", (), {"first": "tree", "second": None}) == "move_left"


def test_what_is_in_view_is_not_what_is_remembered(scene):
    here = scene("T @ C", fill="#", wood_pickaxe=1)
    assert here.ask("in_view", "tree") is here.ask("in_view", "cow") is True
    assert here.env.player.term("in_view", "cow") == 1
    for _ in range(24):
        here.inventory.update(food=9, drink=9)
        here.act("move_down")
        here.act("do")
    assert here.ask("seen", "tree") is here.ask("seen", "cow") is True
    assert here.ask("in_view", "tree") is here.ask("in_view", "cow") is False
    assert here.env.player.term("in_view", "tree") == 0


def test_grass_in_view_and_the_time_of_day(scene):
    here = scene(". @ .", fill="#")
    assert here.ask("grass_in_view") == 3 == here.env.player.term("grass_in_view")
    assert here.ask("day_frame") == 0
    for _ in range(303):
        here.inventory.update(food=9, drink=9, energy=9)
        here.act("noop")
    assert here.ask("frames") == 303
    assert here.ask("day_frame") == 3 == here.env.player.term("day_frame")


def test_counts_and_senses(scene):
    here = scene("T . @ . ~", fill=".", wood=4, facing=(1, 0))
    assert here.ask("count", "wood") == 4
    assert here.ask("count", "health") == 9
    assert here.ask("position") == (32, 32)
    assert here.ask("facing") == (1, 0)
    assert here.ask("in_front") == "grass"
    assert here.ask("look", 2, 0) == "water"
    assert here.ask("look", -2, 0) == "tree"
    assert here.ask("look", 20, 0) == "unknown"
    assert here.ask("look", 10**30, 0) == "edge"
    assert here.ask("frames") == 0
    here.act("noop")
    assert here.ask("frames") == 1
    assert 0.75 < here.ask("daylight") <= 1
    assert here.ask("threat") == 99
    assert here.ask("unlocked", "collect_wood") is False


def test_near_is_what_crafting_finds(scene):
    assert scene(". . t\n. @ .\n. . .").ask("near", "table") is True
    assert scene(". . . t\n. @ . .").ask("near", "table") is False
    here = scene("t @", fill=".", wood=1)
    assert here.ask("near", "table")
    here.act("make_wood_pickaxe")
    assert here.inventory["wood_pickaxe"] == 1


def test_near_knows_that_crafting_fails_on_the_first_column(scene):
    here = scene("@", fill=".", wood=5)
    for _ in range(32):
        here.act("move_left")
        here.inventory.update(food=9, drink=9)
    here.act("move_up")
    here.act("place_table")
    assert here.ask("in_front") == "table"
    assert here.ask("near", "table") is False
    here.act("make_wood_pickaxe")
    assert here.inventory["wood_pickaxe"] == 0
    here.repeat("step_near", "table", until="noop")
    here.act("make_wood_pickaxe")
    assert here.inventory["wood_pickaxe"] == 1


@pytest.mark.parametrize(
    ("drawing", "held", "action", "changed"),
    [
        ("@", {}, "noop", False),
        ("# @ #", {}, "move_right", True),
        ("@\n.", {}, "move_down", True),
        ("@\n#", {}, "move_down", False),
        ("@\n#", {}, "do", False),
        ("@\n#", {"wood_pickaxe": 1}, "do", True),
        ("@\nT", {}, "do", True),
        ("@\n~", {"drink": 9}, "do", False),
        ("@\n~", {"drink": 5}, "do", True),
        ("@\nC", {}, "do", True),
        ("@\np", {}, "do", False),
        ("@\nR", {"food": 3}, "do", True),
        ("@\n#", {"energy": 5}, "sleep", True),
        ("@\n#", {"energy": 9}, "sleep", False),
        ("@\n#", {"stone": 1}, "place_stone", False),
        ("@\n.", {"stone": 1}, "place_stone", True),
        ("@\nt", {"wood": 1}, "make_wood_pickaxe", True),
        ("@\nt", {"wood": 0}, "make_wood_pickaxe", False),
    ],
)
def test_act_tells_whether_the_action_had_an_effect(scene, drawing, held, action, changed):
    assert scene(drawing, **held).act(action) is changed


def test_hunger_is_no_effect_of_an_action(scene):
    here = scene("@", food=5)
    fell = False
    for _ in range(30):
        assert here.act("noop") is False
        fell = fell or here.inventory["food"] < 5
    assert fell
