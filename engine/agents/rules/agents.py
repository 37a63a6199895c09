"""All four roles by rules: no model, no network, the same seams as the LLM agents."""

from __future__ import annotations

from engine.agents.protocols import Agents
from engine.agents.rules.critic import RulesCritic
from engine.agents.rules.fast import RulesFastAgent
from engine.agents.rules.planner import RulesPlanner
from engine.agents.rules.slow import RulesSlowAgent
from engine.worlds.base import World


def rules_agents(world: World) -> Agents:
    """The rules agents for a world."""
    return Agents(
        planner=RulesPlanner(world),
        slow=RulesSlowAgent(world),
        fast=RulesFastAgent(world),
        critic=RulesCritic(),
    )
