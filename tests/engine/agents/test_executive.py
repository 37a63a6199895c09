from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from engine.agents.executive import FIRST_REST, PlanExecutive
from engine.agents.plan import Plan, SubAction, Subtask
from engine.rl.options import CodedAction
from engine.worlds.base import Answer
from engine.worlds.crafter.player import vocabulary
from engine.worlds.registry import get_world

WORLD = get_world("crafter")


class Player:
    """Terms set by the test."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {"threat": 99.0}

    def term(self, name: str, argument: str | None = None) -> float:
        return self.values.get(name if argument is None else f"{name}({argument})", 0.0)

    def answer(self, function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Answer:
        raise AssertionError(function)

    def terms(self) -> Mapping[str, float]:
        return self.values


ACTIONS = {
    "wood": CodedAction("wood", "", "wood >= 5", "true", "threat <= 2", 100),
    "table": CodedAction("table", "", "unlocked(place_table)", "wood >= 2", "threat <= 2", 100),
    "fend": CodedAction("fend", "", "threat > 2", "threat <= 2", "false", 100),
    "drink": CodedAction(
        "drink", "", "drink >= 8", "drink <= 8", "threat <= 2", 100, due="drink <= 4"
    ),
}


def executive(*order: str, actions: tuple[str, ...] = ("table", "wood", "fend")) -> PlanExecutive:
    coded = tuple(
        SubAction(name=name, mode="code", reason="", instruction="", success="true", budget=1)
        for name in order
    )
    plan = Plan(
        task="",
        world="crafter",
        author="test",
        subtasks=(Subtask(name="all", goal="", success="true", sub_actions=coded),),
    )
    return PlanExecutive(plan, [ACTIONS[name] for name in actions], WORLD)


def chosen(executive: PlanExecutive, player: Player) -> str | None:
    action = executive.choose(player)
    return None if action is None else action.name


def test_plan_order_preconditions_and_success_decide() -> None:
    player = Player()
    policy = executive("fend", "wood", "table")
    assert chosen(policy, player) == "wood"
    player.values |= {"frames": 20, "wood": 5}
    assert chosen(policy, player) == "table"
    player.values |= {"frames": 21, "threat": 1}
    assert chosen(policy, player) == "fend"
    player.values |= {"frames": 30, "threat": 9, "unlocked(place_table)": 1}
    assert chosen(policy, player) is None


def test_what_may_run_but_is_not_due_is_left_to_a_policy() -> None:
    player = Player()
    player.values |= {"drink": 6, "wood": 9, "unlocked(place_table)": 1}
    policy = executive("drink", "wood", actions=("drink", "wood", "table"))
    assert chosen(policy, player) is None
    player.values |= {"drink": 3, "frames": 10}
    assert chosen(policy, player) == "drink"
    player.values |= {"drink": 9, "frames": 40}
    assert chosen(policy, player) is None


def test_actions_the_plan_does_not_name_come_last() -> None:
    player = Player()
    player.values["threat"] = 1
    assert chosen(executive("wood"), player) == "wood"
    player.values["wood"] = 9
    assert chosen(executive("wood"), player) == "table"


def test_what_got_nowhere_is_left_out_for_a_while_and_longer_each_time() -> None:
    player = Player()
    policy = executive("wood", "table")
    player.values |= {"wood": 3, "frames": 0}
    rests: list[int] = []
    for frame in range(200):
        player.values["frames"] = frame
        if chosen(policy, player) == "wood":
            rests.append(frame)
    gaps = [later - earlier for earlier, later in itertools.pairwise(rests)]
    assert gaps[0] >= FIRST_REST
    assert gaps == sorted(gaps)
    assert gaps[-1] > 2 * gaps[0]


def test_an_interrupted_action_is_taken_up_again() -> None:
    player = Player()
    policy = executive("fend", "wood")
    assert chosen(policy, player) == "wood"
    player.values |= {"frames": 2, "threat": 2}
    assert chosen(policy, player) == "fend"
    player.values |= {"frames": 9, "threat": 8}
    assert chosen(policy, player) == "wood"


def test_a_new_episode_is_noticed() -> None:
    player = Player()
    policy = executive("wood", actions=("wood",))
    assert chosen(policy, player) == "wood"
    assert chosen(policy, player) is None
    player.values["frames"] = 50
    assert chosen(policy, player) == "wood"
    player.values["frames"] = 51
    assert chosen(policy, player) is None
    player.values["frames"] = 0
    assert chosen(policy, player) == "wood"


def test_the_clock_is_a_word_of_the_world() -> None:
    assert "frames" in vocabulary().numbers
