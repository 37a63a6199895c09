"""What a run has spent on language models, and the limit that stops it politely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.config import LlmConfig
from engine.errors import BudgetSpent

WARN_SHARE = 0.8
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
        on_warning: hears once when `WARN_SHARE` of tokens or money is spent.
    """

    def __init__(
        self,
        config: LlmConfig,
        tokens: int = 0,
        cost_usd: float = 0.0,
        on_warning: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._config = config
        self.tokens = tokens
        self.cost_usd = cost_usd
        self._guessed_tokens = 0
        self._on_warning = on_warning
        # A run that went on with most of it spent was warned before.
        self._warned = self._share() >= WARN_SHARE

    @property
    def is_priced(self) -> bool:
        """Whether the configuration says what tokens cost."""
        config = self._config
        return config.usd_per_million_prompt > 0 or config.usd_per_million_completion > 0

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
            self._warn()
            return Usage()
        self.tokens += usage.prompt_tokens + usage.completion_tokens
        self.cost_usd += self.cost_of(usage)
        self._warn()
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
        if self.is_priced and self.cost_usd >= config.max_cost_usd:
            raise BudgetSpent(
                f"the money budget is spent: {self.cost_usd:.4f} of {config.max_cost_usd:g} USD.",
                "Go on with more: `resume RUN --set llm.max_cost_usd=N`.",
            )

    def _share(self) -> float:
        """Share of the budget that is spent: of tokens or of money, whichever is further."""
        config = self._config
        tokens = (self.tokens + self._guessed_tokens) / config.max_tokens_total
        if not self.is_priced:
            return tokens
        if config.max_cost_usd == 0:
            return 1.0
        return max(tokens, self.cost_usd / config.max_cost_usd)

    def _warn(self) -> None:
        share = self._share()
        if share >= WARN_SHARE and not self._warned:
            self._warned = True
            config = self._config
            spent = f"{self.tokens + self._guessed_tokens:,} of {config.max_tokens_total:,} tokens"
            if self.is_priced:
                spent += f", {self.cost_usd:.2f} of {config.max_cost_usd:g} USD"
            self._on_warning(f"{share:.0%} of the budget for language models is spent: {spent}")
