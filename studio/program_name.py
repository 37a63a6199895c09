"""What to type to start this program again, so that the lines which name a command work."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

NAME = "rlgpt-studio"


def program_name() -> str:
    """The program as a shell finds it from here: its name, or a path when it is not on `PATH`.

    The path is relative to the working folder when the program is below it, and quoted for a
    shell where it must be.
    """
    if shutil.which(NAME):
        return NAME
    started = Path(sys.argv[0]).absolute()
    beside = Path(sys.executable).absolute().with_name(NAME)
    if started.name != NAME and beside.is_file():
        started = beside  # started by `python -m` or from another program
    here = Path.cwd()
    if not started.is_relative_to(here):
        return shlex.quote(str(started))
    below = started.relative_to(here)
    text = str(below) if len(below.parts) > 1 else f"./{below}"
    return shlex.quote(text)
