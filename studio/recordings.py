"""Recorded calls of a language model as the agents of another run: found and checked beforehand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError

if TYPE_CHECKING:
    from engine.config import RunConfig
    from skills_db.journal import Journal

PREFIX = "replay:"
_NEEDED = ("role", "prompt", "reply")
_ENDINGS = (".json", ".jsonl")


def with_recording(config: RunConfig, journal: Journal) -> RunConfig:
    """The configuration with its recording by full name; as it is where nothing is played back.

    The process of the run stands elsewhere, and `latest` will soon be another run: the source is
    written down as a whole path or id.

    Raises:
        ConfigError: the file cannot be read or holds no calls, or the run has none.
        NotFound: there is no such run.
    """
    if not config.agents.startswith(PREFIX):
        return config
    source = config.agents.removeprefix(PREFIX).strip()
    file = Path(source).expanduser()
    if file.suffix in _ENDINGS or file.is_file():
        check_file(file)
        found = str(file.absolute())
    else:
        found = journal.run(source).id
        if not any(call.reply for call in journal.calls(found)):
            raise ConfigError(
                f"The run {found} cannot be played back: it has no answer of a language model.",
                "Name a run that asked a model, or a file of `runs export-calls`.",
            )
    return config.model_copy(update={"agents": f"{PREFIX}{found}"})


def check_file(file: Path) -> None:
    """Refuse a file without recorded calls.

    Raises:
        ConfigError: says what is wrong with it.
    """
    hint = "Write one: rlgpt-studio runs export-calls RUN FILE"
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"The recording {str(file)!r} cannot be read: {reason}.", hint) from error
    try:
        calls = _calls_in(text)
    except ValueError as error:
        raise ConfigError(f"The recording {str(file)!r} is not JSON: {error}.", hint) from error
    if not calls:
        raise ConfigError(f"The recording {str(file)!r} holds no calls.", hint)
    for number, call in enumerate(calls, 1):
        missing = [name for name in _NEEDED if not isinstance(call.get(name), str)]
        if missing:
            raise ConfigError(
                f"Call {number} of the recording {str(file)!r} has no {missing[0]!r}.", hint
            )


def _calls_in(text: str) -> list[Mapping[str, Any]]:
    """An object with `calls`, a list of calls, or one call a line."""
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
