"""Asking a language model for a typed answer, over any OpenAI-compatible server."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from engine.config import LlmConfig
from engine.errors import AgentError, LlmError
from engine.llm.answers import Answer, InvalidReply, parse_answer, strict_schema
from engine.llm.budget import Budget, Usage
from engine.llm.failures import Failure, explain, garbage
from engine.llm.keys import NO_KEY, find_key, without_key
from skills_db.records import LlmCallRecord

if TYPE_CHECKING:
    from openai import OpenAI

Mode = Literal["json_schema", "json_object", "prompt"]
Recorder = Callable[[LlmCallRecord], None]

MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")
"""From the strictest to the one every server has; a server that refuses one gets the next."""
ANSWER_ATTEMPTS = 4
"""The first answer and at most three more, each told what was wrong with the one before."""
CALL_ATTEMPTS = 4
FIRST_WAIT_SECONDS = 0.5
BETWEEN_SECONDS = 0.2
CONNECT_SECONDS = 5.0
OPENAI_URL = "https://api.openai.com"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model wrote."""

    text: str
    cut_off: bool
    """True when it ended at the server's limit of tokens."""


def ignore_call(_call: LlmCallRecord) -> None:
    """A recorder that keeps nothing."""


class LlmClient:
    """A language model behind an OpenAI-compatible server.

    The key is found when the client is made and goes nowhere but to the server: records, errors
    and logs have it blotted out. Only `chat.completions` is used, as every server has it.

    Args:
        config: server, model, limits and prices.
        run_id: run the calls belong to.
        recorder: is handed every call, the failed ones too.
        env: where the key's environment variable is looked up; the process's own by default.
        tokens_spent: of the budget, by earlier processes of the run.
        cost_spent: likewise, in US dollars.
        wait: sleeps between attempts.
        between: called a few times a second while a call is out; what it raises ends the call.
    """

    def __init__(
        self,
        config: LlmConfig,
        *,
        run_id: str = "",
        recorder: Recorder = ignore_call,
        env: Mapping[str, str] | None = None,
        tokens_spent: int = 0,
        cost_spent: float = 0.0,
        wait: Callable[[float], None] = time.sleep,
        between: Callable[[], None] = lambda: None,
    ) -> None:
        self.config = config
        self.budget = Budget(config, tokens_spent, cost_spent)
        self.mode: Mode = MODES[0]
        self._mode_works = False
        self._run_id = run_id
        self._recorder = recorder
        self._wait = wait
        self._between = between
        self._key = find_key(config, env)
        self._opened: OpenAI | None = None

    def __repr__(self) -> str:
        return f"LlmClient(model={self.config.model!r}, base_url={self.config.base_url!r})"

    @property
    def author(self) -> str:
        """How an agent that uses this model signs."""
        return f"llm:{self.config.model}"

    def ask(
        self,
        role: str,
        system: str,
        prompt: str,
        answer: type[Answer],
        *,
        check: Callable[[Answer], Sequence[str]] = lambda _answer: (),
        read_text: Callable[[str], Answer | None] = lambda _text: None,
    ) -> Answer:
        """A valid answer; what is wrong with an answer goes back to the model, three times.

        Args:
            role: `planner`, `slow`, `fast` or `critic`, for the record.
            system: who the model is and how it answers.
            prompt: what it is asked.
            answer: the type of the answer.
            check: problems of a well-formed answer, in words; none means it is accepted.
            read_text: makes an answer of a reply without JSON, or gives None.

        Raises:
            AgentError: no valid answer within the attempts.
            LlmError: the server cannot be reached, refuses, or answers garbage.
            BudgetSpent: before a call, when tokens or money are used up.
        """
        self._require_key()
        opening = [Message("system", system), Message("user", prompt)]
        conversation = opening
        problems: Sequence[str] = ()
        for _ in range(ANSWER_ATTEMPTS):
            reply = self._complete(role, conversation, answer)
            value, problems = _answer_in(reply.text, answer, read_text)
            if value is not None:
                problems = check(value)
                if not problems:
                    return value
            if reply.cut_off:
                problems = ("the reply was cut off at the limit of tokens: be shorter", *problems)
            _log.debug("%s: answer of %s refused: %s", self.author, role, problems)
            # Only the last attempt is shown again, so a conversation does not grow.
            conversation = [
                *opening,
                Message("assistant", reply.text),
                Message("user", _complaint(problems)),
            ]
        raise AgentError(
            f"{self.author} gave no valid answer as {role} in {ANSWER_ATTEMPTS} attempts; "
            f"the last one: {'; '.join(problems)}",
            "Try again, choose a stronger model (`llm.model`), or use `--agents rules`.",
        )

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
            failure = self._cleaned(explain(error, self.config, may_change_mode=False))
        raise self._error(failure)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _require_key(self) -> None:
        """OpenAI's own server never answers without a key; a local one may."""
        if self._key is None and self.config.base_url.startswith(OPENAI_URL):
            raise LlmError(
                f"there is no key in {self.config.api_key_env!r}, and {OPENAI_URL!r} wants one",
                "Set the variable, name a server of your own in `llm.base_url`, "
                "or use `--agents rules`.",
            )

    # --- one completion, in whichever mode the server takes ---------------------------------

    def _complete(
        self, role: str, conversation: Sequence[Message], answer: type[BaseModel]
    ) -> Reply:
        attempt = 0
        while True:
            self.budget.require()
            outcome = self._call(role, self.mode, conversation, answer)
            if isinstance(outcome, Reply):
                self._mode_works = True
                return outcome
            attempt += 1
            if outcome.remedy == "other_mode":
                self.mode = MODES[MODES.index(self.mode) + 1]
                attempt = 0
                _log.debug("%s: %s; next mode: %s", self.author, outcome.message, self.mode)
                continue
            allowed = {"retry": CALL_ATTEMPTS, "retry_once": 2}.get(outcome.remedy, 1)
            if attempt >= allowed:
                raise self._error(outcome)
            asked = outcome.wait_seconds
            self._wait(FIRST_WAIT_SECONDS * 2 ** (attempt - 1) if asked is None else asked)

    def _call(
        self, role: str, mode: Mode, conversation: Sequence[Message], answer: type[BaseModel]
    ) -> Reply | Failure:
        """One call of the server, recorded whatever comes of it."""
        messages = _with_schema(conversation, mode, answer)
        response_format = _response_format(mode, answer)
        began = time.monotonic()
        usage: Usage | None = None
        outcome: Reply | Failure
        create = partial(
            self._openai().chat.completions.create,
            model=self.config.model,
            messages=[{"role": m.role, "content": m.content} for m in messages],
            **response_format,
        )
        response, error = self._patiently(create)
        if error is None:
            outcome, usage = self._read(response)
        else:
            may_change = not self._mode_works and mode != MODES[-1]
            outcome = self._cleaned(explain(error, self.config, may_change_mode=may_change))
        self._record(role, mode, messages, outcome, usage, time.monotonic() - began)
        return outcome

    def _patiently(self, create: Callable[[], Any]) -> tuple[Any, Exception | None]:
        """The response, or what came instead; a person may end the wait at any time."""
        answered = threading.Event()
        came: list[tuple[Any, Exception | None]] = []

        def call() -> None:
            try:
                came.append((create(), None))
            except Exception as error:  # for garbage the package raises whatever its parts raise
                came.append((None, error))
            finally:
                answered.set()

        threading.Thread(target=call, name="model call", daemon=True).start()
        try:
            while not answered.wait(BETWEEN_SECONDS):
                self._between()
        except BaseException:
            self.close()
            raise
        return came[0]

    def _read(self, response: Any) -> tuple[Reply | Failure, Usage | None]:
        choices = getattr(response, "choices", None)
        first = choices[0] if isinstance(choices, list) and choices else None
        content = getattr(getattr(first, "message", None), "content", first)
        if first is None or not (content is None or isinstance(content, str)):
            return garbage(self.config, f"a {type(response).__name__} without a message"), None
        cut_off = getattr(first, "finish_reason", "") == "length"
        return Reply(_storable(content or ""), cut_off), _usage(getattr(response, "usage", None))

    def _record(
        self,
        role: str,
        mode: Mode,
        messages: Sequence[Message],
        outcome: Reply | Failure,
        usage: Usage | None,
        seconds: float,
    ) -> None:
        prompt = "\n\n".join(f"## {m.role}\n{m.content}" for m in messages)
        reply = outcome.text if isinstance(outcome, Reply) else ""
        counted = Usage()
        if isinstance(outcome, Reply):
            counted = self.budget.add(usage, len(prompt) + len(reply))
        self._recorder(
            LlmCallRecord(
                run_id=self._run_id,
                role=role,
                model=self.config.model,
                mode=mode,
                prompt=without_key(prompt, self._key),
                reply=without_key(reply, self._key),
                prompt_tokens=counted.prompt_tokens,
                completion_tokens=counted.completion_tokens,
                seconds=seconds,
                cost_usd=self.budget.cost_of(counted),
                error="" if isinstance(outcome, Reply) else outcome.message,
                time=datetime.now(UTC),
            )
        )

    # --- the openai package -----------------------------------------------------------------

    def _openai(self) -> OpenAI:
        if self._opened is None:
            # Most of a second to import: only who asks a model pays for it.
            from openai import OpenAI, Timeout

            seconds = self.config.timeout_seconds
            self._opened = OpenAI(
                base_url=self.config.base_url,
                api_key=self._key or NO_KEY,
                max_retries=0,
                timeout=Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            )
        return self._opened

    def _error(self, failure: Failure) -> LlmError:
        """Raised outside `except`, so that it is not chained to an error that holds the key."""
        return LlmError(failure.message, failure.hint)

    def _cleaned(self, failure: Failure) -> Failure:
        """The failure without the key, which a server may repeat in what it says."""
        return replace(failure, message=without_key(failure.message, self._key))


