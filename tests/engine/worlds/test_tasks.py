from __future__ import annotations

import pytest

from engine.errors import UnknownName
from engine.worlds.registry import get_world
from engine.worlds.tasks import find_task

WORLD = get_world("crafter")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("collect a diamond", "collect_diamond"),
        ("  Collect the DIAMOND! ", "collect_diamond"),
        ("collect_diamond", "collect_diamond"),
        ("mine diamonds", "collect_diamond"),
        ("make a wooden pickaxe", "make_wood_pickaxe"),
        ("craft an iron pickaxe", "make_iron_pickaxe"),
        ("make a stone pikaxe", "make_stone_pickaxe"),
        ("survive a day", "survive_day"),
    ],
)
def test_words_find_their_task(words: str, name: str):
    assert find_task(WORLD, words).name == name


@pytest.mark.parametrize("words", ["make a pickaxe", "fly to the moon", "", "collect"])
def test_words_that_name_no_single_task_list_what_can_be_checked(words: str):
    with pytest.raises(UnknownName) as caught:
        find_task(WORLD, words)
    assert repr(words) in caught.value.message
    assert "collect a diamond; make an iron pickaxe" in caught.value.hint


def test_a_near_miss_is_answered_with_the_nearest_task():
    with pytest.raises(UnknownName) as caught:
        find_task(WORLD, "build a table")
    assert "Did you mean 'place a table'?" in caught.value.hint


def test_the_words_of_every_task_find_it():
    for task in WORLD.tasks():
        assert find_task(WORLD, task.words) == task
        assert find_task(WORLD, task.name) == task
