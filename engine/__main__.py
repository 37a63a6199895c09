"""`python -m engine run RUN --home DIR`: the process of one run.

The database's URL comes by the environment (`RLGPT_STUDIO_DB`), since it may hold a password.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Parse the arguments and work on the run; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m engine", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="work on one run until it is over")
    run.add_argument("run_id")
    run.add_argument("--home", required=True, type=Path, help="folder of the studio's files")
    options = parser.parse_args(arguments)
    db_url = os.environ.get("RLGPT_STUDIO_DB")
    if not db_url:
        parser.error("RLGPT_STUDIO_DB is not set: it must hold the URL of the run's database")
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for chatty in ("httpx", "httpx2", "httpcore", "httpcore2", "openai"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    from engine.run.work import work
    from skills_db.errors import DatabaseError

    try:
        return work(options.run_id, db_url, options.home)
    except DatabaseError as error:
        logging.getLogger(__name__).error("%s %s", error.message, error.hint)
        return 3


if __name__ == "__main__":
    sys.exit(main())
