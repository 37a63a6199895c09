"""Rows never run out, and removed things leave no trace."""

from __future__ import annotations

from typing import Any

import numpy as np
from crafter import objects

from engine.worlds.crafter.twin.state import ROWS, SLACK


def test_a_map_full_of_things_fits(pair: Any):
    both = pair.drawn("@", fill=".")
    world = both.game.world
    for x in range(64):
        for y in range(64):
            if world[x, y][1] is None:
                world.add(objects.Plant(world, (x, y)) if x % 7 else objects.Cow(world, (x, y)))
    both.enter_everywhere()
    assert both.twin._records[both.place].alive == 64 * 64
    for action in ("noop", "move_left", "do", "noop", "sleep", *["noop"] * 8):
        both.act(action)
    assert both.twin._records[both.place].used <= ROWS


def test_gaps_close_and_the_order_stays(pair: Any):
    # A skeleton in a corner shoots on and on: hundreds of arrows come and go among other things.
    both = pair.drawn("####\n@__S\n####\n#pC#\n####", stream=3)
    place = both.twin._records[both.place]
    shot = 0
    for index in range(2500):
        both.hold(health=9, food=9, drink=9, energy=9)
        before = place.arrivals
        both.act("noop", thorough=index % 100 == 99)
        shot += place.arrivals > before
        assert place.used - place.alive <= SLACK + 3
    assert shot > 3 * SLACK
    kinds = place.things[: place.used, 0]
    assert np.count_nonzero(kinds) == place.alive
