"""Asking a language model for a typed answer: attempts, budget, a record of every call."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel

from engine.config import LlmConfig
from engine.errors import ContextFull, NoValidAnswer, ReplyEndless
from engine.llm.answers import Answer, InvalidReply, parse_answer
from engine.llm.budget import Budget, Usage
from engine.llm.failures import Failure
from engine.llm.keys import find_key, without_key
from engine.llm.messages import (
    MODES,
    Message,
    Mode,
    Question,
    Reply,
    Transport,
    bounded,
    complaint,
    with_schema,
)
from engine.llm.modes import ModeMemory
from engine.llm.picture import Picture
from engine.llm.server import Server
from skills_db.records import LlmCallRecord

Recorder = Callable[[LlmCallRecord], None]

ANSWER_ATTEMPTS = 4
"""The first answer and at most three more, each told what was wrong with the one before."""
CALL_ATTEMPTS = 4
CUT_OFF_SHOWN = 400
"""Characters of a reply that was cut off which the model is shown again. Weak models end in an
endless repetition, and given all of it they take it up where they left it."""
FIRST_WAIT_SECONDS = 0.5

_log = logging.getLogger(__name__)


class OnText(Protocol):
    """Follows what a model writes."""

    def __call__(self, role: str, subject: str, text: str, *, finished: bool) -> None:
        """So much of a reply is there, or all of it."""
        ...


def ignore_call(_call: LlmCallRecord) -> None:
    """A recorder that keeps nothing."""


def ignore_text(role: str, subject: str, text: str, *, finished: bool) -> None:
    """Follows nothing."""
    del role, subject, text, finished


_PROBLEMS_TOLD = 3


class LlmClient:
    """A language model, asked for typed answers.

    The key is found when the client is made and goes nowhere but to the server: answers, records,
    errors and logs have it blotted out.

    Args:
        config: server, model, limits and prices.
        run_id: run the calls belong to.
        recorder: is handed every call, the failed ones too.
        env: where the key's environment variable is looked up; the process's own by default.
        tokens_spent: of the budget, by earlier processes of the run.
        cost_spent: likewise, in US dollars.
        pictures_refused: whether the server refused a picture in an earlier process of the run.
        wait: sleeps between attempts.
        between: called a few times a second while a call is out; what it raises ends the call.
        on_text: hears what the model writes as it comes, from another thread.
        on_warning: hears once when most of the budget is spent, and once when the server refuses
            pictures.
        transport: who answers instead of the server.
        modes_file: where the mode of answer that each server takes is remembered.

    Raises:
        LlmError: the key cannot be one.
        ConfigError: the person's own table of prices cannot be read.
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
        pictures_refused: bool = False,
        wait: Callable[[float], None] = time.sleep,
        between: Callable[[], None] = lambda: None,
        on_text: OnText = ignore_text,
        on_warning: Callable[[str], None] = _log.warning,
        transport: Transport | None = None,
        modes_file: Path | None = None,
    ) -> None:
        self.config = config
        charged = transport is None or transport.is_charged
        self.budget = Budget(config, tokens_spent, cost_spent, on_warning, is_charged=charged)
        self._memory = ModeMemory(modes_file if transport is None else None)
        self.mode: Mode = self._memory.get(config.base_url, config.model) or MODES[0]
        self._mode_works = False
        self._mode_is_sure = True
        self._sends_pictures = config.images and not pictures_refused
        self._run_id = run_id
        self._recorder = recorder
        self._wait = wait
        self._on_text = on_text
        self._on_warning = on_warning
        self._key = None if transport is not None else find_key(config, env)
        self._transport = transport or Server(config, self._key, between)

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
        subject: str = "",
        picture: Picture | None = None,
        check: Callable[[Answer], Sequence[str]] = lambda _answer: (),
        read_text: Callable[[str], Answer | None] = lambda _text: None,
        attempts: int = ANSWER_ATTEMPTS,
        again_if_cut_off: bool = True,
    ) -> Answer:
        """A valid answer; what is wrong with one goes back to the model, up to three times.

        Args:
            role: `planner`, `slow`, `fast` or `critic`, for the record.
            system: who the model is and how it answers.
            prompt: what it is asked.
            answer: the type of the answer.
            subject: what it is about, for those who follow what is written.
            picture: goes with the prompt where `llm.images` is on and the server takes pictures.
            check: problems of a well-formed answer, in words; none means it is accepted.
            read_text: makes an answer of a reply without JSON, or gives None.
            attempts: answers that may be asked for, the first included.
            again_if_cut_off: whether to ask once more, for a shorter answer, when one came to the
                server's limit of tokens or of time; where not, that is no valid answer.

        Raises:
            NoValidAnswer: none within the attempts, or as many as the model's context takes.
            LlmError: the server cannot be reached, refuses, or answers garbage.
            BudgetSpent: before a call, when tokens or money are used up.
        """
        opening = [Message("system", system), Message("user", prompt, picture)]
        conversation = opening
        problems: Sequence[str] = ()
        asked = 0
        while asked < attempts:
            asked += 1
            try:
                reply = self._complete(role, subject, conversation, answer, again_if_cut_off)
            except ReplyEndless as error:
                if again_if_cut_off:
                    raise
                problems = (error.message,)
                break
            except ContextFull:
                if len(conversation) == len(opening):
                    raise
                problems = (*problems, "with it sent back the call was longer than the context")
                break
            value, problems = _answer_in(reply.text, answer, read_text)
            if value is not None:
                problems = bounded(check(value))
                if not problems:
                    return value
            if reply.cut_off:
                problems = ("the reply was cut off at the limit of tokens: be shorter", *problems)
            _log.debug("%s: answer of %s refused: %s", self.author, role, problems)
            if reply.cut_off and not again_if_cut_off:
                break
            # Only the last attempt is shown again, so a conversation does not grow.
            conversation = [
                *opening,
                Message("assistant", _shown_again(reply)),
                Message("user", complaint(problems)),
            ]
        raise NoValidAnswer(
            f"{self.author} gave no valid answer as {role} in {asked} "
            f"{'attempt' if asked == 1 else 'attempts'}; "
            f"the last one: {_first_of(problems)}",
            "Try again, choose a stronger model (`llm.model`), or use `--agents rules`.",
        )

    def models(self) -> tuple[str, ...]:
        """Names of the models the server has, asked once and quickly.

        Raises:
            LlmError: it cannot be reached or refuses.
        """
        return self._transport.models()

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._transport.close()

    # --- one completion, in whichever mode the server takes ---------------------------------

    def _complete(
        self,
        role: str,
        subject: str,
        conversation: Sequence[Message],
        answer: type[BaseModel],
        again_if_cut_off: bool,
    ) -> Reply:
        attempt = 0
        while True:
            self.budget.require()
            outcome = self._call(role, subject, conversation, answer)
            if isinstance(outcome, Reply):
                self._keep_mode()
                return outcome
            if outcome.remedy == "no_picture":
                self._refuse_pictures(outcome)
                continue
            attempt += 1
            if outcome.remedy == "other_mode":
                self._mode_is_sure = self._mode_is_sure and not outcome.may_pass
                self.mode = MODES[MODES.index(self.mode) + 1]
                attempt = 0
                _log.debug("%s: %s; next mode: %s", self.author, outcome.message, self.mode)
                continue
            allowed = {"retry": CALL_ATTEMPTS, "retry_once": 2}.get(outcome.remedy, 1)
            endless = outcome.error is ReplyEndless and not again_if_cut_off
            if attempt >= allowed or endless:
                raise outcome.error(outcome.message, outcome.hint)
            asked = outcome.wait_seconds
            self._wait(FIRST_WAIT_SECONDS * 2 ** (attempt - 1) if asked is None else asked)

    def _keep_mode(self) -> None:
        """The mode worked: it stays, and unless a passing fault led to it, the next run has it."""
        if not self._mode_works and self._mode_is_sure:
            self._memory.put(self.config.base_url, self.config.model, self.mode)
        self._mode_works = True

    def _refuse_pictures(self, refusal: Failure) -> None:
        """No picture is sent from here on; that is said once."""
        self._sends_pictures = False
        self._on_warning(
            f"{self.config.model!r}: {refusal.message}; this run goes on without pictures. Set "
            "`llm.images` to false, or choose a model that takes images"
        )

    def _call(
        self, role: str, subject: str, conversation: Sequence[Message], answer: type[BaseModel]
    ) -> Reply | Failure:
        """One call, recorded whatever comes of it."""
        if not self._sends_pictures:
            conversation = [replace(message, picture=None) for message in conversation]
        question = Question(
            role,
            self.mode,
            with_schema(conversation, self.mode, answer),
            answer,
            may_change_mode=not self._mode_works and self.mode != MODES[-1],
        )
        began = time.monotonic()
        outcome = self._transport.complete(
            question, lambda text: self._on_text(role, subject, text, finished=False)
        )
        # Before anything is made of it: an answer goes into events, approvals and skills.
        if isinstance(outcome, Reply):
            outcome = replace(outcome, text=without_key(outcome.text, self._key))
        else:
            outcome = replace(outcome, partial=without_key(outcome.partial, self._key))
        self._record(question, outcome, time.monotonic() - began)
        written = outcome.text if isinstance(outcome, Reply) else outcome.partial
        self._on_text(role, subject, written, finished=True)
        return outcome

    def _record(self, question: Question, outcome: Reply | Failure, seconds: float) -> None:
        prompt, reply, error = question.text, "", ""
        counted = Usage()
        if isinstance(outcome, Failure):
            reply, error = outcome.partial, outcome.message
        else:
            reply = outcome.text
            if self._transport.is_charged:
                counted = self.budget.add(outcome.usage, len(prompt) + len(reply))
        self._recorder(
            LlmCallRecord(
                run_id=self._run_id,
                role=question.role,
                model=self.config.model,
                mode=question.mode,
                prompt=without_key(prompt, self._key),
                reply=reply,
                prompt_tokens=counted.prompt_tokens,
                completion_tokens=counted.completion_tokens,
                seconds=seconds,
                cost_usd=self.budget.cost_of(counted),
                error=error,
                time=datetime.now(UTC),
            )
        )


def _shown_again(reply: Reply) -> str:
    """A refused reply as the model sees it; one without an end is not held up as an example."""
    if not reply.cut_off or len(reply.text) <= CUT_OFF_SHOWN:
        return reply.text
    return f"{reply.text[:CUT_OFF_SHOWN]} [...]"


def _answer_in(
    text: str, answer: type[Answer], read_text: Callable[[str], Answer | None]
) -> tuple[Answer | None, tuple[str, ...]]:
    """The answer in a reply, or None and what is wrong with the reply."""
    try:
        return parse_answer(text, answer), ()
    except InvalidReply as error:
        return read_text(text), error.problems


def _first_of(problems: Sequence[str]) -> str:
    """The first few problems; a weak model's list has no end, and the record has all of it."""
    told = "; ".join(problems[:_PROBLEMS_TOLD])
    more = len(problems) - _PROBLEMS_TOLD
    return f"{told}; and {more} more" if more > 0 else told
