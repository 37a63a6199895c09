"""Numbers as people type them: `100000`, `100 000`, `100,000`, `100k`, `1.5M`."""

from __future__ import annotations

_FACTORS = {"k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


class CountError(ValueError):
    """What was typed is no whole number."""


def parse_count(text: str, what: str) -> int:
    """The whole number a person typed.

    Args:
        what: what the number is, for the message: `the budget`.

    Raises:
        CountError: it is not one; the message says how to write it.
    """
    plain = text.strip().lower().replace(",", "").replace("_", "").replace(" ", "")
    factor = _FACTORS.get(plain[-1:], 1)
    try:
        value = float(plain[:-1]) * factor if factor > 1 else int(plain)
        if value != int(value):
            raise CountError(f"{what} {text!r} is not a whole number")
    except CountError:
        raise
    except (ValueError, OverflowError) as error:
        raise CountError(f"{what} {text!r} is no number: write 100000 or 100k") from error
    return int(value)
