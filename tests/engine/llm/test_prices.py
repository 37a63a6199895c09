"""Prices: whose word counts, which models a name stands for, and tables that are wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.config import LlmConfig
from engine.errors import BudgetSpent, ConfigError
from engine.llm.budget import Budget, Usage
from engine.llm.prices import SHIPPED, Price, price_of

MILLION = Usage(1_000_000, 1_000_000)


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., LlmConfig]:
    """A configuration with a person's own table of prices."""

    def make(text: str, **settings: Any) -> LlmConfig:
        file = tmp_path / "prices.toml"
        file.write_text(text, encoding="utf-8")
        return LlmConfig(prices_file=str(file), **settings)

    return make


def dollars(config: LlmConfig) -> tuple[float, float] | None:
    known = price_of(config)
    return None if known is None else (known.price.prompt, known.price.completion)


def test_every_shipped_price_can_be_looked_up_and_is_dated() -> None:
    shipped = tomllib.loads(SHIPPED.read_text())
    for name, price in shipped["models"].items():
        assert dollars(LlmConfig(model=name)) == (price["prompt"], price["completion"])
        assert price["completion"] > price["prompt"] > 0
    known = price_of(LlmConfig())
    assert known is not None  # the default model's price is known
    assert known.source == f"the shipped table of {shipped['as_of']}"


@pytest.mark.parametrize(
    ("model", "same_as"),
    [
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("gpt-4o-2024-11-20", "gpt-4o"),
        ("gpt-4o-latest", "gpt-4o"),
    ],
)
def test_a_snapshot_costs_what_its_model_does(model: str, same_as: str) -> None:
    assert dollars(LlmConfig(model=model)) == dollars(LlmConfig(model=same_as)) is not None


@pytest.mark.parametrize("model", ["gpt-5-pro", "gpt-5.5", "gpt-4", "o3-pro", "qwen2.5-coder:14b"])
def test_another_model_with_a_like_name_has_no_price(model: str) -> None:
    assert price_of(LlmConfig(model=model)) is None


def test_a_persons_own_table_wins_model_by_model(table: Callable[..., LlmConfig]) -> None:
    text = 'as_of = "2027-01-01"\n[models]\n"gpt-5-mini" = { prompt = 9, completion = 99 }\n'
    config = table(text)
    known = price_of(config)
    assert known is not None
    assert known.price == Price(prompt=9, completion=99)
    assert known.source == f"{config.prices_file} of 2027-01-01"
    assert dollars(table(text, model="gpt-5")) == (1.25, 10.0)


def test_the_longest_name_with_a_star_counts(table: Callable[..., LlmConfig]) -> None:
    text = (
        '[models]\n"*" = { prompt = 1, completion = 1 }\n"qwen*" = { prompt = 2, completion = 2 }\n'
    )
    assert dollars(table(text, model="qwen2.5-coder:14b")) == (2, 2)
    assert dollars(table(text, model="llama")) == (1, 1)


def test_the_settings_win_over_every_table(table: Callable[..., LlmConfig]) -> None:
    text = '[models]\n"gpt-5-mini" = { prompt = 9, completion = 99 }\n'
    assert dollars(table(text, usd_per_million_prompt=1.0)) == (1.0, 99.0)
    both = LlmConfig(usd_per_million_prompt=1.0, usd_per_million_completion=2.0)
    assert dollars(both) == (1.0, 2.0)
    assert dollars(LlmConfig(model="unknown", usd_per_million_completion=2.0)) == (0.0, 2.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[models", r"prices\.toml', line 1, is no TOML"),
        ("[models]\nx = {\n", r"line 2, is no TOML"),
        (
            '[models]\n"x" = { prompt = -1, completion = 2 }\n',
            r"line 2, .*`models\.x\.prompt`.*it was -1",
        ),
        ('[models]\n"x" = { prompt = nan, completion = 2 }\n', r"`models\.x\.prompt`"),
        (
            '# "x.5"\n[models]\n"x.5" = { prompt = 1, completion = 1 }\n"x" = { prompt = 1 }\n',
            r"line 4, .*`models\.x\.completion`: Field required",
        ),
        ("[models.x]\ncompletion = 2\nprompt = '?'\n", r"line 3, .*`models\.x\.prompt`"),
        ('["x"]\nprompt = 1\n', "line 1, .*`x`"),
    ],
)
def test_a_table_that_is_wrong_says_where(
    table: Callable[..., LlmConfig], text: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        price_of(table(text))
    assert "[models]" in caught.value.hint


def test_a_table_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        price_of(LlmConfig(prices_file=str(tmp_path / "none.toml")))


def test_money_is_counted_by_the_table_and_stops_the_run() -> None:
    budget = Budget(LlmConfig(model="gpt-5-mini", max_cost_usd=2.0, max_tokens_total=10**9))
    assert budget.max_cost_usd == 2.0
    budget.add(MILLION, 0)
    assert budget.cost_usd == pytest.approx(2.25)
    with pytest.raises(BudgetSpent, match="money budget"):
        budget.require()


DIME = Usage(100_000, 0)
DIMES = LlmConfig(
    model="mine",
    max_cost_usd=1.0,
    max_tokens_total=10**9,
    usd_per_million_prompt=1.0,
    usd_per_million_completion=1.0,
)


def test_the_limits_are_met_exactly_although_dimes_do_not_add_up() -> None:
    told: list[str] = []
    budget = Budget(DIMES, on_warning=told.append)
    for number in range(10):
        budget.require()
        assert len(told) == (number >= 8)
        budget.add(DIME, 0)
    assert budget.cost_usd < 1.0  # as computers add
    with pytest.raises(BudgetSpent, match=r"1\.0000 of 1 USD"):
        budget.require()
    assert len(told) == 1
    assert "80% of the budget" in told[0]


def test_a_call_that_jumps_over_all_limits_is_told_before_the_next_one_is_refused() -> None:
    told: list[str] = []
    config = LlmConfig(model="gpt-5-mini", max_tokens_total=1_000)
    budget = Budget(config, on_warning=told.append)
    budget.require()
    budget.add(Usage(1_500, 0), 0)
    (text,) = told
    assert "150% of the budget for language models is spent: 1,500 of 1,000 tokens" in text
    with pytest.raises(BudgetSpent, match="1500 of 1000"):
        budget.require()


@pytest.mark.parametrize(("dimes", "warnings"), [(7, 1), (8, 0), (9, 0)])
def test_a_run_that_goes_on_is_warned_unless_it_was(dimes: int, warnings: int) -> None:
    told: list[str] = []
    spent = sum([0.1] * dimes)
    budget = Budget(DIMES, tokens=dimes * 100_000, cost_usd=spent, on_warning=told.append)
    budget.require()
    budget.add(DIME, 0)
    assert len(told) == warnings


def test_a_model_without_a_price_is_told_once_and_counted_in_tokens() -> None:
    told: list[str] = []
    budget = Budget(LlmConfig(model="mine", max_tokens_total=10**9), on_warning=told.append)
    assert told == []
    budget.add(MILLION, 0)
    budget.add(MILLION, 0)
    (text,) = told
    assert "'mine'" in text
    assert "prices.toml" in text
    assert (budget.tokens, budget.cost_usd, budget.max_cost_usd) == (4_000_000, 0.0, None)


def test_a_model_that_is_free_needs_no_price() -> None:
    told: list[str] = []
    free = LlmConfig(model="mine", usd_per_million_prompt=0, usd_per_million_completion=0)
    Budget(free, on_warning=told.append).add(Usage(1, 1), 0)
    assert told == []
