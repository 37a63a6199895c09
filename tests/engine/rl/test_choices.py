"""A policy that may leave the plan only towards some actions."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.rl.choices import Choices
from engine.rl.plan_features import FEATURE_WEIGHT

NAMES = ("noop", "left", "right", "one", "two", "three")


def plan(*rows, coded):
    """Observations that say (running, comes_next) of the coded actions; None for none."""
    observations = np.zeros((len(rows), 6 + 4 * coded), np.float32)
    for row, numbers in enumerate(rows):
        for block, number in zip((-2 * coded, -coded), numbers, strict=True):
            if number is not None:
                observations[row, observations.shape[1] + block + number] = FEATURE_WEIGHT
    return observations


def test_they_are_the_named_ones_and_the_plans():
    rows = plan((None, 0), (None, 1), (2, 1), (2, 2), coded=3)
    choices = Choices(NAMES, 3, ("left", "one"))
    masks = np.ones((4, 6), np.bool_)
    expected = [
        [0, 1, 0, 1, 0, 0],
        [0, 1, 0, 1, 1, 0],
        [0, 1, 0, 1, 1, 1],
        [0, 1, 0, 1, 0, 1],
    ]
    assert choices.narrow(masks, rows).tolist() == expected
    masks[:, 1] = False
    expected = [[row[0], 0, *row[2:]] for row in expected]
    assert choices.narrow(masks, rows).tolist() == expected, "never more than the masks"
    assert masks.sum() == 20, "which stay as they are"


def test_where_the_plan_has_nothing_to_say_any_primitive_is_left():
    rows = plan((None, None), (2, None), (None, 1), coded=3)
    masks = np.ones((3, 6), np.bool_)
    masks[:, 3] = False
    assert Choices(NAMES, 3, ("one",)).narrow(masks, rows).tolist() == [
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0, 1],
        [0, 0, 0, 0, 1, 0],
    ]


def test_without_choices_all_is_left():
    masks = np.array([[True, False, False, True, False, True], [False, True, True, True, True, 0]])
    masks = masks.astype(np.bool_)
    rows = plan((None, None), (0, 1), coded=3)
    assert Choices(NAMES, 3, ()).narrow(masks, rows) is masks


def test_without_a_plan_all_is_left():
    masks = np.ones((2, 2), np.bool_)
    bare = Choices(("noop", "left"), 0, ("left",))
    assert bare.narrow(masks, np.zeros((2, 6), np.float32)) is masks


def test_an_unknown_name_is_refused():
    with pytest.raises(ConfigError, match="cannot choose fly") as caught:
        Choices(NAMES, 3, ("fly", "one"))
    assert "noop, left" in caught.value.hint
