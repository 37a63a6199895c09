"""What can go wrong between us and a language model server, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from engine.config import LlmConfig
from engine.errors import ContextFull, LlmError, ReplyEndless
from engine.llm.picture import without_data

Remedy = Literal["retry", "retry_once", "other_mode", "no_stream", "no_picture", "give_up"]

_MAX_MESSAGE = 300
_LONGEST_WAIT_SECONDS = 30.0
_RETRIED = frozenset({408, 409, 429})
_STREAM = re.compile(r"\bstream", re.IGNORECASE)
"""Streaming itself is spoken of, not something `upstream`."""
_TOO_LONG = re.compile(r"context[ _](?:length|size|window)", re.IGNORECASE)
"""What OpenAI, vLLM and llama.cpp say of a call that is longer than the context."""
_MODE_REFUSED = frozenset({400, 422, 500, 501})
PICTURE_REFUSED = "the call with a picture was refused"
"""Begins the error of such a call; a later process of the run knows by it to send none."""
_PICTURE_REFUSED = frozenset({400, 413, 415, 422})
"""Faults of what was sent; with a picture in it that is the first suspect, whatever is said."""
_MAY_BE_PICTURE = frozenset({404, 500, 501})
_MODE = re.compile(r"response_format|json|schema", re.IGNORECASE)
_PICTURE = re.compile(r"image|picture|vision|multi-?modal|mmproj|\bcontent\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed call: what happened, what the person can do, what the program can do."""

    message: str
    hint: str
    remedy: Remedy
    wait_seconds: float | None = None
    """How long the server asked to wait."""
    partial: str = ""
    """What the model had written before."""
    error: type[LlmError] = LlmError
    """What is raised where nothing mends it."""
    may_pass: bool = False
    """Whether the same call may go well another time: such a refusal is not remembered."""


def explain(
    error: Exception,
    config: LlmConfig,
    *,
    may_change_mode: bool = False,
    streaming: bool = False,
    with_picture: bool = False,
) -> Failure:
    """The failure behind an exception of the `openai` package, or of the HTTP client below it.

    Args:
        may_change_mode: whether a refusal may be one of the answer mode.
        streaming: whether the reply was to come in pieces.
        with_picture: whether a picture was sent.
    """
    import openai

    if isinstance(error, openai.APITimeoutError):
        return Failure(
            f"the server at {config.base_url!r} did not answer within {config.timeout_seconds:g} s",
            "Raise `llm.timeout_seconds`, or look whether the server is overloaded.",
            "retry_once",
        )
    if isinstance(error, openai.APIStatusError):
        if streaming and error.status_code in _MODE_REFUSED and _STREAM.search(str(error)):
            return Failure(f"streaming was refused: {_short(error)}", "", "no_stream")
        return _of_status(error, config, may_change_mode, with_picture)
    if type(error).__module__.startswith("httpx"):  # what the package does not wrap in a stream
        return broken_off(config, "", _short(error))
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        return Failure(
            f"no connection to {config.base_url!r}: {_short(cause) or type(cause).__name__}",
            "Is the server up and `llm.base_url` right? `rlgpt-studio doctor` looks; "
            "`--agents rules` needs no server.",
            "retry",
        )
    return garbage(config, f"{type(error).__name__}: {_short(error)}")


def garbage(config: LlmConfig, what: str) -> Failure:
    """The server answered, but not with a chat completion."""
    return Failure(
        f"the server at {config.base_url!r} answered with something that is not a chat "
        f"completion ({what})",
        "Is `llm.base_url` right? For most servers it ends in `/v1`.",
        "retry_once",
    )


def broken_off(config: LlmConfig, partial: str, why: str = "") -> Failure:
    """The connection ended before the reply did."""
    said = f" ({why})" if why else ""
    return Failure(
        f"the server at {config.base_url!r} broke off in mid-reply{said}",
        "Try again later: the run can be resumed.",
        "retry",
        partial=partial,
    )


def fell_silent(config: LlmConfig, partial: str) -> Failure:
    """The server began a reply and then said nothing for too long."""
    return Failure(
        f"the server at {config.base_url!r} fell silent in mid-reply for more than "
        f"{config.silence_seconds:g} s",
        "Raise `llm.silence_seconds`, or look whether the server is overloaded.",
        "retry_once",
        partial=partial,
    )


def came_to_no_end(config: LlmConfig, partial: str) -> Failure:
    """The server gave signs of life all the time, and no end of its reply."""
    seconds = max(config.reply_seconds, config.timeout_seconds)
    return Failure(
        f"the server at {config.base_url!r} came to no end of its reply within {seconds:g} s",
        "A weak model may repeat itself without end: try another (`llm.model`). Raise "
        "`llm.reply_seconds` if this one is only slow.",
        "retry_once",
        partial=partial,
        error=ReplyEndless,
    )


def wrote_too_much(config: LlmConfig, partial: str) -> Failure:
    """The reply is longer than any answer: it is not read to its end."""
    return Failure(
        f"the server at {config.base_url!r} came to no end of its reply within "
        f"{len(partial):,} characters",
        "A weak model may repeat itself without end: try another (`llm.model`).",
        "retry_once",
        partial=partial,
        error=ReplyEndless,
    )


def _of_status(
    error: object, config: LlmConfig, may_change_mode: bool, with_picture: bool
) -> Failure:
    import openai

    assert isinstance(error, openai.APIStatusError)
    status, said = error.status_code, _short(error)
    if status in (401, 403):
        return Failure(
            f"the server at {config.base_url!r} refused the key ({status})",
            f"Set the environment variable {config.api_key_env} to a valid key.",
            "give_up",
        )
    if with_picture and _is_of_picture(status, str(error), may_change_mode):
        return Failure(f"{PICTURE_REFUSED} ({status}): {said}", "", "no_picture")
    if status == 404:
        return Failure(
            f"the server at {config.base_url!r} does not know the model {config.model!r} (404)",
            "Set `llm.model` to one the server has, and see that `llm.base_url` ends as the "
            "server wants it (often `/v1`).",
            "give_up",
        )
    if may_change_mode and status in _MODE_REFUSED:
        told = f"the answer mode was refused ({status}): {said}"
        return Failure(told, "", "other_mode", may_pass=status == 500)
    if getattr(error, "code", None) == "insufficient_quota":
        return Failure(
            f"the account at {config.base_url!r} has no credit left",
            "Add credit there, or use `--agents rules`.",
            "give_up",
        )
    if status in _RETRIED or status >= 500:
        return Failure(
            f"the server at {config.base_url!r} keeps answering with status {status}: {said}",
            "Try again later: the run can be resumed.",
            "retry",
            _asked_wait(error.response.headers.get("retry-after")),
        )
    return Failure(
        f"the server at {config.base_url!r} refused the call ({status}): {said}",
        "See what it says; the settings are under `llm`.",
        "give_up",
        error=ContextFull if _TOO_LONG.search(str(error)) else LlmError,
    )


def _is_of_picture(status: int, said: str, may_change_mode: bool) -> bool:
    """Whether the picture that was sent is what the server does not take."""
    if _PICTURE.search(said):
        return status in _PICTURE_REFUSED | _MAY_BE_PICTURE
    is_of_mode = may_change_mode and _MODE.search(said) is not None
    return status in _PICTURE_REFUSED and not is_of_mode


def _asked_wait(header: str | None) -> float | None:
    try:
        return min(max(float(header or ""), 0.0), _LONGEST_WAIT_SECONDS)
    except ValueError:
        return None


def _short(error: BaseException) -> str:
    return " ".join(without_data(str(error)).split())[:_MAX_MESSAGE]
