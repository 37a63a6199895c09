"""Rules with chance. Both draw the same numbers, so each trial must agree exactly.

That each outcome of a rule occurred is asserted beside it, with the package's probabilities where
they can be counted (within four standard errors of the number of trials).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from crafter import objects

from engine.worlds.crafter.codes import SIZE

TRIALS = 150


def near_share(found: int, trials: int, share: float) -> bool:
    """Whether a share of trials is a probability's within four standard errors."""
    return abs(found / trials - share) <= 4 * math.sqrt(share * (1 - share) / trials)


def step_of(before: np.ndarray, thing: Any) -> tuple[int, int]:
    """How far a thing went."""
    dx, dy = (thing.pos - before).tolist()
    return dx, dy


def test_cows_go_every_way_half_of_the_time(pair: Any):
    steps: list[tuple[int, int]] = []
    for stream in range(TRIALS):
        both = pair.drawn("@....\n...C.\n.....", fill=".", stream=stream)
        cow = both.things(objects.Cow)[0]
        before = cow.pos.copy()
        both.act("noop")
        steps.append(step_of(before, cow))
    assert len(set(steps)) == 5
    assert near_share(steps.count((0, 0)), TRIALS, 0.5)


@pytest.mark.parametrize("offset", [(1, 0), (2, 0), (0, 3), (3, 2), (2, 2), (8, 0), (8, 1), (9, 8)])
def test_zombies_approach_and_hit(pair: Any, offset: tuple[int, int]):
    healths, closer = [], 0
    for stream in range(TRIALS):
        both = pair.drawn("@", fill=".", stream=stream)
        at = both.game.player.pos + offset
        both.game.world.add(objects.Zombie(both.game.world, at, both.game.player))
        both.reload()
        zombie = both.things(objects.Zombie)[0]
        for frame in range(8):
            both.act("noop", thorough=frame % 4 == 3)
            if frame == 0:
                closer += int(zombie.distance(both.game.player) < sum(offset))
        healths.append(both.held["health"])
    assert (closer > 0) == (sum(offset) > 1)
    assert (min(healths) < 9) == (sum(offset) <= 9)


def test_zombies_hit_sleepers_harder(pair: Any):
    for sleeping, health in ((False, 7), (True, 2)):
        both = pair.drawn("###\n@Z#\n###", energy=3)
        both.game.player.sleeping = sleeping
        both.reload()
        both.act("noop")
        assert both.held["health"] == health
        for _ in range(12):  # the cooldown, and the next hit
            both.act("noop")


def test_a_struck_zombie_still_acts_in_the_frame_of_its_death(pair: Any):
    both = pair.drawn("###\n@Z#\n###", iron_sword=1)
    both.act("do")
    assert "defeat_zombie" in both.reached
    assert both.held["health"] == 7
    assert not both.things(objects.Zombie)


@pytest.mark.parametrize("far", range(1, 11))
def test_skeletons_back_off_shoot_approach_and_wander(pair: Any, far: int):
    seen = {"shot": 0, "away": 0, "closer": 0, "still": 0}
    for stream in range(TRIALS):
        both = pair.drawn("@" + "_" * (far - 1) + "S" + "__" + "\n" + "_" * 13, "_", stream=stream)
        skeleton = both.things(objects.Skeleton)[0]
        both.act("noop")
        went = int(skeleton.distance(both.game.player)) - far
        shot = bool(both.things(objects.Arrow))
        seen["shot"] += shot
        seen["away" if went > 0 else "closer" if went < 0 else "still"] += 1
        for _ in range(8):
            both.act("noop", thorough=False)
        both.check()
    assert (seen["shot"] > 0) == (2 <= far <= 5)
    assert (seen["closer"] > 0) == (far > 1)
    assert seen["away"] > 0
    if far in (4, 5):
        assert near_share(seen["shot"], TRIALS, 0.5)


def test_cornered_skeletons_shoot_again_after_reloading(pair: Any):
    shots = 0
    for stream in range(40):
        both = pair.drawn("####\n@__S\n####", stream=stream, health=9)
        before: set[int] = set()
        for _ in range(25):
            both.hold(health=9, food=9, drink=9, energy=9)
            both.act("noop", thorough=False)
            now = {id(arrow) for arrow in both.things(objects.Arrow)}
            shots += len(now - before)
            before = now
        both.check()
    assert shots > 100


@pytest.mark.parametrize(
    "beyond", ["@", "#", "T", "~", "L", "t", "f", "C", "p", "Z", "S", "<", "."]
)
def test_arrows_hit_stop_or_fly_on(pair: Any, beyond: str):
    drawing = ">@" if beyond == "@" else f"@####\n#>{beyond}_#"
    both = pair.drawn(drawing)
    for _ in range(4):
        both.act("noop")
    assert (both.held["health"] == 7) == (beyond == "@")
    if beyond in "tf":
        cell = both.game.player.pos + np.array((2, 1))
        assert both.game.world[cell][0] == "path"


def test_arrows_leave_the_map(pair: Any):
    for corner, heading in (((0, 0), "<"), ((SIZE - 1, SIZE - 1), ">")):
        drawing = f"@\n{heading}" if corner == (0, 0) else f"{heading}\n@"
        both = pair.drawn(drawing, at=corner)
        assert both.things(objects.Arrow)
        both.act("noop")
        assert not both.things(objects.Arrow)


def test_arrows_kill_creatures_and_plants(pair: Any):
    for letter, kind in (("C", objects.Cow), ("Z", objects.Zombie), ("p", objects.Plant)):
        both = pair.drawn(f"@####\n#>{letter}##\n#####")
        both.things(kind)[0].health = 1
        both.reload()
        both.act("noop")
        both.act("noop")
        assert not both.things(kind)


@pytest.mark.parametrize("eater", "CZS")
def test_plants_are_eaten_by_what_stands_beside_them(pair: Any, eater: str):
    both = pair.drawn(f"@####\n##p{eater}#\n#####")
    both.act("noop")
    assert not both.things(objects.Plant)


def test_plants_outlast_arrows_that_pass_and_players_who_wait(pair: Any):
    both = pair.drawn("@p#\n__v")
    for _ in range(3):
        both.act("noop")
    assert both.things(objects.Plant)


@pytest.mark.parametrize("far", [16, 17, 18, 19])
def test_things_far_away_stand_still(pair: Any, far: int):
    moved = 0
    for stream in range(20):
        both = pair.drawn("@" + "." * (far - 1) + "C", fill=".", stream=stream)
        cow = both.things(objects.Cow)[0]
        before = cow.pos.copy()
        both.act("noop")
        moved += step_of(before, cow) != (0, 0)
    assert (moved > 0) == (far < 18)
