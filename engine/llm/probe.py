"""What `doctor` reports of the language model server."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import LlmConfig
from engine.errors import LlmError
from engine.llm.client import LlmClient


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """Whether the server answers and has the model."""

    usable: bool
    detail: str
    hint: str = ""


def server_status(config: LlmConfig) -> ServerStatus:
    """Ask the server for its models; takes seconds at most and costs nothing."""
    try:
        client = LlmClient(config)
        try:
            models = client.models()
        finally:
            client.close()
    except LlmError as error:
        return ServerStatus(False, error.message, error.hint)
    if models and config.model not in models:
        shown = ", ".join(models[:8]) + (", ..." if len(models) > 8 else "")
        return ServerStatus(
            False,
            f"the server at {config.base_url!r} answers, but has no model {config.model!r}",
            f"Set `llm.model` to one of: {shown}",
        )
    return ServerStatus(True, f"{config.model} at {config.base_url}")
