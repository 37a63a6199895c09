"""What a model costs: by the settings, by a person's own table, or by the one that is shipped."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.config import LlmConfig
from engine.errors import ConfigError

SHIPPED = Path(__file__).with_name("prices.toml")
HINT = 'Write for every model: "NAME" = { prompt = 0.25, completion = 2.0 } below [models].'

# The same model at a fixed state; `gpt-5-pro` is another model than `gpt-5`, at another price.
_SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{4,8}|latest)")
_PLACE = re.compile(r"\(at line (\d+)")
_COMMENT = re.compile(r"#.*")

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """US dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: Dollars
    completion: Dollars


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    as_of: str = ""
    models: dict[str, Price] = {}


@dataclass(frozen=True, slots=True)
class KnownPrice:
    """A price and who says so."""

    price: Price
    source: str
    """As it is shown: `the settings`, or a table and its date."""


def price_of(config: LlmConfig) -> KnownPrice | None:
    """The price of the configured model; None where nobody knows it.

    The settings' two prices win; one that is not set comes from the tables, or is 0.

    Raises:
        ConfigError: the person's own table cannot be read; says what is wrong.
    """
    prompt, completion = config.usd_per_million_prompt, config.usd_per_million_completion
    if prompt is not None and completion is not None:
        return KnownPrice(Price(prompt=prompt, completion=completion), "the settings")
    listed = _listed(config)
    if prompt is None and completion is None:
        return listed
    base = Price(prompt=0, completion=0) if listed is None else listed.price
    price = Price(
        prompt=base.prompt if prompt is None else prompt,
        completion=base.completion if completion is None else completion,
    )
    return KnownPrice(price, "the settings")


def _listed(config: LlmConfig) -> KnownPrice | None:
    for file in (Path(config.prices_file) if config.prices_file else None, SHIPPED):
        if file is None:
            continue
        table = _read(file)
        found = _find(config.model, table.models)
        if found is not None:
            name = "the shipped table" if file == SHIPPED else str(file)
            return KnownPrice(found, f"{name} of {table.as_of}" if table.as_of else name)
    return None


def _find(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The exact name first, then the longest of those that stand for it too."""
    if model in prices:
        return prices[model]
    fitting = [name for name in prices if _stands_for(name, model)]
    return prices[max(fitting, key=len)] if fitting else None


def _stands_for(name: str, model: str) -> bool:
    if name.endswith("*"):
        return model.startswith(name[:-1])
    return model.startswith(name) and _SNAPSHOT.fullmatch(model[len(name) :]) is not None


def _read(file: Path) -> _Table:
    text = ""
    try:
        text = file.read_text(encoding="utf-8")
        return _Table.model_validate(tomllib.loads(text))
    except OSError as error:
        raise ConfigError(
            f"The table of prices {str(file)!r} cannot be read: {error.strerror or error}.",
            "Put it there, or take `prices_file` out of [llm] of the settings.",
        ) from error
    except ValidationError as error:
        found = error.errors()[0]
        where = ".".join(str(part) for part in found["loc"])
        raise ConfigError(
            f"The table of prices {str(file)!r}, line {_line_of(found['loc'], text)}, is wrong at "
            f"`{where}`: {found['msg']} (it was {found['input']!r}).",
            HINT,
        ) from error
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = place[1] if place else len(text.splitlines())
        raise ConfigError(
            f"The table of prices {str(file)!r}, line {line}, is no TOML: {error}.", HINT
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"The table of prices {str(file)!r} is no UTF-8 text: {error}.", HINT
        ) from error


def _line_of(keys: tuple[int | str, ...], text: str) -> int:
    """The line of nested keys, as far as they are found one after the other in the text."""
    text = _COMMENT.sub("", text)
    position = 0
    for name in (re.escape(str(key)) for key in keys):
        key = re.compile(rf"""["']{name}["']|(?<![\w."'-]){name}(?=\s*[=\].])""")
        if (found := key.search(text, position)) is not None:
            position = found.end()
    return text.count("\n", 0, position) + 1
