"""How to learn as a text: there and back, and clear words for what cannot stand."""

from __future__ import annotations

import pytest

from studio.learning_text import LearningProblem, as_text, from_text


@pytest.fixture(scope="module")
def world():
    from engine.worlds.registry import get_world

    return get_world("crafter")


def test_there_and_back(kit, world):
    proposal = kit.learning()
    back = from_text(as_text(proposal), proposal, kit.plan(), world)
    assert back == proposal.model_copy(update={"author": "llm:m+person"})


def test_all_may_be_left_out(kit, world):
    back = from_text("", kit.learning(), kit.plan(), world)
    assert (back.actions, back.observation, back.shaping) == ((), (), ())


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("actions = [", "not valid TOML", 0),
        ("actions = []\nreward = 3", "there is no 'reward'", 2),
        ('actions = ["fly"]', "'fly' is no coded action there is: known are gather_wood", 1),
        ('actions = "fly"', "actions cannot be 'fly'", 1),
        ('\n[[shaping]]\npredicate = "stone >="\nbonus = 1', "the predicate 'stone >='", 3),
        ('[[shaping]]\npredicate = "stone >= 1"\nbonus = -1', "cannot be -1", 1),
        ('[[shaping]]\npredicate = "love >= 1"\nbonus = 1', "'love >= 1'", 2),
    ],
)
def test_what_cannot_stand_says_why_and_where(kit, world, text, said, line):
    with pytest.raises(LearningProblem) as raised:
        from_text(text, kit.learning(), kit.plan(), world)
    assert said in str(raised.value)
    assert raised.value.where.line == line
