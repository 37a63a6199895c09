"""A conversation with a model, and the forms in which an answer can be asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from engine.llm.answers import strict_schema
from engine.llm.budget import Usage
from engine.llm.failures import Failure
from engine.llm.picture import PICTURE_TOLD, Picture

Mode = Literal["json_schema", "json_object", "prompt"]
MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")
"""From the strictest to the one every server has; a server that refuses one gets the next."""
SCHEMA_TOLD = "\n\nAnswer with one JSON object and nothing else. Its JSON schema:\n"
"""Stands between the first message and the schema, where the server is not told the schema."""
MOST_PROBLEMS = 40
LONGEST_PROBLEM = 2_000
"""Characters: more than the longest predicate with what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str
    picture: Picture | None = None

    @property
    def told(self) -> str:
        """All its words."""
        picture = self.picture
        return self.content if picture is None else f"{self.content}{PICTURE_TOLD}{picture.words}"

    @property
    def recorded(self) -> str:
        """The message as it is recorded: a mark stands for the picture."""
        return self.told if self.picture is None else f"{self.told}\n{self.picture.mark}"

    @property
    def sent(self) -> dict[str, Any]:
        """The message as it goes out; one without a picture is plain text, as every server has."""
        content: str | list[dict[str, Any]] = self.told
        if self.picture is not None:
            image = {"type": "image_url", "image_url": {"url": self.picture.url}}
            content = [{"type": "text", "text": self.told}, image]
        return {"role": self.role, "content": content}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model wrote."""

    text: str
    cut_off: bool = False
    """True when it ended at the server's limit of tokens."""
    usage: Usage | None = None
    """The server's count; None where it gave none, or none that makes sense."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call as it goes out."""

    role: str
    mode: Mode
    messages: tuple[Message, ...]
    """With the schema in words where `mode` does not tell the server."""
    answer: type[BaseModel]
    may_change_mode: bool
    """Whether a refusal may be one of the mode."""

    @property
    def text(self) -> str:
        """All messages, one after the other, as they are recorded."""
        return "\n\n".join(f"## {m.role}\n{m.recorded}" for m in self.messages)

    @property
    def has_picture(self) -> bool:
        """Whether a picture goes out with it."""
        return any(message.picture is not None for message in self.messages)

    @property
    def response_format(self) -> dict[str, Any]:
        """What the server is told of the answer's form."""
        if self.mode == "json_schema":
            schema = {
                "name": self.answer.__name__,
                "strict": True,
                "schema": strict_schema(self.answer),
            }
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        if self.mode == "json_object":
            return {"response_format": {"type": "json_object"}}
        return {}


Tell = Callable[[str], None]
"""Hears the text of a reply so far."""


class Transport(Protocol):
    """Who answers: a server, or a recording of one."""

    is_charged: bool
    """Whether what it answers costs tokens and money."""

    def complete(self, question: Question, tell: Tell) -> Reply | Failure:
        """The answer to one call, or what came instead; `tell` hears of the text as it comes."""
        ...

    def models(self) -> tuple[str, ...]:
        """Names of the models there are.

        Raises:
            LlmError: it cannot be reached or refuses.
        """
        ...

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        ...


def with_schema(
    conversation: Sequence[Message], mode: Mode, answer: type[BaseModel]
) -> tuple[Message, ...]:
    """The conversation, its first message telling the schema where the server is not told."""
    first, *others = conversation
    if mode == "json_schema":
        return (first, *others)
    schema = json.dumps(strict_schema(answer), indent=1)
    return (Message(first.role, f"{first.content}{SCHEMA_TOLD}{schema}"), *others)


def bounded(problems: Sequence[str]) -> tuple[str, ...]:
    """Problems without end of an answer without end, as far as they are worth telling."""
    told = [
        problem
        if len(problem) <= LONGEST_PROBLEM
        else f"{problem[: LONGEST_PROBLEM // 2]} [...] {problem[-LONGEST_PROBLEM // 2 :]}"
        for problem in problems[:MOST_PROBLEMS]
    ]
    more = len(problems) - len(told)
    return (*told, f"... and {more} more") if more else tuple(told)


def complaint(problems: Sequence[str]) -> str:
    """What was wrong with an answer, as the model is told."""
    listed = "\n".join(f"- {problem}" for problem in problems)
    return (
        f"That answer cannot be used:\n{listed}\n\n"
        "Answer again in the same form, complete, with these points mended."
    )


def storable(text: str) -> str:
    """Text without what UTF-8 or a database cannot hold."""
    return text.replace("\x00", "").encode(errors="replace").decode()
