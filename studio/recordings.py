"""Recorded calls of a language model as the agents of another run: found and checked beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import ConfigError

if TYPE_CHECKING:
    from engine.config import RunConfig
    from skills_db.journal import Journal

PREFIX = "replay:"
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
        from engine.llm.replay import calls_in_file

        calls_in_file(file)
        found = str(file.absolute())
    else:
        found = journal.run(source).id
        if not any(call.reply for call in journal.calls(found)):
            raise ConfigError(
                f"The run {found} cannot be played back: it has no answer of a language model.",
                "Name a run that asked a model, or a file of `runs export-calls`.",
            )
    return config.model_copy(update={"agents": f"{PREFIX}{found}"})
