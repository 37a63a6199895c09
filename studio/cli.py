"""The command `rlgpt-studio`: straight into the studio, or to one of the other commands.

Exit codes: 0 finished · 1 the studio cannot work here (database, folder, packages, no terminal) ·
2 bad usage, also an unknown world, task, run or skill and a broken configuration · 3 the run
failed · 4 it waits for an approval · 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from studio.cli_output import BROKEN, FINISHED, USAGE, tell

LATEST = "latest"
"""As a run's id: the newest run."""
_COMPLETION = "_RLGPT_STUDIO_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for argument in given:
        if not _is_text(argument):
            tell(f"Error: The argument {_readable(argument)} is not UTF-8 text.", "Write it anew.")
            return USAGE
    # The two ways into the screen come before Typer: nothing may delay the first paint.
    if _COMPLETION not in os.environ:
        if not given:
            return open_studio()
        if given[0] == "attach" and len(given) <= 2 and not given[-1].startswith("-"):
            return open_studio(attach=given[1] if len(given) == 2 else LATEST)
    from studio.cli_app import call

    return call(given)


def open_studio(attach: str | None = None) -> int:
    """Opens the screen, on a run when one is named; returns the exit code."""
    if not (sys.stdin and sys.stdout and sys.stdin.isatty() and sys.stdout.isatty()):
        tell(
            "The studio needs a terminal, and this is none.",
            'Without one: rlgpt-studio run "collect a diamond" --headless, or see --help.',
        )
        return BROKEN
    if os.environ.get("TERM", "") in ("", "dumb"):
        tell(
            "The studio cannot draw here: TERM is not set, or it is 'dumb'.",
            'Set TERM to the terminal\'s kind, or: rlgpt-studio run "collect a diamond" --headless',
        )
        return BROKEN
    from engine.errors import EngineError
    from studio.paths import find_paths
    from studio.settings import load_settings

    try:
        paths = find_paths(os.environ)
        settings = load_settings(paths.config_file, os.environ)
    except EngineError as error:
        tell(error.message, error.hint)
        return USAGE
    _log_to(str(paths.log_file))
    from studio.app import StudioApp

    app = StudioApp(paths, settings, attach=attach)
    left = app.run()
    if isinstance(left, str) and left:
        tell(left)
    code = app.return_code
    return FINISHED if code is None else int(code)


def _is_text(argument: str) -> bool:
    """False for bytes the shell gave that are no UTF-8: Python carries them as surrogates."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _readable(argument: str) -> str:
    import reprlib

    return reprlib.repr(os.fsencode(argument))[1:]


def _log_to(file: str) -> None:
    """Writes the log to a file of 1 MB (and one before it): the screen belongs to the studio."""
    import logging
    from logging.handlers import RotatingFileHandler

    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        handler: logging.Handler = RotatingFileHandler(
            file, maxBytes=1_000_000, backupCount=1, delay=True, encoding="utf-8"
        )
    except OSError:
        handler = logging.NullHandler()  # the database will say so, with the next step
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        handlers=[handler],
    )


if __name__ == "__main__":
    sys.exit(main())
