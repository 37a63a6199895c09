"""What a run has spent on language models, and the limit that stops it politely."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import LlmConfig
from engine.errors import BudgetSpent

_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the server counted them; 0 where it did not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Budget:
    """Tokens and money of a run.

    Args:
        tokens: spent before, by an earlier process of the run.
        cost_usd: likewise.
    """

    def __init__(self, config: LlmConfig, tokens: int = 0, cost_usd: float = 0.0) -> None:
        self._config = config
        self.tokens = tokens
        self.cost_usd = cost_usd
        self._guessed_tokens = 0

    def cost_of(self, usage: Usage) -> float:
        """US dollars of one call by the two prices of the configuration."""
        config = self._config
        return (
            usage.prompt_tokens * config.usd_per_million_prompt
            + usage.completion_tokens * config.usd_per_million_completion
        ) / 1e6

    def add(self, usage: Usage | None, characters: int) -> Usage:
        """Count one call.

        Without a usage the limit is guarded by a guess from the number of characters sent and
        received; the guess is never shown as tokens or money spent.
        """
        if usage is None:
            self._guessed_tokens += characters // _CHARACTERS_PER_TOKEN
            return Usage()
        self.tokens += usage.prompt_tokens + usage.completion_tokens
        self.cost_usd += self.cost_of(usage)
        return usage

    def require(self) -> None:
        """Go on only while something is left.

        Raises:
            BudgetSpent: tokens or money are used up.
        """
        config = self._config
        if self.tokens + self._guessed_tokens >= config.max_tokens_total:
            raise BudgetSpent(
                f"the token budget is spent: {self.tokens + self._guessed_tokens} of "
                f"{config.max_tokens_total} tokens.",
                "Go on with more: `resume RUN --set llm.max_tokens_total=N`.",
            )
        priced = config.usd_per_million_prompt > 0 or config.usd_per_million_completion > 0
        if priced and self.cost_usd >= config.max_cost_usd:
            raise BudgetSpent(
                f"the money budget is spent: {self.cost_usd:.4f} of {config.max_cost_usd:g} USD.",
                "Go on with more: `resume RUN --set llm.max_cost_usd=N`.",
            )
