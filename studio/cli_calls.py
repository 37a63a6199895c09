"""The calls of a run's language model on the command line: shown, filtered, written to a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError, EngineError
from studio.cli_output import plain, tell
from studio.words import plural

if TYPE_CHECKING:
    from skills_db.journal import Journal
    from studio.cli_place import Place

ROLES = ("planner", "slow", "fast", "critic")


def calls_json(journal: Journal, run_id: str, role: str | None = None) -> list[dict[str, Any]]:
    """The calls of a run in order; of one role when it is given.

    Raises:
        ConfigError: there is no such role.
    """
    if role is not None and role not in ROLES:
        raise ConfigError(f"There is no role {role!r}.", f"There are: {', '.join(ROLES)}.")
    calls = [asdict(call) for call in journal.calls(run_id)]
    return [call for call in calls if role is None or call["role"] == role]


def calls_text(calls: Sequence[Mapping[str, Any]]) -> str:
    """The same for people: what each cost, then prompt and reply, and the sum at the end."""
    parts = []
    for number, call in enumerate(calls, 1):
        parts.append(
            f"call {number}, {call['role']}, {call['model']} ({call['mode']}): "
            f"{call['prompt_tokens']} + {call['completion_tokens']} tokens, "
            f"{call['seconds']:.1f} s, ${call['cost_usd']:.4f}"
            f"{' ' + call['error'] if call['error'] else ''}\n"
            f"--- prompt\n{call['prompt']}\n--- reply\n{call['reply']}"
        )
    tokens = sum(call["prompt_tokens"] + call["completion_tokens"] for call in calls)
    cost = sum(call["cost_usd"] for call in calls)
    parts.append(f"{plural(len(calls), 'call')}, {tokens:,} tokens, ${cost:.4f}")
    return "\n\n".join(parts)


def export_calls(place: Place, run_id: str, name: str) -> None:
    """`runs export-calls`: a file that `--agents replay:FILE` takes.

    Raises:
        ConfigError: the run has no calls, or the file's name does not say what it is.
        EngineError: the file cannot be written.
    """
    from engine.files import write_atomically

    file = Path(name).expanduser()
    if file.suffix not in (".json", ".jsonl"):
        raise ConfigError(
            f"The file {name!r} is neither .json nor .jsonl.", "Name it like calls.jsonl."
        )
    with place.database() as database:
        run = database.journal.run(run_id)
        calls = calls_json(database.journal, run.id)
    if not calls:
        raise ConfigError(
            f"The run {run.id} has no calls of a language model.", "Name a run that asked one."
        )
    if file.suffix == ".jsonl":
        text = "".join(json.dumps(call, default=str) + "\n" for call in calls)
    else:
        text = json.dumps({"run": run.id, "calls": calls}, indent=1, default=str) + "\n"
    try:
        write_atomically(file, text.encode())
    except EngineError as error:
        raise EngineError(error.message, "Name a file in a folder that can be written.") from error
    tell(f"{plural(len(calls), 'call')} of run {run.id} written to {plain(str(file))}")
    tell("", f"Play them back: rlgpt-studio run TASK --agents replay:{plain(str(file))}")
