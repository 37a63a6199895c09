"""Which agents are at work in a run, for screens and the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.words import agents_words

if TYPE_CHECKING:
    from skills_db.records import RunRecord

POLICY_WORDS = {
    "llarp": "LLaRP",
    "scratch": "LLaRP from scratch",
    "lstm": "LSTM",
    "blind": "LLaRP, blind",
    "no_text": "LLaRP, untold",
}


def agents_of(run: RunRecord) -> str:
    """Which agents are at work now: the configuration knows of a change in mid-run.

    Where a policy learns by itself it is the one at work.
    """
    return str(run.config.get("policy") or run.config.get("agents") or run.agents)


def asks_a_model(run: RunRecord) -> bool:
    """Whether its agents ask, or have asked, a language model."""
    if run.config.get("policy"):
        return False
    return {run.agents, agents_of(run)} != {"rules"}


def run_agents(run: RunRecord) -> str:
    """Who is at work: `rules agents`, the language model by name, a replay, or a policy."""
    if policy := run.config.get("policy"):
        return POLICY_WORDS.get(str(policy), str(policy))
    llm = run.config.get("llm")
    model = llm.get("model") if isinstance(llm, Mapping) else None
    return agents_words(agents_of(run), str(model or ""))
