from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.worlds.base import REST, PlayerState
from engine.worlds.crafter.batch import CrafterBatch
from engine.worlds.crafter.env import CrafterEnv
from engine.worlds.registry import get_world

CRAFTER = get_world("crafter")
SEEDS = (0, 1, 2)
ASKS = (
    ("explore", ("any",)), ("approach", ("tree",)), ("approach", ("cow",)), ("step_to_shelter", ()),
    ("dodge", ()), ("distance", ("water",)), ("step_to_place", ("table",)),
)  # fmt: skip


def make_batch(training: bool, length: int | None = None, size: int = 3) -> CrafterBatch:
    batch = CRAFTER.make_batch(size, length, training=training)
    assert isinstance(batch, CrafterBatch)
    for index in range(size):
        batch.begin(index, SEEDS[index])
    return batch


def choose(players: Sequence[PlayerState], random: np.random.Generator) -> NDArray[np.int64]:
    """Actions of players that mostly do what a query says."""
    actions = np.zeros(len(players), np.int64)
    for index, player in enumerate(players):
        name, args = ASKS[int(random.integers(len(ASKS)))]
        answer = player.answer(name, args, {})
        wild = int(random.integers(len(CRAFTER.primitives)))
        actions[index] = CRAFTER.primitives.index(answer) if isinstance(answer, str) else wild
    return actions


def all_of(batch: CrafterBatch) -> tuple[Any, ...]:
    """Everything a batch tells of the present moment."""
    answers = [[player.answer(name, args, {}) for name, args in ASKS] for player in batch.players]
    observations = batch.observe(np.arange(batch.size))
    frames = [batch.frames(index) for index in range(batch.size)]
    unlocked = [batch.achievements(index) for index in range(batch.size)]
    return batch.terms.tobytes(), observations.tobytes(), answers, frames, unlocked


def parts(step: Any) -> list[Any]:
    return [
        getattr(step, name).tolist() for name in ("rewards", "terminated", "truncated", "changed")
    ]


def test_a_batch_of_official_games_is_environments_side_by_side():
    batch = make_batch(training=False, length=120)
    envs = [CrafterEnv(length=120) for _ in SEEDS]
    for env, seed in zip(envs, SEEDS, strict=True):
        env.reset(seed=seed)
    random, same = np.random.default_rng(5), np.random.default_rng(5)
    over = False
    while not over:
        actions = choose(batch.players, random)
        assert np.array_equal(actions, choose([env.player for env in envs], same))
        step = batch.step(actions)
        observations = batch.observe(np.arange(batch.size))
        for index, env in enumerate(envs):
            observation, *rest, info = env.step(actions[index])
            assert np.array_equal(observation, observations[index])
            found = (step.rewards[index], step.terminated[index], step.truncated[index])
            assert found == tuple(rest)
            assert step.changed[index] == info["changed"]
            assert batch.achievements(index) == env.achievements
            assert batch.frames(index) == env.episode_frames
        over = bool((step.terminated | step.truncated).any())
    assert batch.frames(0) > 50


def test_the_twin_shows_its_players_what_official_games_show_them():
    twin, official = make_batch(training=True), make_batch(training=False)
    random, same = np.random.default_rng(6), np.random.default_rng(6)
    for _ in range(250):
        assert all_of(twin) == all_of(official)
        actions = choose(official.players, random)
        assert np.array_equal(actions, choose(twin.players, same))
        step, other = twin.step(actions), official.step(actions)
        assert parts(step) == parts(other)
        for index in np.flatnonzero(step.terminated).tolist():
            for batch in (twin, official):
                batch.begin(index, 50 + batch.frames(index))


@pytest.mark.parametrize("training", [True, False])
def test_terms_are_those_of_the_players_under_their_names(training: bool):
    batch = make_batch(training)
    vocabulary = CRAFTER.vocabulary()
    names = {*vocabulary.numbers, *vocabulary.flags}
    names |= {f"{test}({name})" for test, known in vocabulary.tests.items() for name in known}
    assert set(batch.term_names) == names
    assert len(batch.term_names) == len(names)
    random = np.random.default_rng(7)
    for _ in range(120):
        for index, player in enumerate(batch.players):
            for column, name in enumerate(batch.term_names):
                word, _, argument = name.rstrip(")").partition("(")
                assert batch.terms[index, column] == player.term(word, argument or None), name
        step = batch.step(choose(batch.players, random))
        for index in np.flatnonzero(step.terminated).tolist():
            batch.begin(index, 80 + index)


