"""Trained policies as actions of another: what they earn, every way to end, who is asked when."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.rl.decisions import Bonus, Rechoice

NOOP, LEFT, RIGHT, UP, DOWN, TAKE, LEARNED, OTHER = range(8)
HERE = np.array([0])
COLUMNS = {"one": "x >= 1", "two": "x >= 2"}


def told(finished):
    """Reward, discount, frames, over and cut of the only decision that ended."""
    columns = (finished.rewards, finished.discounts, finished.frames, finished.over, finished.cut)
    return tuple(column.item() for column in columns)


def test_it_walks_to_its_goal_as_one_decision(begun, decide, make_learned):
    batch = begun(make_learned(), gem=(2, 1), goals=COLUMNS, bonus=Bonus(goal=1.0))
    finished = decide(batch, LEARNED)
    assert told(finished) == (1 + 0.5, 0.5**3, 3, False, False)
    assert finished.outcomes == ("success",)
    assert (batch.batch.envs[0].at, batch.decisions.tolist()) == ((2, 1), [1])
    assert batch.usage.tolist() == [0] * 6 + [3]
    assert told(decide(batch, TAKE)) == (1.0, 0.5, 1, False, False)


def test_its_precondition_is_the_mask(begun, decide, make_learned, make_action):
    batch = begun(make_learned(precondition="x >= 1"), make_action("other"))
    assert batch.masks(HERE)[0].tolist() == [True] * 6 + [False, True]
    with pytest.raises(ValueError, match=r"'go_to_gem' \(6\) is masked"):
        batch.choose(HERE, np.array([LEARNED]))
    decide(batch, RIGHT)
    assert batch.masks(HERE)[0].tolist() == [True] * 8


def test_the_plan_says_of_it_what_it_says_of_code(begun, decide, make_learned, make_action):
    batch = begun(make_action(precondition="on_gem"), make_learned(due="x >= 1"), gem=(2, 0))
    assert batch.observe(HERE).shape == (1, 6 + 5 + 4 * 2)

    def said():
        return (batch.observe(HERE)[0, -8:] > 0).reshape(4, 2).tolist()

    assert said() == [[False, True], [False] * 2, [False] * 2, [False] * 2]
    decide(batch, RIGHT)
    assert said() == [[False, True], [False] * 2, [False] * 2, [False, True]]
    decide(batch, OTHER)
    assert said() == [[True, True], [False, True], [False] * 2, [True, False]]


def test_inside_of_it_the_policy_keeps_to_its_choices(
    begun, decide, make_learned, make_policy, make_action
):
    """Its network draws evenly from what it may; its own plan is to stand still."""
    idle = make_action("stand", "idle", success="false")

    def taken(*choices):
        policy = make_policy({}, idle, recheck_frames=1, choices=choices)
        batch = begun(make_learned("skill", policy, success="false", max_frames=60), at=(2, 0))
        names = []
        step = batch.batch.step
        batch.batch.step = lambda actions: (names.append(int(actions[0])), step(actions))[1]
        for _ in range(5):
            decide(batch, LEARNED)
        return set(names)

    assert taken("down") == {NOOP, DOWN}, "and what its plan does"
    assert taken("left", "take") == {NOOP, LEFT, TAKE}
    assert taken() == {NOOP, LEFT, RIGHT, UP, DOWN, TAKE}


def test_its_step_limit_ends_it(begun, decide, make_learned):
    batch = begun(make_learned(max_frames=2))
    finished = decide(batch, LEARNED)
    assert (finished.frames.item(), finished.outcomes) == (2, ("out_of_frames",))
    assert decide(batch, LEARNED).frames.item() == 2, "and it may begin anew"
    assert batch.batch.envs[0].at == (4, 0)


def test_the_end_of_the_episode_cuts_it(begun, decide, make_learned):
    batch = begun(make_learned(), length=2)
    finished = decide(batch, LEARNED)
    assert told(finished) == (0.0, 0.25, 2, True, True)
    assert (finished.outcomes, batch.batch.frames(0)) == (("cut",), 0)
    decide(batch, LEARNED)
    batch = begun(make_learned(success="false"), at=(4, 4), gem=(5, 5))
    finished = decide(batch, LEARNED)
    assert told(finished) == (-0.5, 0.25, 2, True, False)
    assert finished.outcomes == ("died",)


def test_the_task_may_end_the_episode_inside_of_it(begun, decide, make_learned):
    settings = {"task_success": "gems >= 1", "bonus": Bonus(task=10.0), "end_on_success": True}
    finished = decide(begun(make_learned(success="false"), gem=(1, 0), **settings), LEARNED)
    assert (told(finished), finished.outcomes) == ((5.5, 0.25, 2, True, False), ("done",))


def test_what_is_done_already_ends_without_a_frame(begun, decide, make_learned, asked):
    batch = begun(make_learned(), gem=(0, 0))
    assert batch.choose(HERE, np.array([LEARNED])).tolist() == [0]
    assert not batch.masks(HERE)[0, LEARNED]
    assert asked == []
    assert decide(batch, RIGHT).frames.item() == 1
    assert decide(batch, LEARNED).outcomes == ("success",)


def test_its_interrupt_rule_puts_it_to_the_policy_above(begun, decide, make_learned):
    batch = begun(make_learned(interrupt="x >= 2", max_frames=4))
    finished = decide(batch, LEARNED)
    assert (finished.frames.item(), finished.outcomes) == (2, ("yielded",))
    finished = decide(batch, LEARNED)
    assert (finished.frames.item(), finished.outcomes) == (2, ("out_of_frames",)), "2 + 2 = 4"


def test_it_is_taken_up_again_after_others_have_acted(begun, decide, make_learned):
    batch = begun(make_learned(max_frames=5), rechoice=Rechoice(every=2))
    decide(batch, LEARNED)
    decide(batch, LEFT)
    finished = decide(batch, LEARNED)
    assert (finished.frames.item(), finished.outcomes) == (2, ("yielded",))
    assert batch.batch.envs[0].at == (3, 0)
    decide(batch, LEFT)
    finished = decide(batch, LEARNED)
    assert (finished.frames.item(), finished.outcomes) == (1, ("out_of_frames",)), "2 + 2 + 1"
    decide(batch, LEARNED)
    batch.batch.envs[0].gem = (3, 0)
    decide(batch, NOOP)
    assert batch.choose(HERE, np.array([LEARNED])).tolist() == [], "it stands at (5, 0)"


def test_all_places_are_asked_in_one_call_and_only_those_it_leads(begun, make_learned, asked):
    batch = begun(make_learned(), starts=[((0, 0), (gem, 0)) for gem in (3, 1, 2, 5)])
    batch.choose(np.arange(4), np.array([LEARNED, LEARNED, LEARNED, NOOP]))
    ended = []
    for _ in range(3):
        finished = batch.advance()
        ended.append(finished.places.tolist())
        going_on = batch.waiting
        batch.choose(going_on, np.full(len(going_on), NOOP))
    assert asked == [[0, 1, 2], [0, 2], [0]]
    assert ended == [[1, 3], [1, 2, 3], [0, 1, 2, 3]]


@pytest.fixture
def hopper(make_policy, make_action):
    """Prefers its own coded action, three cells to the east, while that may run."""

    def make(*more, **changes):
        action = make_action("own", "hop", precondition="x <= 3", max_frames=9, **changes)
        return make_policy({"own": {5: 90}, "down": {5: 40}}, action, *more)

    return make


def test_its_own_code_runs_inside_of_it(begun, decide, make_learned, hopper, asked, sandbox):
    batch = begun(make_learned("hops", hopper(), success="x >= 5"), make_learned())
    finished = decide(batch, LEARNED)
    assert (finished.frames.item(), finished.outcomes) == (5, ("success",))
    # Three cells by the first program, two by the second, which is then ended.
    assert [(p.started, p.aborted) for p in sandbox.programs] == [(2, 1)]
    assert asked == [[0], [0]], "its code is not put to it in between"
    assert batch.usage[LEARNED] == 5


def test_code_inside_of_it_is_put_to_it_by_its_own_rule(
    begun, decide, make_learned, hopper, asked, sandbox
):
    policy = hopper(interrupt="x >= 1")
    batch = begun(make_learned("hops", policy, success="x >= 3"))
    assert decide(batch, LEARNED).frames.item() == 3
    assert asked == [[0], [0]]
    assert sandbox.programs[0].started == 1, "it went on"


@pytest.mark.parametrize("how", ["end of episode", "end of rollout"])
def test_nothing_inside_of_it_is_left_over(begun, decide, make_learned, hopper, sandbox, how):
    batch = begun(make_learned("hops", hopper(), success="false"), length=2)
    batch.choose(HERE, np.array([LEARNED]))
    for _ in range(2 if how == "end of episode" else 1):
        batch.advance()
    batch.interrupt_all()
    assert sandbox.programs[0].aborted == 1
    batch.choose(HERE, np.array([LEARNED]))
    batch.advance()
    assert (len(sandbox.programs), sandbox.programs[0].started) == (1, 2)
    batch.options.close()
    assert all(program.closed for program in sandbox.programs)


def test_code_inside_of_it_stands_aside_with_it(begun, decide, make_learned, hopper, sandbox):
    batch = begun(make_learned("hops", hopper(), success="x >= 3"), rechoice=Rechoice(every=2))
    decide(batch, LEARNED)
    decide(batch, LEFT)
    decide(batch, LEARNED)
    # The third hop had been asked for and was not taken: the code hears so and ends, the policy
    # takes its second choice for a frame, and then begins the code anew.
    assert sandbox.programs[0].heard == [True, True, False, True]
    assert (sandbox.programs[0].started, batch.batch.envs[0].at) == (2, (2, 1))


def test_one_may_choose_another(begun, decide, make_learned, make_policy, asked):
    inner = make_learned(max_frames=2)
    outer = make_policy({"go_to_gem": {5: 90}, "down": {5: 40}}, inner, recheck_frames=0)
    batch = begun(make_learned("outer", outer, success="gems >= 1", max_frames=9), gem=(3, 0))
    finished = decide(batch, LEARNED)
    # Two and one cells by the inner one; on the gem that has nothing to do, and the outer one walks
    # down, from where the inner one walks back.
    assert (finished.frames.item(), finished.outcomes) == (9, ("out_of_frames",))
    assert batch.batch.envs[0].at == (3, 0)
    assert all(places == [0] for places in asked)


@pytest.fixture
def dreamer(make_policy, make_action):
    """Draws any action, its own code among them."""
    return make_policy({}, make_action("own", "hop", max_frames=9), recheck_frames=2)


def play(batch, choices):
    seen = []
    for choice in choices:
        waiting = batch.waiting
        while waiting.size:
            masks = batch.masks(waiting)
            allowed = np.where(masks[:, choice], choice, NOOP)
            waiting = batch.choose(waiting, allowed)
        finished = batch.advance()
        summaries = [summary.seed for summary in finished.summaries]
        seen.append((batch.observe(np.arange(3)).tolist(), finished.outcomes, summaries))
    return seen


def test_the_same_seeds_are_the_same_play_also_after_a_boundary(make_batch, make_learned, dreamer):
    dreams = make_learned("dreams", dreamer, success="gems >= 1", max_frames=7)
    actions = (make_learned(max_frames=4), dreams)
    settings = {"size": 3, "length": 11, "rechoice": Rechoice(every=3)}
    choices = np.random.default_rng(0).choice([LEFT, LEARNED, OTHER, OTHER], 90).tolist()

    def begun(*seeds):
        batch = make_batch(*actions, **settings)
        batch.begin()
        return batch

    whole = begun()
    first = play(whole, choices[:40])
    again = begun()
    assert play(again, choices[:40]) == first
    assert len({str(outcomes) for _, outcomes, _ in first}) > 4
    whole.interrupt_all()
    resumed = make_batch(*actions, **settings)
    for place in range(3):
        resumed.batch.restore(place, whole.batch.snapshot(place))
        resumed.seeds.restore(place, whole.seeds.state(place))
        resumed.resume(place, whole.seed(place))
    assert play(resumed, choices[40:]) == play(whole, choices[40:])


def test_it_draws_as_an_evaluation_would(begun, decide, make_learned, make_policy):
    """Uniform over six primitives: over many executions each is taken, at no fixed rhythm."""
    batch = begun(make_learned("any", make_policy({}), success="false", max_frames=1), length=300)
    taken = []
    step = batch.batch.step
    batch.batch.step = lambda actions: (taken.append(int(actions[0])), step(actions))[1]
    for _ in range(120):
        decide(batch, LEARNED)
    counts = np.bincount(taken, minlength=6)
    assert counts.sum() == 120
    assert counts.min() >= 8, counts


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"world": "moon"}, "it was trained in 'moon', and this is 'meadow'"),
        ({"observation_size": 9}, "it sees 9 numbers, and here are 6"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(begun, make_learned, make_policy, change, why):
    policy = make_policy({}, **change) if "observation_size" not in change else make_policy({})
    spec = policy.spec.model_copy(update=change)
    wrong = type(policy)(spec, policy.weights)
    with pytest.raises(ConfigError, match=why):
        begun(make_learned(policy=wrong))
