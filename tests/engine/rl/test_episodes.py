"""Where episodes are played: endless seeds in training, a list of them in evaluation."""

from __future__ import annotations

import numpy as np

from engine.rl.episodes import ListedSeeds, TrainingSeeds

NOOP, CODED = 0, 6


def test_training_seeds_stay_below_the_limit_and_differ():
    seeds = TrainingSeeds(3, 2, limit=50)
    first = [seeds.next_seed(0) for _ in range(30)]
    second = [seeds.next_seed(1) for _ in range(30)]
    assert max(first + second) < 50
    assert len(set(first)) > 10
    assert first != second, "each place has a stream of its own"
    again = TrainingSeeds(3, 2, limit=50)
    assert [again.next_seed(1) for _ in range(30)] == second, "whoever was asked before"
    assert [TrainingSeeds(4, 2, limit=50).next_seed(0) for _ in range(30)] != first


def test_a_stream_goes_on_from_its_state():
    seeds = TrainingSeeds(3, 2)
    for _ in range(5):
        seeds.next_seed(1)
    state = seeds.state(1)
    expected = [seeds.next_seed(1) for _ in range(10)]
    other = TrainingSeeds(8, 2)
    other.restore(1, state)
    assert [other.next_seed(1) for _ in range(10)] == expected


def test_listed_seeds_go_to_whoever_is_free():
    seeds = ListedSeeds(range(7, 10))
    assert [seeds.next_seed(place) for place in (1, 0, 1, 0, 1)] == [7, 8, 9, None, None]


def test_places_rest_when_no_seed_is_left(make_batch, make_action):
    batch = make_batch(make_action(code="idle", max_frames=3), size=3, length=4, seeds=range(5))
    batch.begin()
    steps = []
    step = batch.batch.step

    def watched(actions):
        steps.append(actions.tolist())
        return step(actions)

    batch.batch.step = watched
    summaries = []
    while batch.playing:
        waiting = batch.waiting
        batch.choose(waiting, np.full(len(waiting), CODED))
        summaries += batch.advance().summaries
    # Five episodes of four frames at three places: the third rests in the second round.
    assert steps == [[NOOP, NOOP, NOOP]] * 4 + [[NOOP, NOOP, -1]] * 4
    assert [summary.seed for summary in summaries] == [0, 1, 2, 3, 4]
    assert batch.waiting.tolist() == []
    assert [batch.seed(place) for place in range(3)] == [3, 4, 2]
    assert batch.usage.tolist() == [0] * 6 + [20]


def test_more_places_than_seeds(make_batch):
    batch = make_batch(size=3, length=2, seeds=[8])
    batch.begin()
    assert batch.waiting.tolist() == [0]
    for _ in range(2):
        batch.choose(np.array([0]), np.array([NOOP]))
        finished = batch.advance()
    assert [summary.seed for summary in finished.summaries] == [8]
    assert not batch.playing
