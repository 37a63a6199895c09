"""All four roles through a language model, at the same seams as the rules agents."""

from __future__ import annotations

from engine.agents.llm.critic import LlmCritic
from engine.agents.llm.fast import LlmFastAgent
from engine.agents.llm.planner import LlmPlanner
from engine.agents.llm.slow import LlmSlowAgent
from engine.agents.prompts.render import SHIPPED, PromptBook
from engine.agents.protocols import Agents
from engine.llm.client import LlmClient
from engine.worlds.base import World


def llm_agents(world: World, client: LlmClient, book: PromptBook = SHIPPED) -> Agents:
    """The agents of one run; all ask the same model and share its budget.

    What they know of the world comes with each question's context; `world` is taken so that both
    kinds of agents are made alike. Their prompts are those of `book`.
    """
    del world
    return Agents(
        planner=LlmPlanner(client, book),
        slow=LlmSlowAgent(client, book),
        fast=LlmFastAgent(client, book),
        critic=LlmCritic(client, book),
    )
