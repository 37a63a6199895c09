"""What may be chosen, what the policy is told of the plan, and which goals were reached."""

from __future__ import annotations

import numpy as np
import pytest

from engine.rl.decisions import Bonus, Rechoice
from engine.rl.plan_features import FEATURE_WEIGHT, plan_features

NOOP, LEFT, RIGHT, UP, DOWN, TAKE, CODED = range(7)
HERE = np.array([0])


def test_preconditions_are_the_mask(begun, decide, make_action):
    batch = begun(make_action(precondition="on_gem"), make_action("other"), gem=(1, 0))
    assert batch.masks(HERE)[0].tolist() == [True] * 6 + [False, True]
    decide(batch, RIGHT)
    assert batch.masks(HERE)[0].tolist() == [True] * 8


def test_masks_are_those_of_the_places_asked_for(begun, make_action):
    batch = begun(make_action(precondition="x >= 2"), starts=[((x, 0), (5, 5)) for x in range(4)])
    assert batch.masks(np.arange(4))[:, CODED].tolist() == [False, False, True, True]
    assert batch.masks(np.array([3, 0]))[:, CODED].tolist() == [True, False]


def test_a_masked_action_is_refused(begun, make_action):
    batch = begun(make_action(precondition="false"))
    with pytest.raises(ValueError, match=r"'fetch_gem' \(6\) is masked at place 0"):
        batch.choose(HERE, np.array([CODED]))
    assert batch.decisions.tolist() == [0], "and counts nowhere"


def said(batch):
    """What the observation of place 0 tells of each coded action, by feature."""
    coded = len(batch.options.actions)
    blocks = batch.observe(HERE)[0, -4 * coded :].reshape(4, coded)
    assert set(blocks.ravel().tolist()) <= {0.0, FEATURE_WEIGHT}
    return {
        name: np.flatnonzero(block).tolist()
        for name, block in zip(("may_run", "done", "running", "comes_next"), blocks, strict=True)
    }


def test_the_observation_ends_with_what_the_plan_says(begun, decide, make_action):
    first = make_action("first", precondition="on_gem", success="false")
    second = make_action("second", success="x >= 1")
    third = make_action("third", success="false")
    batch = begun(first, second, third, gem=(1, 1))
    assert batch.observe(HERE).shape == (1, batch.observation_size) == (1, 6 + 5 + 4 * 3)
    assert said(batch) == {"may_run": [1, 2], "done": [], "running": [], "comes_next": [1]}
    decide(batch, RIGHT)
    assert said(batch) == {"may_run": [1, 2], "done": [1], "running": [], "comes_next": [2]}
    decide(batch, DOWN)
    assert said(batch) == {"may_run": [0, 1, 2], "done": [1], "running": [], "comes_next": [0]}


def test_what_is_not_due_may_run_but_does_not_come_next(begun, decide, make_action):
    first = make_action("first", success="false", due="x >= 1")
    batch = begun(first, make_action("second", success="false"))
    assert said(batch) == {"may_run": [0, 1], "done": [], "running": [], "comes_next": [1]}
    decide(batch, RIGHT)
    assert said(batch)["comes_next"] == [0]
    idle = begun(make_action("late", due="false"))
    assert said(idle)["comes_next"] == []


def test_what_runs_goes_on_unless_its_interrupt_rule_holds(begun, decide, make_action):
    runs = make_action("runs", "pace", precondition="x == 0", success="false", interrupt="x >= 2")
    batch = begun(make_action("first", success="false"), runs, rechoice=Rechoice("edge", 1))
    decide(batch, CODED + 1)
    assert said(batch) == {"may_run": [0, 1], "done": [], "running": [1], "comes_next": [1]}
    decide(batch, CODED + 1)
    assert said(batch) == {"may_run": [0, 1], "done": [], "running": [1], "comes_next": [0]}
    decide(batch, NOOP)
    assert said(batch) == {"may_run": [0], "done": [], "running": [], "comes_next": [0]}


