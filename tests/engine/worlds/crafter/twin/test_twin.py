"""The batch itself: places that know nothing of each other, snapshots, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.worlds.base import REST
from engine.worlds.crafter.game import Game
from engine.worlds.crafter.twin.twin import Twin

FRAMES = 250


def actions_of(seed: int, frames: int = FRAMES) -> np.ndarray:
    """Random actions of one place."""
    return np.random.default_rng(seed).integers(17, size=frames)


def play(twin: Twin, columns: dict[int, np.ndarray]) -> dict[int, list[Any]]:
    """Play the actions of some places while the others rest; everything each place showed."""
    shown: dict[int, list[Any]] = {index: [] for index in columns}
    for frame in range(len(next(iter(columns.values())))):
        actions = np.full(twin.size, REST, np.int64)
        for index, column in columns.items():
            actions[index] = column[frame]
        rewards, dead = twin.step(actions)
        for index, rows in shown.items():
            rows.append((rewards[index], dead[index], look(twin, index)))
    return shown


def look(twin: Twin, index: int) -> list[Any]:
    """A place's percepts as plain values."""
    percepts = twin.percepts
    return [getattr(percepts, name)[index].tolist() for name in percepts.__slots__]


def test_no_place_has_any_influence_on_another():
    alone, crowd = Twin(1), Twin(5)
    alone.begin(0, 3)
    for index, seed in enumerate((8, 3, 3, 9, 10)):
        crowd.begin(index, seed)
    one = play(alone, {0: actions_of(1)})[0]
    many = play(crowd, {0: actions_of(2), 1: actions_of(1), 2: actions_of(1), 4: actions_of(5)})
    assert many[1] == many[2] == one
    assert many[0] != one
    assert crowd.frames.tolist() == [FRAMES, FRAMES, FRAMES, 0, FRAMES]


def test_beginning_anew_forgets_everything():
    twin = Twin(1)
    twin.begin(0, 3)
    first = [look(twin, 0), *play(twin, {0: actions_of(1)})[0]]
    twin.begin(0, 4)
    play(twin, {0: actions_of(2)})
    twin.begin(0, 3)
    assert [look(twin, 0), *play(twin, {0: actions_of(1)})[0]] == first


def test_a_resting_place_stays_as_it_is():
    twin = Twin(2)
    twin.begin(0, 1)
    twin.begin(1, 2)
    before = (twin.snapshot(0), look(twin, 0))
    for _ in range(20):
        rewards, dead = twin.step(np.array([REST, 3]))
        assert (rewards[0], dead[0]) == (0, False)
    after = (twin.snapshot(0), look(twin, 0))
    assert all(np.array_equal(before[0][name], after[0][name]) for name in before[0])
    assert before[1] == after[1]
    assert twin.frames.tolist() == [0, 20]


def test_a_place_that_never_began_rests():
    twin = Twin(2)
    twin.begin(1, 0)
    rewards, dead = twin.step(np.array([5, 5]))
    assert (rewards[0], dead[0]) == (0, False)
    assert twin.frames.tolist() == [0, 1]


def test_what_follows_a_snapshot_is_what_followed_before():
    twin, other = Twin(1), Twin(3)
    twin.begin(0, 6)
    play(twin, {0: actions_of(6, 120)})
    saved = twin.snapshot(0)
    first = play(twin, {0: actions_of(7)})[0]
    twin.restore(0, saved)
    assert play(twin, {0: actions_of(7)})[0] == first
    other.restore(2, saved)
    assert other.frames.tolist() == [0, 0, 120]
    assert play(other, {2: actions_of(7)})[2] == first


def test_a_snapshot_is_a_copy():
    twin = Twin(1)
    twin.begin(0, 6)
    saved = twin.snapshot(0)
    kept = {name: value.copy() for name, value in saved.items()}
    play(twin, {0: actions_of(6, 60)})
    assert all(np.array_equal(saved[name], kept[name]) for name in kept)


