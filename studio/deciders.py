"""Who decides, as the record of a run names them."""

from __future__ import annotations

import socket


def person() -> str:
    """Who decides, for the record: user and host."""
    import getpass

    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = "somebody"
    return f"{user}@{socket.gethostname()}"