def test_plan_features_of_several_places():
    may_run = np.array([[1, 1, 1], [1, 1, 1], [0, 1, 1], [1, 0, 0]], bool)
    dues = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 1, 1]], bool)
    successes = np.array([[1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]], bool)
    interrupts = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0]], bool)
    running = np.array([-1, 2, 2, -1])
    told = plan_features(may_run, dues, successes, interrupts, running) / FEATURE_WEIGHT
    assert told.dtype == np.float32
    expected = [
        # may run, done, running, comes next
        [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0],
        [1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1],
        [0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 1, 0],
        [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
    assert told.tolist() == expected


def test_between_world_and_plan_stand_the_terms_on_one_scale(begun, make_action):
    batch = begun(make_action(), starts=[((0, 0), (5, 5)), ((5, 0), (5, 0))])
    assert batch.batch.term_names == ("frames", "gems", "x", "on_gem", "unlocked(take_gem)")
    batch.batch.terms[0] = [np.e**4 - 1, -7, 0, 0, 0]
    terms = batch.observe(np.array([1, 0]))[:, 6:11]
    half_log_two, half_log_six = 0.34657359, 0.89587973
    assert terms.dtype == np.float32
    assert terms == pytest.approx(
        np.array([[0, 0, half_log_six, half_log_two, 0], [2, 0, 0, 0, 0]]), abs=1e-6
    ), "what is below zero counts as zero"
    assert np.array_equal(batch.observe(np.arange(2))[:, :6], batch.batch.observe(np.arange(2)))


def test_without_code_the_plan_says_nothing(begun):
    batch = begun()
    assert batch.observe(HERE).shape == (1, 6)
    none = np.zeros((2, 0), bool)
    assert plan_features(none, none, none, none, np.array([-1, -1])).shape == (2, 0)


def test_a_bonus_is_paid_once_and_kept_out_of_the_return(begun, decide, make_action):
    batch = begun(
        make_action(),
        starts=[((0, 0), (0, 0))],
        goals={"first": "gems >= 1", "always": "gems >= 0"},
        task_success="gems >= 2",
        bonus=Bonus(goal=10.0, task=100.0),
        length=20,
    )
    env = batch.batch.envs[0]
    rewards = []
    for _ in range(3):
        env.gem = env.at
        rewards.append(decide(batch, TAKE).rewards.item())
    assert rewards == [11.0, 101.0, 1.0]
    later = [decide(batch, NOOP) for _ in range(17)]
    assert [finished.rewards.item() for finished in later] == [0.0] * 17
    assert later[-1].cut.item()
    (summary,) = later[-1].summaries
    assert (summary.episodic_return, summary.task_success) == (3.0, True)
    assert (summary.goals, summary.achievements) == (("first",), ("take_gem",))
    assert (summary.decisions, summary.coded_decisions) == (20, 0)


def test_a_goal_counts_anew_in_each_episode(begun, decide):
    settings = {"goals": {"one": "x >= 1"}, "bonus": Bonus(goal=1.0), "length": 2}
    batch = begun(starts=[((0, 0), (5, 5))], **settings)
    assert decide(batch, RIGHT).rewards.item() == 1.0
    batch.batch.envs[0]._starts.append(((0, 0), (5, 5)))
    assert decide(batch, RIGHT).summaries[0].goals == ("one",)
    assert decide(batch, NOOP).rewards.item() == 0.0
    finished = decide(batch, RIGHT)
    assert (finished.rewards.item(), finished.summaries[0].goals) == (1.0, ("one",))


def test_a_goal_that_held_must_be_lost_before_it_counts(begun, decide):
    batch = begun(goals={"in_the_west": "x <= 1"}, bonus=Bonus(goal=1.0))
    rewards = [decide(batch, action).rewards.item() for action in (RIGHT, RIGHT, LEFT, LEFT, RIGHT)]
    assert rewards == [0.0, 0.0, 1.0, 0.0, 0.0]