@pytest.mark.parametrize("training", [True, False])
def test_after_a_restore_the_same_frames_follow(training: bool):
    batch = make_batch(training, length=200)
    random = np.random.default_rng(8)
    for _ in range(60):
        all_of(batch)
        batch.step(choose(batch.players, random))
    saved = [batch.snapshot(index) for index in range(batch.size)]
    fresh = CRAFTER.make_batch(3, 200, training=training)
    assert isinstance(fresh, CrafterBatch)
    order = (2, 0, 1)
    for index, source in enumerate(order):
        fresh.restore(index, saved[source])
        assert fresh.snapshot(index) == saved[source]
    for _ in range(80):
        before, after = all_of(batch), all_of(fresh)
        assert [after[2][index] for index in range(3)] == [before[2][source] for source in order]
        actions = random.integers(len(CRAFTER.primitives), size=batch.size)
        step, again = batch.step(actions), fresh.step(actions[list(order)])
        assert parts(again) == [[part[source] for source in order] for part in parts(step)]
        assert np.array_equal(fresh.terms, batch.terms[list(order)])
        assert np.array_equal(fresh.observe(np.arange(3)), batch.observe(np.array(order)))
        if step.terminated.any():
            break
    batch.restore(0, saved[0])
    assert batch.snapshot(0) == saved[0]


@pytest.mark.parametrize("training", [True, False])
def test_places_rest_end_and_are_refused(training: bool):
    batch = make_batch(training, length=3, size=2)
    before = batch.snapshot(1)
    for _ in range(3):
        step = batch.step(np.array([0, REST]))
        assert parts(step)[0][1] == 0
        assert not step.terminated[1]
        assert not step.truncated[1]
    assert step.truncated.tolist() == [True, False]
    assert batch.snapshot(1) == before
    assert (batch.frames(0), batch.frames(1)) == (3, 0)
    with pytest.raises(ResetNeeded, match=r"\[0\]"):
        batch.step(np.array([0, 0]))
    batch.step(np.array([REST, 0]))
    with pytest.raises(ValueError, match=r"place 1 must be 0\.\.16"):
        batch.step(np.array([REST, 17]))
    batch.begin(0, 9)
    assert batch.step(np.array([0, REST])).truncated.tolist() == [False, False]
    with pytest.raises(ValueError, match=r"0\.\.1"):
        batch.observe(np.array([2]))
    picture = batch.frame(0, 27)
    assert picture.shape == (27, 27, 3)


@pytest.mark.parametrize("training", [True, False])
def test_a_damaged_or_foreign_snapshot_is_refused_and_changes_nothing(training: bool):
    batch = make_batch(training)
    batch.step(np.array([1, 2, 3]))
    saved = batch.snapshot(0)
    with np.load(io.BytesIO(saved), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    memory = arrays["memory"].copy()
    memory["x"] = 64

    def packed(**changed: Any) -> bytes:
        buffer = io.BytesIO()
        np.savez(buffer, **{**arrays, **changed})
        return buffer.getvalue()

    other = make_batch(not training)
    without = {name: array for name, array in arrays.items() if not name.startswith("game.")}
    buffer = io.BytesIO()
    np.savez(buffer, **without)
    bad = [
        b"", b"nonsense", saved[:-30], saved[: len(saved) // 2],
        packed(format=np.array("crafter-0")), packed(length=np.array(5)), packed(memory=memory),
        packed(memory=np.zeros(3)), other.snapshot(0), buffer.getvalue(),
        packed(over=np.array(None, object)),
    ]  # fmt: skip
    for snapshot in bad:
        with pytest.raises(EngineError) as caught:
            batch.restore(0, snapshot)
        assert caught.value.hint
        assert batch.snapshot(0) == saved
    batch.restore(1, saved)
    assert batch.snapshot(1) == saved
