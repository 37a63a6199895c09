"""While the alert holds, and in the first frame after, a running option is put to the policy."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import PredicateError
from engine.rl.decisions import Rechoice

NOOP, LEFT, RIGHT, UP, DOWN, TAKE, CODED, OTHER = range(8)
HERE = np.array([0])
ALERT = Rechoice(alert="x >= 3")


@pytest.fixture(autouse=True)
def there_and_back(sandbox, world_call):
    """Walks 0 1 2 3 4 3 2 1 2 3 4 3 ..."""

    def script():
        yield world_call("act", "right")
        while True:
            for step in ("right",) * 3 + ("left",) * 3:
                yield world_call("act", step)

    sandbox.scripts["there_and_back"] = script


def until_asked(batch, decide, times):
    """Frames and end of as many decisions for the first coded action."""
    return [
        (finished.frames.item(), *finished.outcomes)
        for finished in (decide(batch, CODED) for _ in range(times))
    ]


def test_it_is_asked_in_each_frame_of_the_alert_and_in_the_first_after(begun, decide, make_action):
    # x: 0 1 2 | 3 | 4 | 3 | 2 | 3 | ...
    batch = begun(make_action(code="there_and_back", success="false"), rechoice=ALERT)
    assert until_asked(batch, decide, 7) == [
        (3, "yielded"),
        (1, "yielded"),
        (1, "yielded"),
        (1, "yielded"),
        (3, "yielded"),
        (1, "yielded"),
        (1, "yielded"),
    ]
    assert batch.decisions.tolist() == batch.coded_decisions.tolist() == [7]


def test_the_alert_is_where_it_holds_now(begun, decide):
    batch = begun(starts=[((2, 0), (5, 5)), ((3, 0), (5, 5))], rechoice=ALERT)
    assert batch.alert.tolist() == [False, True]
    batch.choose(np.arange(2), np.array([RIGHT, LEFT]))
    batch.advance()
    assert batch.alert.tolist() == [True, False]
    assert begun(at=(5, 0)).alert.tolist() == [False], "never, unless asked for"


def test_the_alert_of_a_new_episode_is_its_own(begun, decide):
    batch = begun(starts=[((3, 0), (5, 5))], rechoice=ALERT, length=1)
    batch.batch.envs[0]._starts += [((0, 0), (5, 5)), ((4, 0), (5, 5))]
    seen = [batch.alert.item()]
    for _ in range(2):
        decide(batch, NOOP)
        seen.append(batch.alert.item())
    assert seen == [True, False, True]


def test_begun_under_alert_it_is_asked_in_the_next_frame(begun, decide, make_action):
    batch = begun(make_action(code="pace"), at=(3, 0), rechoice=Rechoice(alert="x == 3"))
    # x: 3 | 4 | 5 4 3 | 4: the alert is over in the first frame, and forgotten after.
    assert until_asked(batch, decide, 3) == [(1, "yielded"), (3, "yielded"), (1, "yielded")]


def test_its_own_end_comes_before_the_alert(begun, decide, make_action):
    batch = begun(make_action(code="hop", success="false"), rechoice=ALERT)
    assert until_asked(batch, decide, 1) == [(3, "failed")]
    batch = begun(make_action(success="x >= 3"), gem=(3, 0), rechoice=ALERT)
    assert until_asked(batch, decide, 2) == [(3, "yielded"), (1, "success")]


def test_primitives_take_one_frame_in_any_case(begun, decide):
    batch = begun(at=(2, 0), rechoice=ALERT)
    assert [decide(batch, RIGHT).outcomes for _ in range(3)] == [("",)] * 3
    assert batch.decisions.tolist() == [3]


def test_beside_the_alert_the_interrupt_rule_and_the_clock_ask_as_ever(begun, decide, make_action):
    never = Rechoice(alert="false")
    action = make_action(code="idle", interrupt="frames >= 5", max_frames=12)
    assert until_asked(begun(action, rechoice=never), decide, 2) == [
        (5, "yielded"),
        (7, "out_of_frames"),
    ]
    both = Rechoice(every=4, alert="frames == 6")
    plain = make_action(code="idle", max_frames=12)
    # By the clock at 4, by the alert at 6 and 7, by the clock at 11.
    frames = [4, 2, 1, 4, 1]
    assert [took for took, _ in until_asked(begun(plain, rechoice=both), decide, 5)] == frames


def test_what_the_alert_asked_about_may_go_on_or_be_set_aside(begun, decide, make_action, sandbox):
    batch = begun(make_action(code="east", success="false"), rechoice=ALERT)
    decide(batch, CODED)
    assert batch.masks(HERE)[0, CODED]
    decide(batch, LEFT)
    assert batch.alert.tolist() == [False]
    decide(batch, CODED)
    assert (sandbox.programs[0].started, sandbox.programs[0].aborted) == (1, 0)


def test_an_alert_is_a_predicate_of_the_world(begun):
    with pytest.raises(PredicateError, match="weather"):
        begun(rechoice=Rechoice(alert="weather >= 1"))
