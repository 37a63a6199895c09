"""Whether the terminal takes more than ASCII, and colour; asked by every widget that draws."""

from __future__ import annotations

import sys

from textual.widget import Widget


def ascii_only(widget: Widget) -> bool:
    """True when the terminal has no UTF-8, or the app (its settings) asks for plain characters.

    The app says so by an attribute `ascii_only`.
    """
    if getattr(widget.app, "ascii_only", False):
        return True
    # Textual's own console writes to a null file and always claims UTF-8.
    encoding = getattr(sys.__stdout__, "encoding", None) or "utf-8"
    return not encoding.lower().startswith("utf")


def has_colour(widget: Widget) -> bool:
    """False under NO_COLOR."""
    return not widget.app.no_color
