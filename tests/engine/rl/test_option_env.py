"""Decisions of one frame and of many: rewards, discounts, masks, summaries, states."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from engine.errors import ConfigError
from engine.rl.option_env import Bonus
from engine.rl.option_set import OptionSet

LEFT, RIGHT, UP, DOWN, TAKE, FETCH = 1, 2, 3, 4, 5, 6


def place(env, at, gem):
    """Reset with the player and the gem at these cells."""
    env.reset(seed=0)
    env.env.at, env.env.gem = at, gem


@pytest.mark.filterwarnings("ignore:.*Box observation space m")
def test_it_is_a_proper_gymnasium_environment(make_env, make_action):
    check_env(make_env(make_action()), skip_render_check=True)


def test_a_primitive_is_one_frame(make_env, make_action):
    env = make_env(make_action())
    place(env, (0, 0), (0, 0))
    _, reward, terminated, truncated, info = env.step(TAKE)
    assert (reward, terminated, truncated) == (1.0, False, False)
    assert (info["frames"], info["discount"], info["outcome"]) == (1, 0.5, "")


def test_a_coded_action_returns_its_discounted_sum(make_env, make_action):
    env = make_env(make_action())
    place(env, (0, 0), (2, 1))
    _, reward, terminated, truncated, info = env.step(FETCH)
    assert (terminated, truncated) == (False, False)
    assert info["frames"] == 4
    assert info["discount"] == 0.5**4
    assert reward == 0.5**3
    assert info["world_reward"] == 1.0
    assert info["outcome"] == "success"


def test_death_inside_a_coded_action_ends_the_episode(make_env, make_action, sandbox):
    env = make_env(make_action())
    place(env, (4, 4), (5, 5))
    _, reward, terminated, _, info = env.step(FETCH)
    assert terminated
    assert info["frames"] == 2
    assert reward == pytest.approx(-0.5)
    assert info["outcome"] == "died"
    assert sandbox.programs[0].aborted == 1
    env.reset(seed=1)
    env.step(FETCH)


def test_truncation_inside_a_coded_action(make_env, make_action):
    env = make_env(make_action(), length=3)
    place(env, (0, 0), (4, 0))
    _, _, terminated, truncated, info = env.step(FETCH)
    assert (terminated, truncated) == (False, True)
    assert (info["frames"], info["outcome"]) == (3, "out_of_frames")
    assert info["summary"].frames == 3


def test_preconditions_are_the_mask(make_env, make_action):
    env = make_env(make_action(precondition="on_gem"), make_action("other"))
    place(env, (0, 0), (1, 0))
    env.step(0)
    assert env.action_masks().tolist() == [True] * 6 + [False, True]
    env.step(RIGHT)
    assert env.action_masks()[FETCH]


def test_the_observation_ends_with_what_the_plan_says(make_env, make_action):
    first = make_action("first", precondition="on_gem", success="false")
    second = make_action("second", success="x >= 1")
    third = make_action("third", success="false")
    env = make_env(first, second, third)
    place(env, (0, 0), (1, 1))

    def said(action):
        tail = env.step(action)[0][-9:] > 0
        return {"may_run": tail[:3].tolist(), "done": tail[3:6].tolist(), "next": tail[6:].tolist()}

    assert said(0) == {
        "may_run": [False, True, True],
        "done": [False, False, False],
        "next": [False, True, False],
    }
    assert said(RIGHT) == {
        "may_run": [False, True, True],
        "done": [False, True, False],
        "next": [False, False, True],
    }
    assert said(DOWN) == {
        "may_run": [True, True, True],
        "done": [False, True, False],
        "next": [True, False, False],
    }


def test_what_is_not_due_may_run_but_does_not_come_next(make_env, make_action):
    env = make_env(
        make_action("first", success="false", due="x >= 1"), make_action("second", success="false")
    )
    place(env, (0, 0), (4, 4))
    assert (env.step(0)[0][-6:] > 0).tolist() == [True, True, False, False, False, True]
    assert (env.step(RIGHT)[0][-6:] > 0).tolist() == [True, True, False, False, True, False]


def test_a_masked_action_is_refused(make_env, make_action):
    env = make_env(make_action(precondition="false"))
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"'fetch_gem' \(6\) is masked"):
        env.step(FETCH)


def test_an_action_that_did_nothing_waits_for_the_next_frame(make_env, make_action):
    env = make_env(make_action("nothing", "nothing", success="true"))
    before, _ = env.reset(seed=0)
    after, reward, _, _, info = env.step(6)
    assert (reward, info["frames"], info["discount"]) == (0.0, 0, 1.0)
    assert np.array_equal(before[:6], after[:6])
    assert not env.action_masks()[6]
    env.step(0)
    assert env.action_masks()[6]


def test_a_bonus_is_paid_once_and_kept_out_of_the_return(make_env, make_action):
    env = make_env(
        make_action(),
        goals={"first": "gems >= 1", "always": "gems >= 0"},
        task_success="gems >= 2",
        bonus=Bonus(goal=10.0, task=100.0),
        length=20,
    )
    place(env, (0, 0), (0, 0))
    rewards = []
    for _ in range(3):
        env.env.gem = env.env.at
        rewards.append(env.step(TAKE)[1])
    assert rewards == [11.0, 101.0, 1.0]
    done = False
    while not done:
        _, reward, _, done, info = env.step(0)
        assert reward == 0.0
    summary = info["summary"]
    assert summary.episodic_return == 3.0
    assert summary.task_success
    assert summary.goals == ("first",)
    assert summary.achievements == ("take_gem",)
    assert (summary.decisions, summary.coded_decisions) == (20, 0)


def test_a_goal_that_held_must_be_lost_before_it_counts(make_env):
    env = make_env(goals={"in_the_west": "x <= 1"}, bonus=Bonus(goal=1.0))
    place(env, (0, 0), (5, 0))
    env._goals.begin(env.env.player)
    rewards = [env.step(action)[1] for action in (RIGHT, RIGHT, LEFT, LEFT, RIGHT)]
    assert rewards == [0.0, 0.0, 1.0, 0.0, 0.0]


def test_episodes_stay_below_the_seed_limit_and_differ(make_env, world):
    env = make_env(seed_limit=50, episode_seeds=(3, 1))
    seeds = [env.reset()[1]["seed"] for _ in range(30)]
    assert max(seeds) < 50
    assert len(set(seeds)) > 10
    again = make_env(seed_limit=50, episode_seeds=(3, 1))
    assert [again.reset()[1]["seed"] for _ in range(30)] == seeds
    other = make_env(seed_limit=50, episode_seeds=(3, 2))
    assert [other.reset()[1]["seed"] for _ in range(30)] != seeds


def test_a_state_goes_on_exactly(make_env, make_action):
    settings = {"goals": {"first": "gems >= 1"}, "bonus": Bonus(1, 1), "episode_seeds": (1, 0)}
    env = make_env(make_action(max_frames=4), **settings)
    env.reset()
    chance = np.random.default_rng(0)

    def play(env, choices):
        seen = []
        for choice in choices:
            observation, reward, terminated, truncated, info = env.step(choice)
            seen.append((observation.tolist(), reward, terminated, truncated, info))
            if terminated or truncated:
                seen.append(env.reset()[0].tolist())
        return seen

    choices = [int(c) for c in chance.integers(0, 7, 200)]
    play(env, choices[:60])
    state = env.state()
    expected = play(env, choices[60:])
    other = make_env(make_action(max_frames=4), **settings)
    other.resume(state)
    assert play(other, choices[60:]) == expected


def test_frames_are_shown_with_a_caption(make_env, make_action):
    shown = []
    env = make_env(make_action(), on_frame=lambda env, text: shown.append((env.count, text)))
    place(env, (0, 0), (1, 0))
    env.step(LEFT)
    env.step(FETCH)
    assert shown == [(1, "left"), (2, "fetch_gem"), (3, "fetch_gem")]


def test_a_stop_inside_a_coded_action_ends_the_program(make_env, make_action, sandbox):
    ticks = []

    def tick():
        ticks.append(1)
        if len(ticks) == 2:
            raise KeyboardInterrupt

    env = make_env(make_action(), tick=tick)
    place(env, (0, 0), (5, 0))
    with pytest.raises(KeyboardInterrupt):
        env.step(FETCH)
    assert sandbox.programs[0].aborted == 1


def test_two_actions_of_one_name_are_refused(world, make_action, sandbox):
    with pytest.raises(ConfigError, match="fetch_gem"):
        OptionSet(world, [make_action(), make_action()], sandbox)


def test_closing_a_set_closes_its_programs(world, make_action, sandbox):
    with OptionSet(world, [make_action()], sandbox):
        assert not sandbox.programs[0].closed
    assert sandbox.programs[0].closed
