"""Which agents are at work in a run, for screens and the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.words import agents_words

if TYPE_CHECKING:
    from skills_db.records import RunRecord


def agents_of(run: RunRecord) -> str:
    """Which agents are at work now: the configuration knows of a change in mid-run."""
    return str(run.config.get("agents") or run.agents)


def run_agents(run: RunRecord) -> str:
    """Who plans and codes: `rules agents`, the language model by name, or a replay."""
    llm = run.config.get("llm")
    model = llm.get("model") if isinstance(llm, Mapping) else None
    return agents_words(agents_of(run), str(model or ""))
