"""How creatures come and go by chunk; both draw the same numbers, so all must agree exactly."""

from __future__ import annotations

from typing import Any

import pytest
from crafter import objects

FILLS = {".": objects.Zombie, "_": objects.Skeleton}


@pytest.mark.parametrize("frame", [0, 100, 190, 240])
@pytest.mark.parametrize("fill", FILLS)
def test_creatures_come_where_there_is_room(pair: Any, fill: str, frame: int):
    both = pair.drawn("@", fill=fill, stream=frame)
    both.game._step = frame
    both.game._update_time()
    both.enter_everywhere()
    most = 0
    for index in range(60):
        both.hold(health=9, food=9, drink=9, energy=9)
        both.act("noop", thorough=index % 10 == 9)
        most = max(most, len(both.things(FILLS[fill])))
    # Zombies come in the dark; skeletons keep to tunnels, where it is always dark.
    if fill == "_":
        assert most > 10
    else:
        assert (most > 15) == (frame > 0)


def test_cows_come_slowly(pair: Any):
    both = pair.drawn("@", fill=".")
    both.enter_everywhere()
    for index in range(120):
        both.hold(health=9, food=9, drink=9, energy=9)
        both.act("noop", thorough=index % 10 == 9)
    assert 0 < len(both.things(objects.Cow)) < 36


@pytest.mark.parametrize("kind", [objects.Zombie, objects.Skeleton, objects.Cow])
def test_crowds_thin_out_in_the_same_order(pair: Any, kind: Any):
    # Who goes is drawn from the chunk's list, whose order comes from arrivals in the chunk.
    both = pair.drawn("@", fill="~", stream=7)
    world, player = both.game.world, both.game.player
    for x in range(24, 48):
        for y in range(24, 36):
            world[x, y] = "path" if kind is objects.Skeleton else "grass"
    for index in range(40):
        at = (player.pos[0] - 6 + index % 12, player.pos[1] - 6 + 2 * (index // 12))
        if world[at][1] is None:
            world.add(kind(world, at) if kind is objects.Cow else kind(world, at, player))
    both.reload()
    before = len(both.things(kind))
    for index in range(400):
        both.hold(health=9, food=9, drink=9, energy=9)
        both.act(("noop", "move_left", "noop", "move_right")[index % 4], thorough=index % 10 == 9)
    assert len(both.things(kind)) < before - 5


def test_without_ground_nothing_comes(pair: Any):
    both = pair.drawn("@", fill="#")
    for index in range(60):
        both.act("noop", thorough=index % 10 == 9)
    assert len(both.game.world.objects) == 1
