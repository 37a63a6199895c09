"""Recorded calls of a model in place of the model: nothing is asked, nothing is paid."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import AgentError, ConfigError
from engine.llm.answers import answers_another
from engine.llm.failures import Failure
from engine.llm.messages import SCHEMA_TOLD, Question, Reply, Tell
from engine.llm.picture import without_pictures

HINT = "Write one: rlgpt-studio runs export-calls RUN FILE"
_NEEDED = ("role", "prompt", "reply")


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """What is needed of a call to give its answer again."""

    role: str
    prompt: str
    reply: str


class Replay:
    """Gives recorded replies: to the very same prompt its own, else the next of that role.

    A question of a kind that the recording has no answers to gets an empty reply, so that the agent
    does without: recordings of earlier versions still lead to their end.

    Args:
        calls: in the order in which they were made; those without a reply are left out.
        source: where they come from, for messages.
        used: calls of earlier processes of the run. Such a process may have died before it kept
            what came of the last ones: to the very same prompt their reply is given again.
        on_warning: hears once when a prompt is not the recorded one.
    """

    is_charged = False

    def __init__(
        self,
        calls: Iterable[RecordedCall],
        source: str,
        *,
        used: Iterable[RecordedCall] = (),
        on_warning: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._left = [call for call in calls if call.reply]
        # Once each: one that was given again after every death took the place of one call.
        self._used = list(dict.fromkeys(call for call in used if call.reply))
        self._source = source
        self._on_warning = on_warning
        self._warned = False
        for given in self._used:
            found = next((call for call in self._left if call.reply == given.reply), None)
            if found is not None:
                self._left.remove(found)

    def complete(self, question: Question, tell: Tell) -> Reply | Failure:
        """The recorded reply to a question.

        Raises:
            AgentError: nothing is left to answer with.
        """
        call = self._take(question)
        reply = "" if call is None else call.reply
        tell(reply)
        return Reply(reply)

    def models(self) -> tuple[str, ...]:
        """A recording has none to choose from."""
        return ()

    def close(self) -> None:
        """Nothing is open."""

    def _take(self, question: Question) -> RecordedCall | None:
        of_role = [call for call in self._left if call.role == question.role]
        exact = _exact(of_role, question.text)
        if exact is None:
            lost = _exact(self._used, question.text)
            if lost is not None:
                self._used.remove(lost)
                return lost
        if exact is None and not of_role:
            raise AgentError(
                f"the recording {self._source!r} has no more answers of the {question.role}",
                "Play back a run of the same task and settings, or use `--agents rules`.",
            )
        if exact is None and not self._warned:
            self._warned = True
            self._on_warning(
                f"a prompt of the {question.role} is not the recorded one of {self._source!r}: its "
                "next answer of that kind is taken; from here on the run may go another way"
            )
        fitting = (call for call in of_role if not answers_another(call.reply, question.answer))
        found = exact or next(fitting, None)
        if found is not None:
            self._left.remove(found)
        return found


def _exact(calls: Sequence[RecordedCall], prompt: str) -> RecordedCall | None:
    """The call with this very prompt, if any; first with its pictures, then without."""
    return _same(calls, prompt, _without_schema) or _same(calls, prompt, _bare)


def _same(
    calls: Iterable[RecordedCall], prompt: str, read: Callable[[str], str]
) -> RecordedCall | None:
    """The first call whose prompt reads as this one does."""
    asked = read(prompt)
    return next((call for call in calls if read(call.prompt) == asked), None)


def _bare(prompt: str) -> str:
    """The prompt as it is in every mode and without pictures: a recorded server may have refused
    them, or the one who plays it back has them off."""
    return without_pictures(_without_schema(prompt))


def _without_schema(prompt: str) -> str:
    """The prompt as it is in every mode of answer: what was recorded may have been another one."""
    before, told, after = prompt.partition(SCHEMA_TOLD)
    if not told:
        return prompt
    _schema, user, rest = after.partition("\n\n## user\n")
    return before + user + rest


def calls_in_file(file: Path) -> tuple[RecordedCall, ...]:
    """Recorded calls of a file: an object with `calls`, a list of calls, or one call a line.

    Raises:
        ConfigError: it cannot be read or holds no calls; says what is wrong.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"The recording {str(file)!r} cannot be read: {reason}.", HINT) from error
    try:
        calls = _calls_in(text)
    except ValueError as error:
        raise ConfigError(f"The recording {str(file)!r} is not JSON: {error}.", HINT) from error
    if not calls:
        raise ConfigError(f"The recording {str(file)!r} holds no calls.", HINT)
    for number, call in enumerate(calls, 1):
        missing = [name for name in _NEEDED if not isinstance(call.get(name), str)]
        if missing:
            raise ConfigError(
                f"Call {number} of the recording {str(file)!r} has no {missing[0]!r}.", HINT
            )
    return tuple(
        RecordedCall(call["role"], call["prompt"], call["reply"])
        for call in calls
        if not call.get("error")
    )


def _calls_in(text: str) -> list[Mapping[str, Any]]:
    try:
        data = json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        data = [json.loads(line) for line in lines]
    if isinstance(data, Mapping):
        data = data.get("calls", [data])
    if not isinstance(data, list):
        return []
    return [call if isinstance(call, Mapping) else {} for call in data]
