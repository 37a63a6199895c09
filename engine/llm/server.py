"""An OpenAI-compatible server as the one that answers, its replies read as they are written."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.config import LlmConfig
from engine.errors import LlmError
from engine.llm.budget import Usage
from engine.llm.failures import (
    Failure,
    broken_off,
    came_to_no_end,
    explain,
    fell_silent,
    garbage,
    wrote_too_much,
)
from engine.llm.keys import NO_KEY, without_key, without_key_so_far
from engine.llm.messages import Question, Reply, Tell, storable
from engine.llm.stream import MOST_CHARACTERS, Draft, Streamed, read_stream

if TYPE_CHECKING:
    from openai import OpenAI

BETWEEN_SECONDS = 0.2
CONNECT_SECONDS = 5.0
OPENAI_URL = "https://api.openai.com"
MOST_TOKENS = 10**9
"""A count above that makes no sense for one call, and a database may not hold it."""


class Server:
    """Only `chat.completions` is used, as every server has it.

    Replies are streamed where the server can; one that refuses or ignores that is asked for whole
    replies from then on.

    Args:
        key: goes nowhere but to the server.
        between: called a few times a second while a call is out; what it raises ends the call.
        clock: measures silence and the time of a reply, in seconds.
    """

    is_charged = True

    def __init__(
        self,
        config: LlmConfig,
        key: str | None,
        between: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._key = key
        self._between = between
        self._clock = clock
        self._streams = True
        self._opened: OpenAI | None = None

    def complete(self, question: Question, tell: Tell) -> Reply | Failure:
        """One call of the server.

        Raises:
            LlmError: OpenAI's own server is to be asked without a key.
        """
        self._require_key()
        outcome = self._once(question, tell)
        if isinstance(outcome, Failure) and outcome.remedy == "no_stream":
            self._streams = False
            outcome = self._once(question, tell)
        return outcome

    def models(self) -> tuple[str, ...]:
        """Names of the models the server has, asked once and quickly.

        Raises:
            LlmError: it cannot be reached or refuses.
        """
        failure: Failure
        try:
            quick = self._openai().with_options(timeout=CONNECT_SECONDS)
            return tuple(sorted(str(model.id) for model in quick.models.list()))
        except Exception as error:
            failure = self._cleaned(explain(error, self._config))
        # Raised outside `except`, so that it is not chained to an error that holds the key.
        raise LlmError(failure.message, failure.hint)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _require_key(self) -> None:
        """OpenAI's own server never answers without a key; a local one may."""
        if self._key is None and self._config.base_url.startswith(OPENAI_URL):
            raise LlmError(
                f"there is no key in {self._config.api_key_env!r}, and {OPENAI_URL!r} wants one",
                "Set the variable, name a server of your own in `llm.base_url`, "
                "or use `--agents rules`.",
            )

    def _once(self, question: Question, tell: Tell) -> Reply | Failure:
        streams = self._streams
        create: Callable[..., Any] = partial(
            self._openai().chat.completions.create,
            model=self._config.model,
            messages=[message.sent for message in question.messages],
            **question.response_format,
        )
        gone = threading.Event()
        draft = Draft()

        def read() -> Any:
            if not streams:
                return create()
            with create(stream=True, stream_options={"include_usage": True}) as chunks:
                return read_stream(
                    chunks,
                    lambda text: tell(without_key_so_far(text, self._key)),
                    draft,
                    gone.is_set,
                    self._clock,
                )

        response, error = self._patiently(read, gone, draft)
        if isinstance(error, Failure):
            return error
        if error is not None:
            found = explain(
                error,
                self._config,
                may_change_mode=question.may_change_mode,
                streaming=streams,
                with_picture=question.has_picture,
            )
            return replace(self._cleaned(found), partial=storable(draft.text))
        return self._of_stream(response) if streams else self._of_completion(response)

    def _patiently(
        self, call: Callable[[], Any], gone: threading.Event, draft: Draft
    ) -> tuple[Any, Exception | Failure | None]:
        """What the call brought, or what came instead; a person may end the wait at any time."""
        answered = threading.Event()
        came: list[tuple[Any, Exception | None]] = []

        def run() -> None:
            try:
                came.append((call(), None))
            except Exception as error:  # for garbage the package raises whatever its parts raise
                came.append((None, error))
            finally:
                answered.set()

        began = self._clock()
        threading.Thread(target=run, name="model call", daemon=True).start()
        try:
            while not answered.wait(BETWEEN_SECONDS):
                self._between()
                overdue = self._overdue(draft, began)
                if overdue is not None:
                    gone.set()
                    self.close()
                    return None, overdue
        except BaseException:
            gone.set()
            self.close()
            raise
        return came[0]

    def _overdue(self, draft: Draft, began: float) -> Failure | None:
        """Why nobody waits any longer: the HTTP client's own limit is put off by every byte."""
        config, now = self._config, self._clock()
        if draft.is_silent(config.silence_seconds, now):
            return fell_silent(config, storable(draft.text))
        if now - began > max(config.reply_seconds, config.timeout_seconds):
            return came_to_no_end(config, storable(draft.text))
        return None

    def _of_stream(self, found: Streamed) -> Reply | Failure:
        if found.chunks == 0:
            return Failure("the server does not stream", "", "no_stream")
        if len(found.text) > MOST_CHARACTERS:
            return wrote_too_much(self._config, storable(found.text[:MOST_CHARACTERS]))
        if found.finish_reason is None:
            return broken_off(self._config, storable(found.text))
        text = storable(found.text)
        return Reply(text, found.finish_reason == "length", _usage(found.usage))

    def _of_completion(self, response: Any) -> Reply | Failure:
        choices = getattr(response, "choices", None)
        first = choices[0] if isinstance(choices, list) and choices else None
        content = getattr(getattr(first, "message", None), "content", first)
        if first is None or not (content is None or isinstance(content, str)):
            return garbage(self._config, f"a {type(response).__name__} without a message")
        if content is not None and len(content) > MOST_CHARACTERS:
            return wrote_too_much(self._config, storable(content[:MOST_CHARACTERS]))
        cut_off = getattr(first, "finish_reason", "") == "length"
        return Reply(storable(content or ""), cut_off, _usage(getattr(response, "usage", None)))

    def _openai(self) -> OpenAI:
        if self._opened is None:
            # Most of a second to import: only who asks a model pays for it.
            from openai import OpenAI, Timeout

            seconds = self._config.timeout_seconds
            self._opened = OpenAI(
                base_url=self._config.base_url,
                api_key=self._key or NO_KEY,
                max_retries=0,
                timeout=Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            )
        return self._opened

    def _cleaned(self, failure: Failure) -> Failure:
        """The failure without the key, which a server may repeat in what it says."""
        return replace(failure, message=without_key(failure.message, self._key))


def _usage(found: Any) -> Usage | None:
    """The server's count; None where it gave none, or none that makes sense."""
    prompt, written = (getattr(found, f"{name}_tokens", None) for name in ("prompt", "completion"))
    if not (isinstance(prompt, int) and isinstance(written, int)):
        return None
    if max(prompt, written) > MOST_TOKENS or max(prompt, written) <= 0:
        return None
    return Usage(max(prompt, 0), max(written, 0))
