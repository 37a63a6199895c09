"""Where the studio keeps its files. Nothing is made here; only names are worked out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ConfigError

APP = "rlgpt-studio"
HOME_VARIABLE = "RLGPT_STUDIO_HOME"
DATABASE_VARIABLE = "RLGPT_STUDIO_DB"

_SQLITE = ("sqlite:///", "sqlite+pysqlite:///")


@dataclass(frozen=True, slots=True)
class Paths:
    """Home (runs and their checkpoints), database, configuration and log."""

    home: Path
    database_url: str
    config_file: Path
    log_file: Path


def find_paths(env: Mapping[str, str]) -> Paths:
    """Paths from the environment: `RLGPT_STUDIO_HOME` holds everything, `RLGPT_STUDIO_DB` wins.

    Without them the folders are those that the system has for data, configuration and logs.

    Raises:
        ConfigError: a variable names the home of a user who is not there.
    """
    own = env.get(HOME_VARIABLE, "").strip()
    if own:
        home = _expanded(own, HOME_VARIABLE).absolute()
        config, log = home / "config.toml", home / "studio.log"
    else:
        import platformdirs

        home = platformdirs.user_data_path(APP)
        config = platformdirs.user_config_path(APP) / "config.toml"
        log = platformdirs.user_log_path(APP) / "studio.log"
    url = env.get(DATABASE_VARIABLE, "").strip()
    database_url = _absolute(url) if url else f"sqlite:///{home / 'studio.db'}"
    return Paths(home, database_url, config, log)


def shown_url(url: str) -> str:
    """The database URL as it may be shown: without its password."""
    return re.sub(r"(://[^/:@]*:)[^@]*@", r"\1***@", url)


def _absolute(url: str) -> str:
    """The URL with a relative SQLite file made absolute: a run's process stands elsewhere."""
    for scheme in _SQLITE:
        name = url.removeprefix(scheme)
        if name != url and name and not name.startswith(("/", ":", "file:")):
            return f"{scheme}{_expanded(name, DATABASE_VARIABLE).absolute()}"
    return url


def _expanded(name: str, variable: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ConfigError(
            f"{variable} cannot be {name!r}: there is no such user, or no home of one.",
            f"Write the whole path, like {variable}=/home/me/studio.",
        ) from error