def _answer_in(
    text: str, answer: type[Answer], read_text: Callable[[str], Answer | None]
) -> tuple[Answer | None, tuple[str, ...]]:
    """The answer in a reply, or None and what is wrong with the reply."""
    try:
        return parse_answer(text, answer), ()
    except InvalidReply as error:
        return read_text(text), error.problems


def _usage(found: Any) -> Usage | None:
    """The server's count; None where it gave none, or none that makes sense."""
    prompt, written = (getattr(found, f"{name}_tokens", None) for name in ("prompt", "completion"))
    if not (isinstance(prompt, int) and isinstance(written, int)):
        return None
    return Usage(max(prompt, 0), max(written, 0))


def _storable(text: str) -> str:
    """Text without what UTF-8 or a database cannot hold."""
    return text.replace("\x00", "").encode(errors="replace").decode()


def _response_format(mode: Mode, answer: type[BaseModel]) -> dict[str, Any]:
    if mode == "json_schema":
        schema = {"name": answer.__name__, "strict": True, "schema": strict_schema(answer)}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    if mode == "json_object":
        return {"response_format": {"type": "json_object"}}
    return {}


def _with_schema(
    conversation: Sequence[Message], mode: Mode, answer: type[BaseModel]
) -> list[Message]:
    """The conversation, its first message telling the schema where the server is not told."""
    first, *others = conversation
    if mode == "json_schema":
        return [first, *others]
    schema = json.dumps(strict_schema(answer), indent=1)
    told = (
        f"{first.content}\n\nAnswer with one JSON object and nothing else. "
        f"Its JSON schema:\n{schema}"
    )
    return [Message(first.role, told), *others]


def _complaint(problems: Sequence[str]) -> str:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return (
        f"That answer cannot be used:\n{listed}\n\n"
        "Answer again in the same form, complete, with these points mended."
    )
