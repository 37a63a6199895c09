"""Parts of Crafter's observation: together they are all of it."""

from __future__ import annotations

from engine.worlds.crafter.observation import observation_names
from engine.worlds.registry import get_world


def test_every_number_is_in_exactly_one_part():
    parts = get_world("crafter").observation_parts()
    indices = sorted(index for part in parts.values() for index in part)
    assert indices == list(range(len(observation_names())))


def test_the_parts_are_what_a_player_would_call_them():
    parts = get_world("crafter").observation_parts()
    assert list(parts)[:7] == ["view", "front", "inventory", "body", "time", "position", "unlocked"]
    assert {"nearest_iron", "nearest_threat"} < set(parts)
    assert [observation_names()[i] for i in parts["position"]] == ["x", "y"]
