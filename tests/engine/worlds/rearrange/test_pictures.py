"""What is observed of a batch, and that nothing is drawn twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.worlds.rearrange.batch import LEAVE, RearrangeBatch
from engine.worlds.rearrange.goals import Or
from engine.worlds.rearrange.names import ACTION_INDEX
from engine.worlds.rearrange.pictures import Pictures, key_of
from engine.worlds.rearrange.render import View, render


class Pencil:
    """Draws as the renderer does, and counts."""

    def __init__(self) -> None:
        self.drawn = 0

    def __call__(self, views: Sequence[View]) -> NDArray[np.uint8]:
        self.drawn += len(views)
        return render(views, 32)


@pytest.fixture
def pencil() -> Pencil:
    return Pencil()


def start(hand: Any, pencil: Pencil, size: int) -> RearrangeBatch:
    """Equal episodes that look at an apple on the sofa and never succeed."""
    batch = RearrangeBatch(size, picture=32, flats=lambda macro, variant: hand.layout, draw=pencil)
    x, y, _ = hand.where("sofa")
    episode = hand.episode([("apple", "sofa")], goal=Or(()), start=(x, y - 1.5, 1.57))
    for index in range(size):
        batch.begin(index, replace(episode, id=str(index)))
    return batch


def do(batch: RearrangeBatch, *names: str) -> None:
    batch.step(np.array([ACTION_INDEX[name] if name else LEAVE for name in names]))


def test_pictures_are_what_the_renderer_draws(hand: Any, pencil: Pencil) -> None:
    batch = start(hand, pencil, 2)
    do(batch, "nav(sofa)", "nav(chair)")
    seen = batch.observe([1, 0])
    assert seen.shape == (2, 32, 32, 3)
    assert seen.dtype == np.uint8
    assert np.array_equal(seen, render([batch.view(1), batch.view(0)], 32))
    assert not np.array_equal(seen[0], seen[1])
    assert batch.observe([]).shape == (0, 32, 32, 3)


def test_equal_content_is_the_same_picture_and_drawn_once(hand: Any, pencil: Pencil) -> None:
    batch = start(hand, pencil, 3)
    batch.observe(range(3))
    assert pencil.drawn == 1
    assert batch.frame(0) is batch.frame(2)
    assert len(set(batch.picture_keys(range(3)))) == 1
    do(batch, "nav(sofa)", "nav(chair)", "nav(sofa)")
    batch.observe(np.arange(3))
    assert pencil.drawn == 3
    keys = batch.picture_keys([0, 1, 2])
    assert keys[0] == keys[2] != keys[1]
    do(batch, "nav(chair)", "", "")
    assert batch.frame(0) is batch.frame(1)
    assert pencil.drawn == 3


def test_an_impossible_action_draws_nothing(hand: Any, pencil: Pencil) -> None:
    batch = start(hand, pencil, 1)
    before = batch.frame(0)
    do(batch, "pick_plum")
    assert batch.frame(0) is before
    assert pencil.drawn == 1


def test_every_change_is_seen(hand: Any, pencil: Pencil) -> None:
    batch = start(hand, pencil, 1)
    last = batch.picture_keys([0])
    for name in ("nav(sofa)", "pick_apple", "nav(fridge_push_point)", "open_fridge",
                 "close_fridge", "nav(sofa)", "place(sofa)"):  # fmt: skip
        do(batch, name)
        assert batch.picture_keys([0]) != last, name
        last = batch.picture_keys([0])
    batch.begin(0, replace(batch.episode(0), start=(1.0, 1.0, 0.5)))
    assert batch.picture_keys([0]) != last


def test_keys_depend_on_all_that_is_drawn(hand: Any, pencil: Pencil) -> None:
    view = start(hand, pencil, 1).view(0)
    others = [
        replace(view, pose=(1.0, 2.0, 3.0)),
        replace(view, joints=(0.0, 0.0, 0.0, 0.0, 1.22)),
        replace(view, held=0),
        replace(view, categories=view.categories + 1),
        replace(view, instances=view.instances + 1),
        replace(view, positions=view.positions + np.float32(0.1)),
        replace(view, layout=replace(view.layout, variant=1)),
    ]
    assert len({key_of(other) for other in [view, *others]}) == len(others) + 1
    assert key_of(replace(view, positions=view.positions.copy())) == key_of(view)


def test_a_caller_may_write_on_what_it_observed(hand: Any, pencil: Pencil) -> None:
    batch = start(hand, pencil, 1)
    seen = batch.observe([0])
    kept = seen.copy()
    seen[:] = 0
    assert np.array_equal(batch.observe([0]), kept)
    with pytest.raises(ValueError, match="read-only"):
        batch.frame(0)[:] = 0


def test_memory_for_pictures_is_bounded(hand: Any, pencil: Pencil) -> None:
    state = hand.state(hand.episode([("apple", "sofa")]))
    pictures = Pictures(1, pencil, kept_bytes=2 * 32 * 32 * 3)
    for name, drawn in (("sofa", 1), ("chair", 2), ("sofa", 2), ("sink", 3), ("sofa", 3),
                        ("chair", 4)):  # fmt: skip
        hand.do(state, f"nav({name})")
        pictures.forget(0)
        pictures.of([0], state, [hand.layout])
        assert pencil.drawn == drawn, name


def test_what_has_not_begun_cannot_be_observed() -> None:
    batch = RearrangeBatch(2)
    for look in (batch.observe, batch.picture_keys):
        with pytest.raises(ValueError, match="place 1: call `begin`"):
            look([1])
    with pytest.raises(ValueError, match="place 0: call `begin`"):
        batch.view(0)
