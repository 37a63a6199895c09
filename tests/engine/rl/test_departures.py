"""Where a policy leaves the plan: counted by hand in the meadow."""

from __future__ import annotations

import numpy as np
import pytest

from engine.rl.decisions import Rechoice
from engine.rl.departures import DepartureRecorder, Departures
from engine.rl.evaluate import Evaluation, evaluate
from engine.rl.plan_features import plan_says

NOOP, RIGHT, TAKE, FETCH = 0, 2, 5, 6


class Listed:
    """Takes these actions in order, the same in every episode, then waits."""

    name = "listed"
    rechoice = Rechoice()

    def __init__(self, *actions):
        self.actions = actions
        self.taken = {}

    def begin_episode(self, place, seed):
        self.taken[place] = 0

    def choose(self, places, observations, players, masks):
        chosen = []
        for place in places.tolist():
            at = self.taken[place]
            chosen.append(self.actions[at] if at < len(self.actions) else NOOP)
            self.taken[place] += 1
        return np.array(chosen)


class Follower(Listed):
    """Does what code alone would do, and waits where that is nothing."""

    def choose(self, places, observations, players, masks):
        comes_next = plan_says(observations, 1).comes_next[:, 0]
        return np.where(comes_next, FETCH, NOOP)


@pytest.fixture
def play(world, sandbox, make_action):
    def run(policy, starts, **changes):
        world.starts = [*starts]
        actions = (make_action(success="gems >= 1"),)
        settings = {"episode_length": 6, "places": 1, "seeds": range(len(starts)), **changes}
        return evaluate(
            world, policy, actions, sandbox, task_success="gems >= 1", goals={},
            departures=DepartureRecorder(world, actions), **settings,
        )  # fmt: skip

    return run


def test_each_choice_is_held_against_what_code_would_do(play):
    found = play(Listed(RIGHT, RIGHT, TAKE), [((0, 0), (2, 0))]).departures
    # Three decisions while the gem lies there; then the plan is done and has nothing to say.
    assert (found.episodes, found.decisions, found.followed, found.silent) == (1, 3, 0, 3)
    right, take = found.pairs
    assert (right.code, right.policy, right.decisions, right.episodes) == (
        "fetch_gem", "right", 2, 1,
    )  # fmt: skip
    assert right.situation == {"gems": 0, "frames": 0.5, "x": 0.5, "on_gem": 0}
    assert (take.policy, take.decisions) == ("take", 1)
    assert take.situation == {"gems": 0, "frames": 2, "x": 2, "on_gem": 1}
    assert found.situation == {"gems": 0, "frames": 1, "x": 1, "on_gem": 0.333}
    assert found.spread == {"gems": 0, "frames": 0.816, "x": 0.816, "on_gem": 0.471}
    assert found.flags == ("on_gem",)
    step = found.steps["fetch_gem"]
    assert (step.decisions, step.followed, step.situation) == (3, 0, {})


def test_departures_and_what_was_followed_are_apart(play):
    starts = [((0, 0), (3, 0)), ((1, 0), (4, 0))]
    found = play(Listed(RIGHT, FETCH), starts).departures
    assert (found.episodes, found.decisions, found.followed) == (2, 4, 2)
    assert found.departed == 2
    (pair,) = found.pairs
    assert (pair.policy, pair.decisions, pair.episodes) == ("right", 2, 2)
    assert pair.situation == {"gems": 0, "frames": 0, "x": 0.5, "on_gem": 0}
    step = found.steps["fetch_gem"]
    assert (step.decisions, step.followed) == (4, 2)
    assert step.situation == {"gems": 0, "frames": 1, "x": 1.5, "on_gem": 0}


def test_a_policy_that_follows_the_plan_never_leaves_it(play):
    found = play(Follower(), [((0, 0), (3, 0)), ((1, 0), (4, 0))]).departures
    assert found.pairs == ()
    assert found.departed == 0
    assert found.decisions == found.followed == 2, "one option for each gem"


def test_how_many_play_at_once_changes_nothing(play, world):
    found = [
        play(Listed(RIGHT, NOOP, RIGHT, TAKE, FETCH), [], seeds=range(40), places=places)
        for places in (1, 7)
    ]
    assert found[0].departures == found[1].departures
    assert found[0].departures.episodes == 40
    assert len(found[0].departures.pairs) == 3


def test_episodes_that_did_not_end_do_not_count(play):
    frames = []
    found = play(
        Listed(RIGHT), [((0, 0), (5, 0)), ((0, 0), (5, 0))],
        should_stop=lambda: len(frames) >= 9, on_frame=lambda view, caption: frames.append(1),
    )  # fmt: skip
    assert found.episodes == found.departures.episodes == 1
    assert found.departures.decisions == 6, "of the first episode alone"


def test_rare_pairs_are_counted_but_not_kept(play, monkeypatch):
    monkeypatch.setattr("engine.rl.departures.MOST_PAIRS", 1)
    found = play(Listed(RIGHT, RIGHT, TAKE), [((0, 0), (2, 0))]).departures
    assert [pair.policy for pair in found.pairs] == ["right"]
    assert found.rarer_pairs == 1
    assert found.departed == 3


def test_without_coded_actions_there_is_no_plan_to_leave(world, sandbox):
    found = evaluate(
        world, Listed(), (), sandbox, seeds=range(2), task_success="gems >= 1", goals={},
        departures=DepartureRecorder(world, ()),
    )  # fmt: skip
    assert found.departures is None


def test_records_are_read_back_and_older_ones_too(play):
    found = play(Listed(RIGHT, RIGHT, TAKE), [((0, 0), (2, 0))])
    assert Evaluation.model_validate_json(found.model_dump_json()) == found
    old = found.model_dump(mode="json", exclude={"departures"})
    assert Evaluation.model_validate(old).departures is None
    assert isinstance(found.departures, Departures)
