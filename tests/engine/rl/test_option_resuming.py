"""Coded actions that yielded: going on, being set aside, being taken up again, being dropped."""

from __future__ import annotations

import numpy as np
import pytest

from engine.rl.decisions import Rechoice

NOOP, LEFT, RIGHT, UP, DOWN, TAKE, CODED, OTHER = range(8)
HERE = np.array([0])


@pytest.fixture
def yielded(begun, decide, make_action, sandbox):
    """A batch whose place 0 walked two cells to the east and yielded; its programs."""

    def make(*others, length=None, **changes):
        action = make_action(**{"code": "east", "interrupt": "x >= 2", **changes})
        batch = begun(action, *others, length=length)
        assert decide(batch, CODED).outcomes == ("yielded",)
        return batch, sandbox.programs

    return make


def test_going_on_resumes_the_very_same_execution(yielded, decide):
    batch, (program,) = yielded(max_frames=5)
    finished = decide(batch, CODED)
    assert (finished.frames.item(), finished.outcomes) == (3, ("out_of_frames",)), "2 + 3 = 5"
    assert program.started == 1
    assert program.heard == [True] * 5
    assert batch.batch.envs[0].at == (5, 0)
    assert batch.coded_decisions.tolist() == [2]


def test_what_was_set_aside_is_taken_up_again(yielded, decide):
    batch, (program,) = yielded(max_frames=4)
    decide(batch, LEFT)
    assert (program.started, program.aborted, batch.batch.envs[0].at) == (1, 0, (1, 0))
    finished = decide(batch, CODED)
    # The step it had asked for when it yielded was never taken.
    assert program.heard[:3] == [True, True, False]
    assert (finished.frames.item(), finished.outcomes) == (1, ("yielded",)), "x is 2 again"
    finished = decide(batch, CODED)
    assert (finished.frames.item(), finished.outcomes) == (1, ("out_of_frames",)), "2 + 1 + 1 = 4"
    assert program.started == 1


def test_what_is_taken_up_may_end_without_a_frame(begun, decide, make_action, sandbox, world_call):
    def wary():
        while (yield world_call("act", "right")):
            pass
        return "pushed off the path"

    sandbox.scripts["wary"] = wary
    batch = begun(make_action(code="wary", interrupt="x >= 2"))
    decide(batch, CODED)
    decide(batch, NOOP)
    assert batch.choose(HERE, np.array([CODED])).tolist() == [0]
    assert not batch.masks(HERE)[0, CODED]
    assert decide(batch, NOOP).frames.item() == 1
    assert batch.masks(HERE)[0, CODED]
    decide(batch, CODED)
    assert sandbox.programs[0].started == 2


def test_setting_a_second_one_aside_drops_the_first(yielded, decide, make_action, sandbox):
    other = make_action("other", "pace", interrupt="x >= 3")
    batch, (first, second) = yielded(other)
    assert decide(batch, OTHER).outcomes == ("yielded",)
    assert (first.aborted, second.aborted) == (0, 0)
    decide(batch, LEFT)
    assert (first.aborted, second.aborted) == (1, 0)
    decide(batch, OTHER)
    assert second.started == 1
    decide(batch, CODED)
    assert first.started == 2, "it begins anew"
    assert len(sandbox.programs) == 2


def test_two_take_turns_and_both_go_on(yielded, decide, make_action):
    other = make_action("other", "pace", interrupt="x >= 3", max_frames=100)
    batch, (first, second) = yielded(other, max_frames=100)
    assert decide(batch, OTHER).outcomes == ("yielded",), "at x = 3"
    for _ in range(2):
        batch.choose(HERE, np.array([CODED]))
        batch.advance()
        batch.choose(HERE, np.array([OTHER]))
    assert (first.started, second.started) == (1, 1)
    assert (first.aborted, second.aborted) == (0, 0)


def test_the_end_of_the_episode_drops_what_was_set_aside(yielded, decide):
    batch, (program,) = yielded(length=4)
    decide(batch, LEFT)
    assert program.aborted == 0
    assert decide(batch, LEFT).over.item()
    assert program.aborted == 1
    decide(batch, CODED)
    assert program.started == 2


def test_the_end_of_the_episode_cuts_both(yielded, decide, make_action):
    batch, (first, second) = yielded(make_action("other", "idle"), length=5)
    finished = decide(batch, OTHER)
    assert (finished.over.item(), finished.outcomes) == (True, ("cut",))
    assert (first.aborted, second.aborted) == (1, 1)


def test_the_end_of_a_rollout_drops_what_was_set_aside(yielded, decide):
    batch, (program,) = yielded()
    decide(batch, LEFT)
    batch.interrupt_all()
    assert program.aborted == 1
    decide(batch, CODED)
    assert program.started == 2


def test_a_running_action_stays_choosable_whatever_its_precondition(yielded, decide):
    batch, (program,) = yielded(precondition="x <= 1")
    assert batch.masks(HERE)[0, CODED]
    decide(batch, NOOP)
    assert not batch.masks(HERE)[0, CODED], "set aside it may be taken up where it may begin"
    decide(batch, LEFT)
    assert batch.masks(HERE)[0, CODED]
    decide(batch, CODED)
    assert program.started == 1


def test_one_that_has_ended_is_not_choosable_as_if_it_ran(begun, decide, make_action):
    batch = begun(make_action(code="hop", precondition="x <= 1"))
    assert batch.masks(HERE)[0, CODED]
    decide(batch, CODED)
    assert not batch.masks(HERE)[0, CODED]


def test_what_came_true_while_others_acted_is_no_edge(begun, decide, make_action):
    action = make_action(code="idle", interrupt="x >= 2", max_frames=10)
    batch = begun(action, rechoice=Rechoice("edge", 4))
    assert decide(batch, CODED).frames.item() == 4
    for _ in range(2):
        decide(batch, RIGHT)
    assert decide(batch, CODED).frames.item() == 4, "it is asked after four frames, not after one"


def test_places_do_not_mix_what_they_set_aside(begun, make_action, sandbox):
    action = make_action(code="east", interrupt="x >= 2", max_frames=3)
    batch = begun(action, starts=[((0, 0), (5, 5)), ((1, 0), (5, 5))])
    batch.choose(np.arange(2), np.array([CODED, CODED]))
    assert batch.advance().places.tolist() == [1]
    batch.choose(np.array([1]), np.array([LEFT]))
    assert batch.advance().places.tolist() == [0, 1]
    batch.choose(np.arange(2), np.array([LEFT, CODED]))
    assert batch.advance().outcomes == ("", "yielded")
    batch.choose(np.arange(2), np.array([CODED, CODED]))
    finished = batch.advance()
    assert finished.outcomes == ("out_of_frames", "out_of_frames")
    assert [program.started for program in sandbox.programs] == [1, 1]
    assert [program.heard for program in sandbox.programs] == [
        [True, True, False, True],
        [True, False, True, True],
    ]
