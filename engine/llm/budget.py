"""What a run has spent on language models, and the limit that stops it politely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.config import LlmConfig
from engine.errors import BudgetSpent
from engine.llm.prices import price_of

WARN_SHARE = 0.8
ROUNDING = 1e-9
"""Of a share: ten calls of 0.1 USD add up to a little less than 1 USD."""
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
        on_warning: hears once when `WARN_SHARE` of tokens or money is spent, and once, with the
            first call, when nobody knows what the model costs.
        is_charged: False where a recording answers: then no price is looked up.

    Raises:
        ConfigError: the person's own table of prices cannot be read.
    """

    def __init__(
        self,
        config: LlmConfig,
        tokens: int = 0,
        cost_usd: float = 0.0,
        on_warning: Callable[[str], None] = lambda _text: None,
        *,
        is_charged: bool = True,
    ) -> None:
        self._config = config
        known = price_of(config) if is_charged else None
        self._price = None if known is None else known.price
        self._price_missed = known is None
        self.tokens = tokens
        self.cost_usd = cost_usd
        self._guessed_tokens = 0
        self._on_warning = on_warning
        # A run that went on with most of it spent was warned before.
        self._warned = self._is_to_warn()

    @property
    def is_priced(self) -> bool:
        """Whether it is known what tokens cost, and that they do cost something."""
        price = self._price
        return price is not None and (price.prompt > 0 or price.completion > 0)

    @property
    def max_tokens(self) -> int:
        """Tokens the run may use in all."""
        return self._config.max_tokens_total

    @property
    def max_cost_usd(self) -> float | None:
        """US dollars the run may spend in all; None where money is not counted."""
        return self._config.max_cost_usd if self.is_priced else None

    def cost_of(self, usage: Usage) -> float:
        """US dollars of one call; 0 where nobody knows the price."""
        price = self._price
        if price is None:
            return 0.0
        return (
            usage.prompt_tokens * price.prompt + usage.completion_tokens * price.completion
        ) / 1e6

    def add(self, usage: Usage | None, characters: int) -> Usage:
        """Count one call.

        Without a usage the limit is guarded by a guess from the number of characters sent and
        received; the guess is never shown as tokens or money spent.
        """
        self._miss_price()
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
        if self.is_priced and self.cost_usd >= config.max_cost_usd * (1 - ROUNDING):
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

    def _miss_price(self) -> None:
        if self._price_missed:
            self._price_missed = False
            self._on_warning(
                f"no table says what {self._config.model!r} costs: its tokens are counted, money "
                "is not. Write a prices.toml, or set `llm.usd_per_million_prompt` and "
                "`..._completion` (0: it is free)"
            )

    def _is_to_warn(self) -> bool:
        return self._share() >= WARN_SHARE - ROUNDING

    def _warn(self) -> None:
        if self._is_to_warn() and not self._warned:
            self._warned = True
            config, share = self._config, self._share()
            spent = f"{self.tokens + self._guessed_tokens:,} of {config.max_tokens_total:,} tokens"
            if self.is_priced:
                spent += f", {self.cost_usd:.2f} of {config.max_cost_usd:g} USD"
            self._on_warning(f"{share:.0%} of the budget for language models is spent: {spent}")
