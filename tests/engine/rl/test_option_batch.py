"""Decisions of one frame and of many: rewards, discounts, and every way to end."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.rl.decisions import Bonus, Rechoice
from engine.rl.option_set import OptionSet

NOOP, LEFT, RIGHT, UP, DOWN, TAKE, CODED, OTHER = range(8)


def told(finished):
    """Reward, discount, frames, over and cut of the only decision that ended."""
    columns = (finished.rewards, finished.discounts, finished.frames, finished.over, finished.cut)
    return tuple(column.item() for column in columns)


def test_a_primitive_is_one_frame(begun, decide):
    finished = decide(begun(gem=(0, 0)), TAKE)
    assert told(finished) == (1.0, 0.5, 1, False, False)
    assert (finished.places.tolist(), finished.outcomes) == ([0], ("",))


def test_a_coded_action_returns_its_discounted_sum(begun, decide, make_action):
    batch = begun(make_action(), gem=(2, 1))
    finished = decide(batch, CODED)
    assert told(finished) == (0.5**3, 0.5**4, 4, False, False)
    assert finished.outcomes == ("success",)
    assert batch.returns.tolist() == [1.0]


def test_every_frame_of_a_coded_action_counts(begun, decide, make_action):
    goals = {"one": "x >= 1", "two": "x >= 2", "three": "x >= 3"}
    batch = begun(make_action(code="hop"), goals=goals, bonus=Bonus(goal=1.0))
    finished = decide(batch, CODED)
    assert told(finished) == (1 + 0.5 + 0.25, 0.125, 3, False, False)
    assert finished.outcomes == ("failed",), "its predicate is not true"
    assert batch.returns.tolist() == [0.0], "bonuses are not the world's"


def test_death_ends_the_episode_inside_a_coded_action(begun, decide, make_action, sandbox):
    batch = begun(make_action(), at=(4, 4), gem=(5, 5))
    finished = decide(batch, CODED)
    assert told(finished) == (-0.5, 0.25, 2, True, False)
    assert (finished.outcomes, finished.last.size) == (("died",), 0)
    (summary,) = finished.summaries
    assert (summary.episodic_return, summary.frames) == (-1.0, 2)
    assert sandbox.programs[0].aborted == 1
    assert batch.batch.frames(0) == 0, "the next episode has begun"
    assert batch.returns.tolist() == [0.0]
    decide(batch, CODED)
    assert len(sandbox.programs) == 1


def test_running_out_of_frames_gives_what_was_seen_last(begun, decide, make_action):
    batch = begun(make_action(), gem=(4, 0), length=3)
    finished = decide(batch, CODED)
    assert told(finished) == (0.0, 0.125, 3, True, True)
    assert finished.outcomes == ("cut",)
    assert finished.summaries[0].frames == 3
    seen = [1, 0, 0, 3 / 5, 0, 1]
    assert batch.batch.term_names == ("frames", "gems", "x", "on_gem", "unlocked(take_gem)")
    # log1p(3) / 2 of three frames and the third column.
    terms = [0.6931472, 0, 0.6931472, 0, 0]
    may_run, done, running, comes_next = 3, 0, 0, 3
    expected = np.array([*seen, *terms, may_run, done, running, comes_next], np.float32)
    assert np.allclose(finished.last, expected[None], rtol=0, atol=1e-6)


def test_dying_in_the_last_frame_is_death(begun, decide, make_action):
    batch = begun(make_action(), at=(4, 4), gem=(5, 5), length=2)
    finished = decide(batch, CODED)
    assert told(finished) == (-0.5, 0.25, 2, True, False)


def test_an_episode_may_end_with_its_task(begun, decide, make_action):
    settings = {"gem": (1, 0), "task_success": "gems >= 1", "bonus": Bonus(task=10.0)}
    endless = begun(make_action(), **settings)
    assert told(decide(endless, CODED)) == (11 * 0.5, 0.25, 2, False, False)
    batch = begun(make_action(), end_on_success=True, **settings)
    finished = decide(batch, CODED)
    assert told(finished) == (11 * 0.5, 0.25, 2, True, False)
    assert finished.outcomes == ("done",)
    (summary,) = finished.summaries
    assert (summary.task_success, summary.episodic_return) == (True, 1.0)
    assert batch.batch.frames(0) == 0


@pytest.mark.parametrize("interrupt", ["edge", "level"])
def test_its_interrupt_rule_puts_it_to_the_policy(begun, decide, make_action, interrupt):
    goals = {"one": "x >= 1", "two": "x >= 2"}
    batch = begun(
        make_action(code="east", interrupt="x >= 2"),
        goals=goals,
        bonus=Bonus(goal=1.0),
        rechoice=Rechoice(interrupt),
    )
    finished = decide(batch, CODED)
    assert told(finished) == (1.5, 0.25, 2, False, False)
    assert finished.outcomes == ("yielded",)
    assert batch.waiting.tolist() == [0]


def frames_until_asked(batch, decide, times):
    return [decide(batch, CODED).frames.item() for _ in range(times)]


def test_an_edge_fires_when_the_rule_comes_true_again(begun, decide, make_action):
    # x: 1 2 1 0 1 2 1 0 ...
    action = make_action(code="pace", interrupt="x >= 2")
    assert frames_until_asked(begun(action), decide, 3) == [2, 4, 4]
    # Begun where it holds: 3 4 3 2 3 ..., never false.
    later = begun(action, at=(2, 0))
    assert frames_until_asked(later, decide, 1) == [20]


def test_a_level_asks_in_each_frame_in_which_the_rule_holds(begun, decide, make_action):
    action = make_action(code="pace", interrupt="x >= 2")
    batch = begun(action, rechoice=Rechoice("level"))
    assert frames_until_asked(batch, decide, 3) == [2, 4, 4]
    batch = begun(action, at=(1, 0), rechoice=Rechoice("level"))
    # x: 2 3 2 1 2 3 2
    assert frames_until_asked(batch, decide, 6) == [1, 1, 1, 2, 1, 1]


@pytest.mark.parametrize(("every", "asked"), [(0, [20]), (1, [1] * 20), (8, [8, 8, 4])])
def test_it_is_asked_every_so_many_frames(begun, decide, make_action, every, asked):
    batch = begun(make_action(code="idle"), rechoice=Rechoice(every=every))
    assert frames_until_asked(batch, decide, len(asked)) == asked
    assert batch.decisions.tolist() == [len(asked)]


def test_its_own_end_comes_before_any_question(begun, decide, make_action):
    batch = begun(make_action(code="hop", interrupt="x >= 3"), rechoice=Rechoice(every=3))
    assert decide(batch, CODED).outcomes == ("failed",)
    batch = begun(make_action(code="east", interrupt="x >= 3", max_frames=3))
    assert decide(batch, CODED).outcomes == ("out_of_frames",)


def test_the_end_of_a_rollout_ends_every_decision(begun, make_action, sandbox):
    goals = {"one": "x >= 1", "two": "x >= 2"}
    batch = begun(make_action(code="east"), goals=goals, bonus=Bonus(goal=1.0))
    assert batch.choose(np.array([0]), np.array([CODED])).size == 0
    assert [batch.advance().places.size for _ in range(3)] == [0, 0, 0]
    finished = batch.interrupt_all()
    assert told(finished) == (1.5, 0.125, 3, False, False)
    assert (finished.outcomes, finished.summaries) == (("yielded",), ())
    assert (batch.waiting.tolist(), sandbox.programs[0].aborted) == ([0], 1)
    assert batch.interrupt_all().places.size == 0
    batch.choose(np.array([0]), np.array([CODED]))
    assert (len(sandbox.programs), sandbox.programs[0].started) == (1, 2)


def test_decisions_can_end_without_forgetting_what_runs(begun, make_action, sandbox):
    batch = begun(make_action("idle", "idle", max_frames=9))
    for frames in (1, 2):
        batch.choose(np.array([0]), np.array([CODED]))
        for _ in range(frames):
            batch.advance()
        finished = batch.interrupt_all(forget=False)
        assert (finished.places.tolist(), finished.frames.tolist()) == ([0], [frames])
    program = sandbox.programs[0]
    assert (program.started, program.aborted) == (1, 0), "the same execution goes on"
    batch.interrupt_all()
    assert program.aborted == 1


def test_a_coded_action_may_end_without_a_frame(begun, decide, make_action):
    batch = begun(make_action(code="nothing", success="true"), make_action("other"), gem=(0, 0))
    before = batch.observe(batch.waiting)
    assert batch.choose(np.array([0]), np.array([CODED])).tolist() == [0]
    assert batch.waiting.tolist() == [0]
    assert np.array_equal(before[:, :6], batch.observe(batch.waiting)[:, :6])
    assert batch.masks(batch.waiting)[0].tolist() == [True] * 6 + [False, True]
    with pytest.raises(ValueError, match="masked"):
        batch.choose(np.array([0]), np.array([CODED]))
    assert told(decide(batch, TAKE)) == (1.0, 0.5, 1, False, False)
    assert batch.masks(batch.waiting)[0, CODED]
    assert (batch.decisions.tolist(), batch.coded_decisions.tolist()) == ([2], [1])
    assert batch.batch.frames(0) == 1


def test_no_place_waits_for_another(begun, make_action):
    gems = [(4, 0), (5, 0), (1, 0), (0, 0)]
    batch = begun(make_action(), starts=[((0, 0), gem) for gem in gems])
    chosen = np.array([CODED, LEFT, CODED, CODED])
    ended = []
    for frame in range(1, 6):
        batch.choose(batch.waiting, chosen[batch.waiting])
        finished = batch.advance()
        ended.append(finished.places.tolist())
        assert [batch.batch.frames(place) for place in range(4)] == [frame] * 4
        # From its first gem on, each goes on with noop.
        chosen[finished.places[finished.places != 1]] = NOOP
    # Gems 4, 1 and 0 cells away take 5, 2 and 1 frames.
    assert ended == [[1, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3], [0, 1, 2, 3]]
    assert batch.decisions.tolist() == [1, 5, 4, 5]


def test_usage_counts_frames_by_chosen_action(begun, decide, make_action):
    batch = begun(make_action(), make_action("other", "idle", max_frames=4), gem=(2, 1))
    for action in (CODED, NOOP, OTHER, NOOP):
        decide(batch, action)
    assert batch.usage.tolist() == [2, 0, 0, 0, 0, 0, 4, 4]


def test_frames_are_shown_with_a_caption(begun, make_action):
    shown = []
    batch = begun(
        make_action(),
        starts=[((0, 0), (1, 0)), ((0, 0), (4, 0))],
        on_frame=lambda view, text: shown.append((view, text)),
    )
    seen = []
    for actions in ([LEFT, NOOP], [CODED, NOOP], [NOOP]):
        batch.choose(batch.waiting, np.array(actions))
        batch.advance()
        view, text = shown[-1]
        seen.append((view.episode_frames, text, view.player.term("x"), view.frame(8).shape))
    shape = (8, 8, 3)
    assert seen == [(1, "left", 0, shape), (2, "fetch_gem", 1, shape), (3, "fetch_gem", 1, shape)]
    assert len(shown) == 3, "of the first place alone"


def test_a_tick_after_each_frame_may_stop_everything(begun, make_action, sandbox):
    ticks = []

    def tick():
        ticks.append(1)
        if len(ticks) == 2:
            raise KeyboardInterrupt

    batch = begun(make_action(), tick=tick)
    batch.choose(np.array([0]), np.array([CODED]))
    batch.advance()
    with pytest.raises(KeyboardInterrupt):
        batch.advance()
    batch.options.close()
    assert all(program.closed for program in sandbox.programs)


def test_a_state_goes_on_exactly(make_batch, make_action):
    settings = {"goals": {"first": "gems >= 1"}, "bonus": Bonus(1, 1), "size": 3, "length": 9}
    actions = (make_action(max_frames=4), make_action("other", "pace", interrupt="x >= 2"))

    def play(batch, choices):
        seen = []
        for choice in choices:
            waiting = batch.waiting
            batch.choose(waiting, np.full(len(waiting), choice))
            finished = batch.advance()
            summaries = [summary.seed for summary in finished.summaries]
            seen.append(
                (batch.observe(np.arange(3)).tolist(), finished.rewards.tolist(), summaries)
            )
        return seen

    choices = np.random.default_rng(0).integers(0, 8, 120).tolist()
    batch = make_batch(*actions, **settings)
    batch.begin()
    play(batch, choices[:50])
    batch.interrupt_all()
    other = make_batch(*actions, **settings)
    for place in range(3):
        other.batch.restore(place, batch.batch.snapshot(place))
        other.seeds.restore(place, batch.seeds.state(place))
        for name in ("returns", "decisions", "coded_decisions"):
            getattr(other, name)[place] = getattr(batch, name)[place]
        other.goals.reached[place] = batch.goals.reached[place]
        other.goals.armed[place] = batch.goals.armed[place]
        other.resume(place, batch.seed(place))
    assert play(other, choices[50:]) == play(batch, choices[50:])


def test_two_actions_of_one_name_are_refused(world, make_action, sandbox):
    with pytest.raises(ConfigError, match="fetch_gem"):
        OptionSet(world, [make_action(), make_action()], sandbox)


def test_programs_are_used_again_and_all_closed(begun, make_action, sandbox):
    actions = (make_action(), make_action("other", "idle", max_frames=2))
    batch = begun(*actions, starts=[((0, 0), (4, 0))] * 3)
    assert len(sandbox.programs) == 2, "one of each is loaded at once"
    batch.choose(np.arange(2), np.array([CODED, CODED]))
    assert len(sandbox.programs) == 3, "as many as run at once"
    for _ in range(5):
        batch.advance()
    assert batch.waiting.tolist() == [0, 1, 2]
    batch.choose(np.arange(3), np.array([OTHER, CODED, CODED]))
    batch.interrupt_all()
    batch.choose(np.arange(2), np.array([CODED, CODED]))
    assert len(sandbox.programs) == 3
    assert sum(program.started for program in sandbox.programs) == 2 + 3 + 2
    batch.options.close()
    assert [program.closed for program in sandbox.programs] == [True] * 3
