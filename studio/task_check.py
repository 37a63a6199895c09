"""What can be known before there is a run: whether it can work on its task, with its agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.config import RunConfig


def check_task(config: RunConfig) -> None:
    """Refuse a task the world cannot check, and a table of prices that a run cannot count by.

    What a model may be asked is for it to say. The world is imported here, which takes a moment:
    call it in a thread from the studio.

    Raises:
        UnknownName: no such world, or a task it does not have; the hint has the nearest one.
        ConfigError: the person's own table of prices cannot be read; says where.
    """
    from engine.llm.prices import price_of
    from engine.worlds.registry import get_world
    from engine.worlds.tasks import find_task

    world = get_world(config.world)
    if config.agents == "rules":
        find_task(world, config.task)
    elif config.agents == "llm":
        price_of(config.llm)


def missing_key(llm: Mapping[str, Any]) -> str:
    """What is missing to reach the language model, as a sentence; empty when nothing is known to.

    Only OpenAI's own server is sure to want a key. Looks into the environment and the keyring,
    which may be slow: call it in a thread from the studio.

    Args:
        llm: the settings' section of that name.
    """
    from engine.config import LlmConfig
    from engine.errors import LlmError
    from engine.llm.keys import find_key

    config = LlmConfig.model_validate(dict(llm))
    if config.base_url != LlmConfig().base_url:
        return ""
    try:
        found = find_key(config)
    except LlmError as error:
        return f"{error.message}. {error.hint}"
    if found:
        return ""
    return (
        f"There is no key in {config.api_key_env}: set it before you start the studio, or write "
        "base_url and model of another server under [llm] of the settings."
    )