def test_the_official_game_goes_on_as_the_twin_does():
    twin = Twin(1, 5000)
    twin.begin(0, 11)
    play(twin, {0: actions_of(11, 150)})
    game = twin.game(0)
    assert (game.seed, game.episode, game.length, game.frames) == (11, 1, 5000, 150)
    assert game.frame(64).shape == (64, 64, 3)
    for action, row in zip(actions_of(12), play(twin, {0: actions_of(12)})[0], strict=True):
        advance = game.advance(int(action))
        assert (advance.reward, advance.dead) == row[:2]


def test_the_twin_goes_on_as_an_official_game_does():
    game = Game(10_000)
    game.begin(5, 3)  # a later episode, which a twin alone never plays
    for action in actions_of(1, 100):
        game.advance(int(action))
    twin = Twin(2)
    twin.load(1, game)
    assert twin.frames.tolist() == [0, 100]
    for row in play(twin, {1: actions_of(2)})[1]:
        advance = game.advance(int(actions_of(2)[game.frames - 100]))
        assert (advance.reward, advance.dead) == row[:2]


@pytest.mark.parametrize("action", [-2, 17, 1000])
def test_an_action_that_is_none_changes_nothing(action: int):
    twin = Twin(2)
    twin.begin(0, 0)
    twin.begin(1, 1)
    with pytest.raises(ValueError, match=rf"place 1 must be 0\.\.16 or -1 to rest, not {action}"):
        twin.step(np.array([0, action]))
    assert twin.frames.tolist() == [0, 0]


def test_no_place_has_more_frames_than_its_length():
    twin = Twin(1, 3)
    twin.begin(0, 0)
    for _ in range(3):
        twin.step(np.array([0]))
    with pytest.raises(ValueError, match=r"place 0 has had all its 3 frames"):
        twin.step(np.array([0]))
    twin.begin(0, 0)
    twin.step(np.array([0]))


def test_wrong_shapes_sizes_and_places_are_refused():
    for size, length in ((0, None), (1, 0)):
        with pytest.raises(ValueError, match="must be at least 1"):
            Twin(size, length)
    twin = Twin(2)
    with pytest.raises(ValueError, match=r"shape \(2,\), not \(3,\)"):
        twin.step(np.zeros(3, np.int64))
    for index in (-1, 2):
        with pytest.raises(ValueError, match=rf"index must be 0\.\.1, not {index}"):
            twin.begin(index, 0)


def broken(state: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """A snapshot with one array changed."""
    return {**state, name: np.asarray(value, state[name].dtype)}


def test_a_damaged_snapshot_is_refused_and_changes_nothing():
    twin = Twin(1)
    twin.begin(0, 2)
    play(twin, {0: actions_of(3, 50)})
    state = twin.snapshot(0)
    outside = state["things"].copy()
    outside[1, 1] = 64
    twice = state["things"].copy()
    twice[2] = twice[1]
    damaged = [
        {name: value for name, value in state.items() if name != "stream"},
        {**state, "more": state["frame"]},
        broken(state, "materials", state["materials"][:10]),
        {**state, "needs": state["needs"].astype(np.float32)},
        broken(state, "materials", np.full((64, 64), 13)),
        broken(state, "things", outside),
        broken(state, "things", twice),
        broken(state, "things", state["things"][:-1]),
        broken(state, "facing", 4),
        broken(state, "stream_position", 625),
        broken(state, "stream_position", -1),
        broken(state, "used", 10**6),
        broken(state, "alive", 2),
        broken(state, "chunk_count", 37),
        broken(state, "frame", -1),
    ]
    before = look(twin, 0)
    for wrong in damaged:
        with pytest.raises(ValueError, match="state"):
            twin.restore(0, wrong)
    assert look(twin, 0) == before
    now = twin.snapshot(0)
    assert all(np.array_equal(now[name], state[name]) for name in state)
