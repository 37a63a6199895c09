from __future__ import annotations

import numpy as np
import pytest

from engine.worlds.crafter import codes
from engine.worlds.crafter.env import CrafterEnv
from engine.worlds.registry import get_world

PRIMITIVES = get_world("crafter").primitives


@pytest.mark.parametrize("seed", range(6))
def test_memory_holds_what_was_in_view_and_nothing_else(seed: int):
    env = CrafterEnv()
    env.reset(seed=seed)
    random = np.random.default_rng(seed)
    seen = np.zeros((64, 64), bool)
    shown = np.zeros((64, 64), np.uint8)
    for frame in range(500):
        px, py = (int(part) for part in env.game.player.pos)
        window = np.s_[max(px - 4, 0) : px + 5, max(py - 3, 0) : py + 4]
        seen[window] = True
        shown[window] = env.game.world.material_map[window]
        memory = env.player.memory
        assert memory.position == (px, py)
        assert not memory.known[~seen].any()
        assert np.array_equal(memory.known[seen], shown[seen])
        for x, y in zip(*np.nonzero(memory.creatures), strict=True):
            assert abs(x - px) <= 4
            assert abs(y - py) <= 3
            assert env.game.world[(x, y)][1] is not None
        env.game.player.inventory.update(health=9, food=9, drink=9)
        action = env.player.answer("explore", (), {}) if frame % 3 else None
        number = PRIMITIVES.index(action) if action else int(random.integers(17))
        ahead = codes.DIRECTION.get(PRIMITIVES[number])
        if ahead and env.player.answer("look", ahead, {}) == "lava":
            number = 0
        if any(env.step(np.int64(number))[2:4]):
            break
    assert seen.sum() > 63


def test_position_is_reckoned_also_over_sleep_and_against_the_border(scene):
    here = scene("@", fill=".", energy=3, wood=1)
    for action in ["sleep", *["move_left"] * 3, *["noop"] * 3]:
        here.act(action)
    assert here.ask("sleeping") is True
    assert here.ask("position") == codes.START
    here.inventory["energy"] = 9
    here.env.player.memory.inventory[:4] = 9
    here.act("move_left")
    assert here.ask("sleeping") is False
    for _ in range(40):
        here.act("move_left")
        here.inventory.update(food=9, drink=9)
    assert here.ask("position") == (0, 32) == tuple(here.env.game.player.pos)
    assert here.ask("look", -1, 0) == "edge"
    assert here.ask("in_front") == "edge"


def test_cows_and_plants_are_remembered_where_they_were_seen(scene):
    here = scene("C . . . @ . . p", fill=".")
    for _ in range(6):
        here.act("move_down")
    assert here.ask("look", -4, -6) == "grass"
    assert here.ask("seen", "cow") is True
    assert here.ask("seen", "plant") is True
    assert here.ask("seen", "ripe_plant") is False
    assert here.ask("approach", "cow") in ("move_up", "move_left")
    cow = here.env.game.world.objects[1]
    here.env.game.world.remove(cow)
    for _ in range(6):
        here.act("move_up")
    assert here.ask("seen", "cow") is False
    assert here.ask("seen", "plant") is True


def test_terms_are_the_vocabulary():
    env = CrafterEnv()
    env.reset(seed=0)
    vocabulary = get_world("crafter").vocabulary()
    assert env.player.terms().keys() == vocabulary.numbers
    for name in vocabulary.numbers | vocabulary.flags:
        assert isinstance(env.player.term(name), float)
    for test, arguments in vocabulary.tests.items():
        for argument in arguments:
            assert env.player.term(test, argument) in (0.0, 1.0)
    assert env.player.term("health") == 9.0
    assert env.player.term("threat") == 99.0
    assert env.player.term("seen", "grass") == 1.0
    with pytest.raises(Exception, match="no term 'gold'"):
        env.player.term("gold")
    with pytest.raises(Exception, match=r"no term 'near\(gold\)'"):
        env.player.term("near", "gold")
