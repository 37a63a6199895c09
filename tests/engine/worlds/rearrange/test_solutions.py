from __future__ import annotations

import numpy as np
import pytest

from engine.worlds.rearrange.layout import generate
from engine.worlds.rearrange.names import ACTIONS, CATEGORIES, ENTITIES, RECEPTACLE_NAMES
from engine.worlds.rearrange.solutions import carry, carry_near, go, in_reach, turn_fridge
from engine.worlds.rearrange.splits import KNOWN
from engine.worlds.rearrange.tasks import Demand, decide

APPLE, CUP = CATEGORIES.index("apple"), CATEGORIES.index("cup")
SINK, SOFA, BLACK, LEFT = (
    RECEPTACLE_NAMES.index(name) for name in ("sink", "sofa", "black_table", "left_counter")
)


def named(actions: tuple[int, ...]) -> list[str]:
    return [ACTIONS[action].name for action in actions]


class TestTemplates:
    def test_carry(self) -> None:
        assert named(carry(APPLE, SINK, SOFA)) == [
            "nav(sink)",
            "pick_apple",
            "nav(sofa)",
            "place(sofa)",
        ]

    def test_fridge(self) -> None:
        assert named(turn_fridge("open")) == ["nav(fridge_push_point)", "open_fridge"]
        assert named(turn_fridge("close")) == ["nav(fridge_push_point)", "close_fridge"]

    def test_go(self) -> None:
        assert named(go(SOFA)) == ["nav(sofa)"]


class TestNear:
    def test_a_place_in_reach_is_used_from_where_the_robot_is(self) -> None:
        layout = generate(3, 0)
        assert LEFT in in_reach(layout, SINK)
        assert named(carry_near(layout, [(CUP, SINK), (CUP, SINK)], [LEFT])) == [
            "nav(sink)",
            "pick_cup",
            "place(left_counter)",
            "pick_cup",
            "place(left_counter)",
        ]

    def test_of_several_places_one_in_reach_comes_before_the_first(self) -> None:
        actions = carry_near(generate(3, 0), [(CUP, SINK)], [BLACK, LEFT])
        assert named(actions)[-1] == "place(left_counter)"

    def test_a_place_out_of_reach_is_gone_to(self) -> None:
        actions = carry_near(generate(3, 0), [(CUP, SINK), (CUP, SINK)], [BLACK])
        assert actions == carry(CUP, SINK, BLACK) * 2

    @pytest.mark.parametrize("entity", range(len(ENTITIES)))
    def test_each_entity_is_in_reach_of_its_own_stand(self, entity: int) -> None:
        assert entity in in_reach(generate(3, 0), entity)


class TestDemands:
    def test_a_demand_says_what_is_told(self) -> None:
        demand = Demand("by_place", "{object} to the spot by the window.", target=SOFA)
        for seed in range(20):
            task = decide(demand, generate(0, 0), KNOWN, np.random.default_rng(seed))
            assert ACTIONS[task.solution[-1]].name == "place(sofa)"
            assert task.laid[0].receptacle != SOFA
            assert task.instruction[0].isupper()

    def test_an_unknown_kind_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"'juggle': take one of \['move'"):
            decide(Demand("juggle", ""), generate(0, 0), KNOWN, np.random.default_rng(0))
