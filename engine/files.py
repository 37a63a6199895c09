"""Writing files so that a crash leaves the old or the new one, never half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from engine.errors import EngineError


def write_atomically(path: Path, data: bytes) -> None:
    """Write beside, flush to the disk, then rename over.

    Raises:
        EngineError: no room, no right, no folder; the old file is untouched.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise EngineError(
            f"cannot write {str(path)!r}: {error.strerror or error}",
            "Free some disk space or point RLGPT_STUDIO_HOME elsewhere, then resume the run.",
        ) from error
