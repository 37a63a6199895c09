"""From the text of a reply to a validated answer, and from an answer's model to a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

Answer = TypeVar("Answer", bound=BaseModel)

_FENCE = re.compile(r"```[ \t]*([\w+-]*)[ \t]*\n(.*?)```", re.DOTALL)
_SCHEMA_WORDS = frozenset(
    {"type", "properties", "items", "enum", "const", "anyOf", "$ref", "$defs", "description"}
)
_MAX_PROBLEMS = 12
_MAX_STARTS = 200


class InvalidReply(Exception):
    """A reply that is not the answer asked for; `problems` is for the model to read."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def parse_answer(text: str, model: type[Answer]) -> Answer:
    """The first JSON object of a reply that is a valid answer.

    Raises:
        InvalidReply: there is none; says what is wrong with the best candidate.
    """
    problems: tuple[str, ...] = ("the reply holds no JSON object; answer with one, nothing else",)
    for position, candidate in enumerate(_json_objects(text)):
        try:
            return model.model_validate_json(candidate)
        except ValidationError as error:
            if position == 0:
                problems = tuple(_said(error))
    raise InvalidReply(problems)


def answers_another(text: str, model: type[BaseModel]) -> bool:
    """Whether a reply answers a question of another kind: it has none of the fields asked for."""
    first = next(_json_objects(text), None)
    fields = set() if first is None else set(json.loads(first))
    return bool(fields) and fields.isdisjoint(model.model_fields)


def fenced_block(text: str) -> str | None:
    """The longest fenced block of a reply, or None when there is none."""
    blocks = [match[2] for match in _FENCE.finditer(text)]
    return max(blocks, key=len) if blocks else None


def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """JSON schema in the form `strict` asks for: every property required, no others.

    Bounds and patterns are left out, as servers differ in which they accept: llama.cpp makes one
    grammar of a schema, which long repetitions and patterns within nested objects can break as a
    whole. The answer is validated here in any case.
    """
    schema: dict[str, Any] = _strict(model.model_json_schema())
    return schema


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: {name: _strict(part) for name, part in value.items()}
        if key in ("properties", "$defs")
        else _strict(value)
        for key, value in node.items()
        if key in _SCHEMA_WORDS
    }
    if "properties" in kept:
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept


def _json_objects(text: str) -> Iterator[str]:
    """Balanced objects at the outermost level, as they come; hopeless texts are given up."""
    decoder = json.JSONDecoder(strict=False)
    position = text.find("{")
    for _ in range(_MAX_STARTS):
        if position < 0:
            return
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        # Written anew: raw control characters, common in code, are no JSON for Pydantic.
        yield json.dumps(value)
        position = text.find("{", end)


def _said(error: ValidationError) -> Iterator[str]:
    for number, problem in enumerate(error.errors(include_url=False)):
        if number == _MAX_PROBLEMS:
            yield f"... and {error.error_count() - _MAX_PROBLEMS} more"
            return
        where = ".".join(str(part) for part in problem["loc"]) or "the answer"
        given = repr(problem["input"])
        shown = given if len(given) <= 80 else given[:77] + "..."
        yield f"`{where}`: {problem['msg']} (it was {shown})"
