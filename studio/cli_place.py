"""Where a call of the command line works: paths, settings and the database they name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio.paths import Paths, find_paths
from studio.settings import Settings, load_settings

if TYPE_CHECKING:
    from skills_db.database import Database


@dataclass(frozen=True)
class Place:
    """Paths and settings of this call."""

    paths: Paths
    settings: Settings

    def database(self) -> Database:
        """The opened database; a context manager."""
        from skills_db.database import Database

        return Database.open(self.paths.database_url)


def here() -> Place:
    """Paths and settings from the environment and the configuration file.

    Raises:
        ConfigError: the configuration file or a variable of the environment is wrong.
    """
    paths = find_paths(os.environ)
    return Place(paths, load_settings(paths.config_file, os.environ))
