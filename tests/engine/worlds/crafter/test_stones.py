from __future__ import annotations

import pytest

START = (32, 32)


def _sides(here, plant):
    world = here.env.game.world
    return [world[plant[0] + dx, plant[1] + dy][0] for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1))]


@pytest.mark.parametrize(
    ("drawing", "stones"),
    [
        ("@ p . .", 4),
        (". . . .\n. p . .\n. @ . .", 4),
        ("# # .\n# p @\n# . .", 2),
        ("~ p T\n. @ .", 2),
        ("@ . . R . .", 4),
    ],
)
def test_a_plant_is_fenced_on_all_sides(scene, drawing, stones):
    here = scene(drawing, fill=".", stone=stones, wood_pickaxe=1)
    rows = [line.split() for line in drawing.splitlines()]
    at = {cell: (x, y) for y, row in enumerate(rows) for x, cell in enumerate(row)}
    thing = at.get("p") or at["R"]
    plant = (START[0] + thing[0] - at["@"][0], START[1] + thing[1] - at["@"][1])
    assert here.ask("fenced") is False
    here.repeat("step_to_fence", until=None, limit=60)
    assert here.ask("fenced") is True
    assert here.env.player.term("fenced") == 1
    assert not {"grass", "path", "sand"} & set(_sides(here, plant))


def test_a_fence_takes_a_plant_and_a_stone(scene):
    assert scene("@ p", fill=".").ask("step_to_fence") is None
    assert scene("@ .", fill=".", stone=4).ask("step_to_fence") is None
    assert scene("~ # ~\n~ p #\n# # #\n. @ .", fill=".", stone=4).ask("step_to_fence") is None


def test_the_fence_already_there_is_left_alone(scene):
    here = scene(". # .\n# p .\n. # .\n. @ .", fill=".", stone=1, wood_pickaxe=1)
    actions = here.repeat("step_to_fence", until=None, limit=40)
    assert actions.count("place_stone") == 1
    assert "do" not in actions
