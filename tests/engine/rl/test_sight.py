"""A policy that does not see a part of the observation, and shaping that only training pays."""

from __future__ import annotations

import numpy as np
import pytest

from engine.agents.plan import ShapingTerm
from engine.errors import ConfigError
from engine.rl.policy_file import NetworkPolicy, PolicySpec
from engine.rl.sight import Sight, unseen_spans

PARTS = {"gem": (0, 1, 2), "place": (3, 4), "one": (5,)}


def spec(**changes) -> PolicySpec:
    settings = {
        "world": "meadow",
        "observation_size": 6,
        "primitives": ("left", "right", "take"),
        "actions": (),
        "net_arch": (4,),
        "plan_prior": 0.0,
        "frames": 0,
        "seed": 1,
        "task_success": "gems >= 3",
    }
    return PolicySpec(**{**settings, **changes})


def test_what_is_not_named_is_zero_and_the_original_stays():
    rows = np.ones((2, 6), np.float32)
    seen = Sight(unseen_spans(PARTS, ("place",))).of(rows)
    assert seen.tolist() == [[0, 0, 0, 1, 1, 0]] * 2
    assert rows.all()


def test_without_a_choice_everything_is_seen():
    assert unseen_spans(PARTS, ()) == ()


def test_an_unknown_part_is_named_with_those_there_are():
    with pytest.raises(ConfigError, match="no part 'smell'") as error:
        unseen_spans(PARTS, ("place", "smell"))
    assert "gem, place, one" in error.value.hint


def test_a_stored_policy_does_not_see_it_either():
    blind = NetworkPolicy.untrained(spec(unseen=((0, 3),)))
    chosen = []
    for gem in (-5.0, 5.0):
        blind.begin_episode(0, 7)
        rows = np.array([[gem, gem, gem, 0, 0, 1]] * 20, np.float32)
        places = np.zeros(20, np.int64)
        chosen.append(blind.choose(places, rows, (), np.ones((20, 3), np.bool_)).tolist())
    assert chosen[0] == chosen[1]


def test_specs_from_before_load_and_are_written_as_before():
    old = spec()
    assert "unseen" not in old.model_dump_json()
    assert PolicySpec.model_validate_json(old.model_dump_json()) == old
    blind = spec(unseen=((0, 3),))
    assert PolicySpec.model_validate_json(blind.model_dump_json()) == blind


def test_shaping_pays_once_and_is_not_the_worlds(begun):
    shaping = (ShapingTerm(predicate="x >= 1", bonus=3.0),)
    batch = begun(gem=(5, 5), shaping=shaping)
    paid = []
    for action in ("right", "left", "right"):
        batch.choose(batch.waiting, np.array([batch.options.names.index(action)]))
        paid += batch.advance().rewards.tolist()
    assert paid == [3.0, 0.0, 0.0]
    assert batch.returns.tolist() == [0.0]
